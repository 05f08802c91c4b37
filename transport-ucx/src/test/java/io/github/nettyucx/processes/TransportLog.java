// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.processes;

import io.netty.util.internal.logging.InternalLoggerFactory;
import io.netty.util.internal.logging.JdkLoggerFactory;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** What the transport's connections log in this process. To be made before anything of Netty is used. */
final class TransportLog extends Handler {

    private final List<String> lines = new CopyOnWriteArrayList<>();
    /** Kept, since the logging keeps it weakly. */
    private final Logger connections = Logger.getLogger("io.github.nettyucx.channel.UcxSocketChannel");

    TransportLog() {
        InternalLoggerFactory.setDefaultFactory(JdkLoggerFactory.INSTANCE);
        setLevel(Level.ALL);
        connections.setLevel(Level.ALL);
        connections.addHandler(this);
    }

    /** So far: each begins with {@code INFO} or {@code DEBUG}. */
    List<String> lines() {
        return List.copyOf(lines);
    }

    @Override
    public void publish(LogRecord record) {
        String level = record.getLevel().intValue() < Level.INFO.intValue() ? "DEBUG" : record.getLevel().getName();
        lines.add(level + ' ' + record.getMessage());
    }

    @Override
    public void flush() {
        // Nothing waits.
    }

    @Override
    public void close() {
        connections.removeHandler(this);
    }
}
