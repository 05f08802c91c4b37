// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.processes;

import io.github.nettyucx.channel.Peers;
import io.github.nettyucx.faults.Child;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

/** A {@link Side} in a process of its own, which has the default lanes. */
final class RemoteSide implements AutoCloseable {

    private static final String DEFAULT_LANES = "-Dio.github.nettyucx.lanes=shm,rdma,socket";

    private final Child child;

    /**
     * @param launcher a command that runs the JVM, or nothing
     * @param flags    further ones of the JVM
     */
    RemoteSide(List<String> launcher, String... flags) throws IOException {
        List<String> all = new ArrayList<>(List.of(DEFAULT_LANES));
        all.addAll(List.of(flags));
        child = Child.start(launcher, all, SideMain.class);
    }

    RemoteSide(String... flags) throws IOException {
        this(List.of(), flags);
    }

    /** Has it listen on a port of 127.0.0.1. */
    InetSocketAddress listen(String... options) throws Exception {
        return Peers.loopback(Integer.parseInt(ask("listen loopback 0", options)));
    }

    /** See {@link Side#connect}. */
    String connect(InetSocketAddress server, String... options) throws Exception {
        return ask("connect" + at(server), options);
    }

    static String at(InetSocketAddress server) {
        return ' ' + server.getAddress().getHostAddress() + ' ' + server.getPort();
    }

    List<String> log() throws Exception {
        return ask("log").lines().toList();
    }

    String ask(String command, String... options) throws Exception {
        begin(command, options);
        return answer();
    }

    /** The first half of {@link #ask}. */
    void begin(String command, String... options) throws IOException {
        child.tell(options.length == 0 ? command : command + ' ' + String.join(" ", options));
    }

    /** The second half. */
    String answer() throws InterruptedException {
        return child.await("answer").replace(SideMain.LINE_END, '\n');
    }

    /** SIGKILL. */
    void kill() throws InterruptedException {
        child.kill();
        child.close();
    }

    @Override
    public void close() throws InterruptedException {
        child.close();
    }
}
