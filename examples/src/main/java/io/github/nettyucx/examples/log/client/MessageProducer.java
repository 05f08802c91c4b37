// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.client;

import io.github.nettyucx.examples.log.protocol.Message;
import io.github.nettyucx.examples.log.storage.Records;
import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.Promise;

/** Sends records to the broker, which writes them. */
final class MessageProducer implements Producer {
    private final LogConnection connection;
    private final int partition;
    /** The two below are for the event loop. */
    private int underWay;
    private Promise<Void> idle;

    MessageProducer(LogConnection connection, int partition) {
        this.connection = connection;
        this.partition = partition;
    }

    @Override
    public Future<Long> send(ByteBuf records) {
        Promise<Long> promise = connection.newPromise();
        return connection.run(promise, () -> send(records, LogConnection.telling(promise), 0), records::release);
    }

    @Override
    public int maxLength() {
        return Records.MAX_LENGTH;
    }

    @Override
    public void send(ByteBuf records, Acknowledgement told, long id) {
        connection.requireLoop();
        var length = records.readableBytes();
        if (length > maxLength()) {
            // The broker takes no message that is much longer: it would end the connection.
            records.release();
            Gathering.refuse(length, maxLength(), told, id);
            return;
        }
        underWay++;
        var request = connection.handler().expect(new ConnectionHandler.Waiting() {
            @Override
            public void answered(Message.Answer answer) {
                LogConnection.tell(told, id, ((Message.Produced) answer).offset(), null);
                done();
            }

            @Override
            public void failed(Throwable cause) {
                LogConnection.tell(told, id, 0, cause);
                done();
            }
        });
        if (request == Message.UNASKED) {
            records.release();
        } else {
            connection.handler().send(new Message.Produce(request, partition, records));
        }
    }

    @Override
    public void send(byte[] payload, Acknowledgement told, long id) {
        connection.requireLoop();
        var length = Records.HEADER + (long) payload.length;
        if (length > maxLength()) {
            Gathering.refuse(length, maxLength(), told, id);
        } else {
            Producer.super.send(payload, told, id);
        }
    }

    private void done() {
        underWay--;
        if (underWay == 0 && idle != null) {
            idle.trySuccess(null);
        }
    }

    @Override
    public void close() throws InterruptedException {
        Promise<Void> promise = connection.newPromise();
        connection.run(promise, () -> {
            if (underWay == 0) {
                promise.trySuccess(null);
            } else if (idle == null) {
                idle = promise;
            } else {
                idle.addListener(ended -> promise.trySuccess(null));
            }
        });
        promise.await();
    }
}
