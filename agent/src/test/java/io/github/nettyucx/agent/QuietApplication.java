// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent;

import io.netty.util.internal.logging.InternalLogger;
import io.netty.util.internal.logging.InternalLoggerFactory;

import java.lang.reflect.Proxy;

/** An application that has Netty log nowhere, and not by the JDK. */
public final class QuietApplication {

    private QuietApplication() {
    }

    public static void main(String[] arguments) throws Exception {
        InternalLogger nowhere = (InternalLogger) Proxy.newProxyInstance(QuietApplication.class.getClassLoader(),
                new Class<?>[] {InternalLogger.class},
                (proxy, method, values) -> method.getReturnType() == boolean.class ? false : null);
        InternalLoggerFactory.setDefaultFactory(new InternalLoggerFactory() {
            @Override
            protected InternalLogger newInstance(String name) {
                return nowhere;
            }
        });
        EchoApplication.main(new String[] {"NIO"});
    }
}
