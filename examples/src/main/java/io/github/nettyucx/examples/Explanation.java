// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples;

import io.netty.channel.ChannelException;
import io.netty.util.internal.OutOfDirectMemoryError;
import java.io.IOException;
import java.net.UnknownHostException;

/** Puts a failure into one line of words for someone who has not read the code. */
public final class Explanation {
    private Explanation() {
    }

    public static String of(Throwable failure) {
        return switch (failure) {
            case ExampleFailure told -> told.getMessage();
            case UnknownHostException unknown -> "the host name " + unknown.getMessage() + " is not known";
            case OutOfDirectMemoryError memory -> "not enough direct memory (" + memory.getMessage()
                    + "); use fewer connections or smaller messages, or raise -XX:MaxDirectMemorySize";
            case OutOfMemoryError memory -> "not enough memory (" + memory.getMessage()
                    + "); use fewer connections or smaller messages, or raise -Xmx";
            default -> withCauses(failure);
        };
    }

    /** Each message once: wrappers often repeat what they wrap, and the innermost one tends to say the most. */
    private static String withCauses(Throwable failure) {
        var text = new StringBuilder();
        for (var at = failure; at != null && at != at.getCause(); at = at.getCause()) {
            var message = message(at);
            if (text.indexOf(message) < 0) {
                text.append(text.isEmpty() ? "" : ": ").append(message);
            }
        }
        return text.toString();
    }

    /** Of what is foreseen the message says all; of anything else the type may say more than the message. */
    private static String message(Throwable failure) {
        var foreseen = failure instanceof IOException || failure instanceof ChannelException
                || failure instanceof UnsatisfiedLinkError || failure instanceof ExampleFailure;
        var message = failure.getMessage();
        return foreseen && message != null && !message.isBlank() ? message : failure.toString();
    }
}
