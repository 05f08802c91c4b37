// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.nettyucx.examples.echo.Echo;
import io.github.nettyucx.examples.grpc.GrpcCalls;
import io.github.nettyucx.examples.http.Http;
import io.github.nettyucx.examples.info.Info;
import io.github.nettyucx.examples.log.RecordLog;
import io.github.nettyucx.examples.pingpong.PingPong;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Whatever is wrong with the arguments: exit code 2, and a message that says so and points to the help. */
class WrongArgumentsTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "--size 0                                  | '--size': '0' is out of range. Expected 1 byte to 1g",
        "--size big                                | '--size': 'big' is not a size",
        "--size                                    | Missing required parameter for option '--size'",
        "--connections 0                           | '--connections': '0' will not do. Expected a whole number from 1",
        "--connections many                        | '--connections': 'many' will not do",
        "--iterations -5                           | '--iterations': '-5' will not do",
        "--warmup x                                | '--warmup': 'x' will not do. Expected a whole number from 0",
        "--threads 0                               | '--threads': '0' will not do",
        "--transport quic                          | 'quic' is not one of its values. Expected ucx, nio, epoll, io_uring.",
        "--transport nio,,epoll                    | '' is not one of its values",
        "--lane ib                                 | 'ib' is not one of its values. Expected auto, shm, rdma, tcp, socket.",
        "--wait long                               | 'long' is not one of its values. Expected spin, adaptive, park.",
        "--transport nio --lane tcp                | --lane is about ucx, which is not among the transports",
        "--transport nio,epoll --wait spin         | --wait is about ucx, which is not among the transports",
        "--server 127.0.0.1                        | '--server': '127.0.0.1': there is no port. Expected HOST:PORT",
        "--connect ::1:7                           | '--connect': '::1:7': an IPv6 address needs brackets",
        "--connect 127.0.0.1:0                     | names no port",
        "--server h:1 --connect h:1                | --server and --connect exclude each other",
        "--server h:1 --size 16                    | --size means nothing to a server",
        "--server h:1 --json out                   | --json means nothing to a server",
        "--server h:1 --transport nio,epoll        | --transport has more than one value",
        "--connect h:1 --lane shm,tcp              | --lane has more than one value",
        "--json /nowhere/at/all.json               | --json /nowhere/at/all.json cannot be written",
        "--json /                                  | --json / cannot be written",
        "--sise 16                                 | Possible solutions: --size",
        "fast                                      | Unmatched argument at index 0: 'fast'"})
    void ofPingPong(String arguments, String message) {
        assertRejected("ping-pong", new PingPong(), arguments, message);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "--transport ucx,nio                | 'ucx,nio' is not one of its values",
        "--transport nio --lane shm         | --lane is about ucx, and the transport is nio",
        "--transport nio --wait park        | --wait is about ucx, and the transport is nio",
        "--server h:1 --connect h:1         | --server and --connect exclude each other",
        "--connect h:0                      | names no port",
        "--connect h                        | there is no port",
        "--size 16                          | Unknown option"})
    void ofEcho(String arguments, String message) {
        assertRejected("echo", new Echo(), arguments, message);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "--transport nio                    | 'nio' is not one of its values. Expected ucx, default.",
        "--security ssl                     | 'ssl' is not one of its values. Expected plaintext, tls.",
        "--transport default --lane shm     | --lane is about ucx, which is not among the transports",
        "--server h:1 --connect h:1         | --server and --connect exclude each other",
        "--server h:1 --calls 5             | --calls means nothing to a server",
        "--server h:1 --cert c.pem          | --cert and --key belong together",
        "--server h:1 --transport ucx,default | --transport has more than one value",
        "--connect h:1 --security tls       | --security is for a run without --server and --connect",
        "--connect h:1 --trust /nowhere.pem | --trust /nowhere.pem cannot be read",
        "--trust /nowhere.pem               | --trust means something only with --connect",
        "--cert /a.pem --key /b.pem         | --cert and --key mean something only with --server",
        "--connect h:0                      | names no port",
        "--calls 0                          | '0' will not do. Expected a whole number from 1",
        "--size 0                           | '0' is out of range"})
    void ofGrpc(String arguments, String message) {
        assertRejected("grpc", new GrpcCalls(), arguments, message);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "--http 3                           | '3' is not one of its values. Expected 1.1, 2.",
        "--security ssl                     | 'ssl' is not one of its values. Expected plaintext, tls.",
        "--server h:1 --connect h:1         | --server and --connect exclude each other",
        "--server h:1 http://h:1/a          | a URL says where to connect to",
        "--server h:1 --cert c.pem          | --cert and --key belong together",
        "--cert /a.pem --key /b.pem         | --cert and --key mean something only with --server",
        "--server h:1 --transport ucx,nio   | --transport has more than one value",
        "--server h:1 --http 2              | --http means nothing to a server",
        "--server h:1 --rounds 2            | --rounds is for the client that measures",
        "--server h:1 --files /nowhere      | --files /nowhere is no directory",
        "--server h:1 --files / --size 5    | --size is of the file that is made for --connect",
        "--files /                          | --files means something only with --server",
        "--connect h:0                      | names no port",
        "--connect h:1 --security tls       | --security is for a run on this host alone",
        "--connect h:1 --trust /nowhere.pem | --trust /nowhere.pem cannot be read",
        "--trust /nowhere.pem               | --trust means something only with --connect or a URL",
        "--range 0-5                        | --range means something only with a URL",
        "--http 1.1,2 http://h:1/           | --http has more than one value",
        "ftp://h:1/a                        | 'ftp://h:1/a' will not do. Expected http://HOST:PORT/PATH",
        "http://h/a                         | 'http://h/a' will not do",
        "https://h:1/a                      | 'https://h:1/a' needs --trust",
        "--transport nio --lane tcp         | --lane is about ucx, which is not among the transports"})
    void ofHttp(String arguments, String message) {
        assertRejected("http", new Http(), arguments, message);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "--lane ib   | 'ib' is not one of its values. Expected auto, shm, rdma, tcp, socket.",
        "devices     | Unmatched argument at index 0: 'devices'"})
    void ofInfo(String arguments, String message) {
        assertRejected("info", new Info(), arguments, message);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "--way copy                         | 'copy' is not one of its values. Expected message, exclusive, shared.",
        "--server h:1                       | --server needs --directory",
        "--server h:1 --connect h:1         | --server and --connect exclude each other",
        "--server h:1 --directory / --size 8 | --size means nothing to a server",
        "--connect h:1                      | --connect needs either --produce or --consume",
        "--connect h:1 --produce shared --consume shared | --connect needs either --produce or --consume",
        "--connect h:1 --produce shared --force | --force means nothing to a client",
        "--connect h:1 --produce shared --size 8,9 | --size has more than one value",
        "--connect h:0 --produce shared     | names no port",
        "--produce shared                   | --produce means something only with --connect",
        "--follower h:1                     | --follower means something only with --server",
        "--server h:1 --directory / --follower h:0 | names no port",
        "--server h:1 --directory / --follower h:1 --min-followers 2 | no more than are given with --follower, or with --nodes beside this one: 1.",
        "--server h:1 --directory / --cluster c | --cluster and --nodes belong together",
        "--cluster c --nodes h:1/2,i:1/2,j:1/2 | --cluster means something only with --server",
        "--server h:1 --directory / --cluster c --nodes h:1/2,i:1/2 | --nodes has 2 brokers. Expected 3 or more",
        "--server h:1 --directory / --cluster c --nodes h:1,i:1/2,j:1/2 | there is no port of a Raft server. Expected HOST:PORT/RAFTPORT",
        "--server h:1 --directory / --cluster c --nodes h:1/0,i:1/2,j:1/2 | is not a number from 1 to 65535",
        "--server h:1 --directory / --cluster c --nodes h:1/1,i:1/2,j:1/2 | cannot have the same port",
        "--server h:1 --directory / --cluster c --nodes h:0/1,i:1/2,j:1/2 | the broker's port is 0",
        "--server h:1 --directory / --cluster c --nodes g:1/2,i:1/2,j:1/2 | has no broker at h:1 (expected: the address of one of g:1/2",
        "--server h:1 --directory / --cluster c --nodes h:1/2,h:1/3,j:1/2 | a broker is named twice",
        "--server h:1 --directory / --cluster c/d --nodes h:1/2,i:1/2,j:1/2 | the cluster's name is 'c/d' (expected: 1 to 100 letters",
        "--server h:1 --directory / --cluster c --nodes h:1/2,i:1/2,j:1/2 --follower k:1 | --cluster and --follower exclude each other",
        "--server h:1 --directory / --cluster c --nodes h:1/2,i:1/2,j:1/2 --min-followers 3 | --min-followers 3 will not do",
        "--fetch shared                     | --fetch means something only with --connect",
        "--connect h:1 --fetch shared --consume shared | --connect needs either --produce or --consume",
        "--connect h:1 --fetch shared --batch 2 | --batch with --connect means something only with --produce",
        "--connect h:1 --produce shared --batch 2,3 | --batch with --connect means something only with --produce",
        "--connect h:1 --produce shared --batch 9 --size 128k | --batch 9 of 128 KiB will not do",
        "--connect h:1 --produce shared --table batch | --table is about what is compared on this host",
        "--server h:1 --directory / --replicas 2 | --replicas is about what is compared on this host",
        "--server h:1 --directory / --batch 2 | --batch means nothing to a server",
        "--demo --json /tmp/f               | --json is about what is compared on this host",
        "--table copy                       | 'copy' is not one of its values. Expected produce, batch, replicas, consume.",
        "--table produce --batch 2          | --batch is about the table batch, which is not among those given",
        "--table produce --replicas 2       | --replicas is about the table replicas, which is not among those given",
        "--replicas 6                       | '6' will not do. Expected a whole number from 1 to 5.",
        "--demo --server h:1 --directory /  | --demo and --server exclude each other",
        "--demo --size 8                    | --demo and --size exclude each other",
        "--server h:1 --directory / --patience 3 | --patience means something only with --follower or --cluster",
        "--directory /nowhere               | --directory /nowhere is no directory",
        "--size 7                           | --size 7 will not do. Expected 8",
        "--size 1m                          | --size 1048576 will not do",
        "--size 1k --segment 1k             | --size 1024 will not do",
        "--transport nio --lane tcp         | --lane is about ucx, which is not among the transports",
        "--seconds 0                        | '0' will not do. Expected a whole number from 1"})
    void ofLog(String arguments, String message) {
        assertRejected("log", new RecordLog(), arguments, message);
    }

    private static void assertRejected(String name, Callable<Integer> command, String arguments, String message) {
        var standard = System.err;
        var captured = new ByteArrayOutputStream();
        int exitCode;
        try {
            System.setErr(new PrintStream(captured, true, StandardCharsets.UTF_8));
            exitCode = ExampleRunner.run(name, command, arguments.strip().split(" "));
        } finally {
            System.setErr(standard);
        }
        var err = captured.toString(StandardCharsets.UTF_8);
        assertTrue(err.startsWith(name + ": "), err);
        assertTrue(err.contains(message), err);
        assertTrue(err.endsWith("See './run-example.sh " + name + " --help'.\n"), err);
        assertFalse(err.contains("\tat "), err);
        assertEquals(2, exitCode);
    }
}
