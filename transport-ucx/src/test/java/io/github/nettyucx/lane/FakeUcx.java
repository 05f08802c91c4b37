// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.lane;

import io.github.nettyucx.handshake.LaneKind;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * The workers of all processes, and what is on its way between them. The endpoints of two workers belong together by
 * their count on each side, as UCX does it for endpoints that are made from worker addresses.
 */
final class FakeUcx {

    static final int ADDRESS_LENGTH = 17;

    final Random random;
    private final Map<Long, FakeWorker> workers = new HashMap<>();
    private final Map<FakeEndpoint.Place, FakeEndpoint> endpoints = new HashMap<>();
    /** Have messages that have not arrived. */
    final List<FakeEndpoint> sending = new ArrayList<>();
    /** UCX will find out some time that their counterparts are gone. */
    final List<FakeEndpoint> doomed = new ArrayList<>();
    /** All there have ever been, and those that UCX has not completed. */
    private final List<FakeRequest> requests = new ArrayList<>();
    private final List<FakeRequest> running = new ArrayList<>();
    /** All there have been, as long as they are open. */
    final List<FakeEndpoint> open = new ArrayList<>();

    FakeUcx(Random random) {
        this.random = random;
    }

    long add(FakeWorker worker) {
        long uuid;
        do {
            uuid = random.nextLong();
        } while (workers.putIfAbsent(uuid, worker) != null);
        return uuid;
    }

    static byte[] address(LaneKind lane, long uuid) {
        byte[] address = new byte[ADDRESS_LENGTH];
        Unpooled.wrappedBuffer(address).clear().writeByte(lane.bit()).writeLong(uuid).writeLong(~uuid);
        return address;
    }

    /** The worker that has this address. */
    FakeWorker worker(byte[] address) throws IOException {
        ByteBuf in = Unpooled.wrappedBuffer(address);
        FakeWorker worker = address.length == ADDRESS_LENGTH ? workers.get(in.getLong(1)) : null;
        if (worker == null) {
            throw new IOException("Invalid address");
        }
        return worker;
    }

    FakeWorker worker(long uuid) {
        return workers.get(uuid);
    }

    void add(FakeEndpoint endpoint) {
        endpoints.put(endpoint.place(), endpoint);
        open.add(endpoint);
    }

    /** The endpoint at this place, open or not, or {@code null} if it was never made. */
    FakeEndpoint at(FakeEndpoint.Place place) {
        return endpoints.get(place);
    }

    /** UCX notices the end of an endpoint at its counterpart: soon, late or never. */
    void ended(FakeEndpoint endpoint) {
        open.remove(endpoint);
        FakeEndpoint other = endpoint.counterpart();
        if (other != null && other.isOpen() && !doomed.contains(other) && random.nextInt(3) > 0) {
            doomed.add(other);
        }
    }

    boolean messageArrives() {
        if (sending.isEmpty()) {
            return false;
        }
        int start = random.nextInt(sending.size());
        for (int i = 0; i < sending.size(); i++) {
            if (sending.get((start + i) % sending.size()).messageArrives()) {
                return true;
            }
        }
        return false;
    }

    // ------------------------------------------------------------------------------------------- in flight

    /** @return its handle: like an address, and nobody else's, ever */
    long add(FakeRequest request) {
        running.add(request);
        requests.add(request);
        return (long) requests.size() << 4;
    }

    FakeRequest request(long handle) {
        int index = (int) (handle >> 4) - 1;
        assertTrue((handle & 0xf) == 0 && index >= 0 && index < requests.size(), "no request");
        return requests.get(index);
    }

    boolean operationGoesOn() {
        int start = running.isEmpty() ? 0 : random.nextInt(running.size());
        for (int i = 0; i < running.size(); i++) {
            int index = (start + i) % running.size();
            if (running.get(index).advance()) {
                if (!running.get(index).isRunning()) {
                    running.remove(index);
                }
                return true;
            }
        }
        return false;
    }

    /** UCX has had time enough for what it can complete on this worker. */
    void settle(FakeWorker worker) {
        running.removeIf(request -> {
            while (request.worker == worker && request.isRunning() && request.advance()) {
                // It goes on.
            }
            return !request.isRunning();
        });
    }

    /** Nothing that still runs on this worker goes on, nor uses memory. */
    void end(FakeWorker worker) {
        running.removeIf(request -> {
            if (request.worker == worker) {
                request.end();
            }
            return request.worker == worker;
        });
    }

    // ------------------------------------------------------------------------------------------- failures

    boolean failureIsNoticed() {
        if (doomed.isEmpty()) {
            return false;
        }
        doomed.remove(random.nextInt(doomed.size())).fail();
        return true;
    }
}
