// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.integration.agent;

import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.file.Path;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Reactor Netty makes its channels without a bootstrap. */
@Timeout(240)
class ReactorTest {

    /** What one run has told. */
    private record Run(String answers, String client, String server) {
    }

    private static Run run(List<Path> classPath, boolean serverHasIt, boolean clientHasIt) throws Exception {
        try (JavaProcess server = JavaProcess.startMain(serverHasIt, classPath, ReactorApplication.class, "server")) {
            String[] ports = server.awaitLine("listening ").split(" ");
            try (JavaProcess client = JavaProcess.startMain(clientHasIt, classPath, ReactorApplication.class, "client",
                    ports[0], ports[1])) {
                String answers = client.awaitLine("answers ");
                String told = client.awaitEnd();
                server.tell("");
                return new Run(answers, told, server.awaitEnd());
            }
        }
    }

    /** With epoll on Netty 4.1, and with NIO on Netty 4.2. */
    @ParameterizedTest
    @ValueSource(strings = {"reactor-netty", "reactor-netty-4.2"})
    void goesOverSharedMemory(String application) throws Exception {
        List<Path> classPath = JavaProcess.application(application);
        Run without = run(classPath, false, false);
        Run with = run(classPath, true, true);
        assertEquals(without.answers, with.answers);
        LaneReport.of(with.client).requireMemory("client");
        LaneReport.of(with.server).requireMemory("server");
        assertTrue(LaneReport.of(with.client).bytes(true) > 10_000_000, with.client);
        assertFalse((with.client + with.server).contains("left as it was"), with.client + with.server);
    }

    @ParameterizedTest
    @ValueSource(strings = {"reactor-netty", "reactor-netty-4.2"})
    void speaksToOneWithoutTheAgent(String application) throws Exception {
        List<Path> classPath = JavaProcess.application(application);
        Run plainServer = run(classPath, false, true);
        LaneReport client = LaneReport.of(plainServer.client);
        assertTrue(client.connections(false, "client") > 0 && client.connections(true, "client") == 0, plainServer.client);
        Run plainClient = run(classPath, true, false);
        LaneReport server = LaneReport.of(plainClient.server);
        assertTrue(server.connections(false, "server") > 0 && server.connections(true, "server") == 0, plainClient.server);
        assertEquals(plainServer.answers, plainClient.answers);
    }
}
