// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.wire;

import io.github.nettyucx.ucp.UcsStatus;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.util.List;

import static io.github.nettyucx.wire.ScriptedPort.PENDING;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;

import static org.junit.jupiter.api.Assertions.assertTrue;

class HandshakeTest extends ConnectionFixture {

    @Test
    void saysHelloWhenTheEndpointIsConnectedAndNotBefore() {
        port.answer(PENDING);
        connection.start(port);
        port.poll();
        assertNull(port.helloSent());

        port.completeAll();
        port.poll();
        ByteBuf expected = Unpooled.buffer(Hello.LENGTH);
        new Hello(Hello.VERSION, UCX_1_22_0, ScriptedPort.CHANNEL_ID, WINDOW, MAX_MESSAGE).encode(expected);
        assertArrayEquals(expected.array(), port.helloSent());
        assertFalse(connection.isOpen());
    }

    @Test
    void isOpenWhenThePeersHelloIsIn() {
        connection.start(port);
        port.poll();
        port.poll();
        assertEquals(List.of(), told);
        port.helloArrives(hello(Hello.VERSION, UCX_1_22_0));
        port.poll();
        assertEquals(List.of("opened"), told);
        assertEquals(MAX_MESSAGE, connection.outbound().room());
        assertFalse(port.isTracked(), "nothing is in flight");
    }

    @Test
    void isNotOpenBeforeItsOwnHelloIsOut() {
        connection.start(port);
        port.answer(PENDING);
        port.poll();
        port.helloArrives(hello(Hello.VERSION, UCX_1_22_0));
        port.poll();
        assertFalse(connection.isOpen());
        port.completeAll();
        port.poll();
        assertTrue(connection.isOpen());
    }

    @Test
    void takesMessagesThatOvertakeTheHello() {
        connection.start(port);
        port.poll();
        port.deliver(Tag.DATA, 0, text("early"));
        port.deliver(Tag.FIN, Tag.FIN_HALF);
        assertEquals(0, port.sent.size(), "where to is not known yet");
        port.helloArrives(hello(Hello.VERSION, UCX_1_22_0));
        port.poll();
        assertEquals(Tag.of(PEER, Tag.FIN_ACK, 0), port.sent.getLast().tag());
        assertEquals("early", read(10));
        assertTrue(connection.inbound().isAtEnd());
    }

    @Test
    void failsWhenThereIsNoMemoryForTheHandshake() {
        connection.start(port);
        noMemory = true;
        // An Error that came out of here would end the event loop, and with it everybody's connections.
        port.poll();
        assertFailed(IOException.class, "no memory for the handshake: as the test wants it");
    }

    @ParameterizedTest
    @CsvSource({
        "-24, java.net.ConnectException, Connection refused",
        "-23, java.net.ConnectException, Connection rejected by the peer's transport",
        "-6, java.net.NoRouteToHostException, Host unreachable: no UCX transport reaches it (UNREACHABLE)",
        "-4, java.net.ConnectException, Connection failed: NO_MEMORY"
    })
    void tellsWhyItCannotConnect(int status, Class<? extends IOException> type, String message) {
        port.answer(PENDING);
        connection.start(port);
        connection.endpointFailed(status);
        assertFailed(type, message);
    }

    @Test
    void tellsThatTheFlushHasFailedWhenTheEndpointHasNot() {
        port.answer(UcsStatus.ERR_UNREACHABLE);
        connection.start(port);
        port.poll();
        assertFailed(NoRouteToHostException.class, "Host unreachable: no UCX transport reaches it (UNREACHABLE)");
    }

    @Test
    void waitsForTheEndpointsReasonWhenTheFlushFailsBecauseOfIt() {
        port.answer(UcsStatus.ERR_CANCELED);
        port.failing();
        connection.start(port);
        port.poll();
        assertNull(failure);
        connection.endpointFailed(UcsStatus.ERR_NOT_CONNECTED);
        assertFailed(ConnectException.class, "Connection refused");
    }

    @Test
    void failsWhenTheEndpointDoesDuringTheHandshake() {
        connection.start(port);
        port.poll();
        connection.endpointFailed(UcsStatus.ERR_CONNECTION_RESET);
        assertFailed(ConnectException.class, "Connection closed by the peer during the handshake: CONNECTION_RESET");
    }

    @Test
    void failsWhenTheHelloCannotBeSent() {
        connection.start(port);
        port.answer(UcsStatus.ERR_IO_ERROR);
        port.poll();
        port.poll();
        assertFailed(ConnectException.class, "Connection closed by the peer during the handshake: IO_ERROR");
    }

    @Test
    void refusesAnotherVersion() {
        connection.start(port);
        port.poll();
        port.helloArrives(hello(2, UCX_1_22_0));
        port.poll();
        assertFailed(ProtocolException.class, "the peer speaks version 2 of the Netty UCX protocol, this side "
                + "version 1: use the same release of the transport on both sides");
    }

    @Test
    void refusesAnotherUcx() {
        connection.start(port);
        port.poll();
        port.helloArrives(hello(Hello.VERSION, 1 << 24 | 16 << 16));
        port.poll();
        assertFailed(ProtocolException.class, "the peer runs UCX 1.16.0, this side UCX 1.22.0: releases of UCX do not "
                + "interoperate reliably; use the same one on both sides");
    }

    @Test
    void refusesJunk() {
        connection.start(port);
        port.poll();
        port.helloArrives(new byte[Hello.LENGTH]);
        port.poll();
        assertInstanceOf(ProtocolException.class, failure);
        assertTrue(failure.getMessage().startsWith("the peer's first bytes are 0x0, not the magic number"),
                failure.getMessage());
    }
}
