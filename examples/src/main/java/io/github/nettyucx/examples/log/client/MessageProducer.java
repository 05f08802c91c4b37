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
        Promise<Long> promise = connection.loop().newPromise();
        connection.run(() -> send(records, promise));
        return promise;
    }

    @Override
    public int maxLength() {
        return Records.MAX_LENGTH;
    }

    private void send(ByteBuf records, Promise<Long> promise) {
        underWay++;
        var request = connection.handler().expect(new ConnectionHandler.Waiting() {
            @Override
            public void answered(Message.Answer answer) {
                promise.trySuccess(((Message.Produced) answer).offset());
                done();
            }

            @Override
            public void failed(Throwable cause) {
                promise.tryFailure(cause);
                done();
            }
        });
        if (request == Message.UNASKED) {
            records.release();
        } else {
            connection.handler().send(new Message.Produce(request, partition, records));
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
        Promise<Void> promise = connection.loop().newPromise();
        connection.run(() -> {
            idle = promise;
            if (underWay == 0) {
                promise.trySuccess(null);
            }
        });
        promise.await();
    }
}
