// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.processes;

import io.github.nettyucx.channel.Peers;
import io.github.nettyucx.channel.TestLoops;
import io.github.nettyucx.channel.Ucx;
import io.github.nettyucx.channel.UcxMetrics;
import io.github.nettyucx.faults.Child;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Arrays;

/** A process that is another {@link Side}, and does what it is told. */
final class SideMain {

    /** Stands for the ends of lines in what is said. */
    static final char LINE_END = '\u0001';

    private final TransportLog log = new TransportLog();
    private Side side;

    private SideMain() {
    }

    public static void main(String[] arguments) throws IOException {
        SideMain main = new SideMain();
        for (;;) {
            String command = Child.nextCommand();
            String answer;
            try {
                answer = main.answer(command.split(" "));
            } catch (Throwable t) {
                answer = Side.failed(t);
            }
            Child.say("answer " + answer.replace('\n', LINE_END));
        }
    }

    private Side side() {
        if (side == null) {
            side = new Side();
        }
        return side;
    }

    private String answer(String[] words) throws Exception {
        return switch (words[0]) {
            case "listen" -> String.valueOf(
                    side().listen(address(words), Arrays.copyOfRange(words, 3, words.length)).getPort());
            case "connect" -> side().connect(address(words), Arrays.copyOfRange(words, 3, words.length));
            case "stay" -> side().stay(address(words), Arrays.copyOfRange(words, 3, words.length));
            case "meet" -> side().meet(address(words), Integer.parseInt(words[3]),
                    Arrays.copyOfRange(words, 4, words.length)).toString();
            case "log" -> String.join("\n", log.lines());
            case "ports" -> ListeningPorts.own().toString();
            case "ucx" -> Ucx.isAvailable() ? Ucx.version() : "none: " + Ucx.unavailabilityCause();
            case "metrics" -> {
                UcxMetrics metrics = TestLoops.driver(TestLoops.first(side().group())).metrics();
                yield metrics.workers() + " workers, " + metrics.endpoints() + " endpoints";
            }
            default -> throw new IllegalArgumentException(words[0]);
        };
    }

    private static InetSocketAddress address(String[] words) {
        return words[1].equals("loopback") ? Peers.loopback(Integer.parseInt(words[2]))
                : new InetSocketAddress(InetAddress.ofLiteral(words[1]), Integer.parseInt(words[2]));
    }
}
