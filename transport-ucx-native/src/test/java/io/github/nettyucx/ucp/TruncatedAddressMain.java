// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;

/** Connects to each beginning of a worker's address, and prints what UCX has to say of them. */
final class TruncatedAddressMain {

    private TruncatedAddressMain() {
    }

    public static void main(String[] arguments) throws UcxException {
        for (Links links : Links.values()) {
            try (UcpContext context = links.context(true, UcpFeature.TAG);
                    UcpWorker worker = context.createWorker(new UcpWorkerParams());
                    UcpWorker peer = context.createWorker(new UcpWorkerParams())) {
                byte[] address = peer.queryAddress();
                Set<String> outcomes = new TreeSet<>();
                for (int length = 0; length < address.length; length++) {
                    outcomes.add(connect(worker, Arrays.copyOf(address, length)));
                }
                System.out.println(links.transport() + " truncated " + outcomes);
                System.out.println(links.transport() + " whole " + connect(worker, address));
            }
        }
    }

    private static String connect(UcpWorker worker, byte[] address) {
        try (UcpEndpoint endpoint = worker.connect(address, (e, status) -> { })) {
            return "CONNECTED " + endpoint.failure();
        } catch (UcxException e) {
            return UcsStatus.name(e.status());
        }
    }
}
