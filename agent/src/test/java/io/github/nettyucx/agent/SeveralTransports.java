// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent;

/** An application with several transports, one after the other in one JVM. */
public final class SeveralTransports {

    private SeveralTransports() {
    }

    /** @param arguments names of {@link ApplicationTransport} */
    public static void main(String[] arguments) throws Exception {
        for (String transport : arguments) {
            EchoApplication.main(new String[] {transport});
        }
    }
}
