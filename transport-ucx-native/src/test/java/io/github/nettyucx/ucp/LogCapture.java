// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;

/** What the binding logs in the meantime, instead of it being printed. */
final class LogCapture extends Handler implements AutoCloseable {

    private final Logger logger = Logger.getLogger(LogCapture.class.getPackageName());
    private final List<String> messages = new CopyOnWriteArrayList<>();

    LogCapture() {
        logger.setUseParentHandlers(false);
        logger.addHandler(this);
    }

    List<String> messages() {
        return List.copyOf(messages);
    }

    @Override
    public void publish(LogRecord record) {
        messages.add(record.getMessage() + ": " + record.getThrown().getMessage());
    }

    @Override
    public void flush() {
    }

    @Override
    public void close() {
        logger.removeHandler(this);
        logger.setUseParentHandlers(true);
    }
}
