// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import io.github.nettyucx.library.UcxLibrary;

/** Has UCX read settings with a decimal point: one that is set, and those of the environment. */
final class DecimalPointMain {

    private DecimalPointMain() {
    }

    public static void main(String[] arguments) throws UcxException {
        UcxLibrary.load();
        try (UcpConfig config = UcpConfig.read(null).modify("TLS", "posix,sysv,tcp,self").modify("BCOPY_BW", "1.5GBps");
                UcpContext context = UcpContext.create(
                        new UcpContextParams().features(UcpFeature.TAG).config(config));
                UcpWorker worker = context.createWorker(new UcpWorkerParams())) {
            System.out.println("address of " + (worker.queryAddress().length > 0));
        }
        System.out.println("all read");
    }
}
