// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.socket.SocketChannel;

/** Has memory for an {@link OneSidedClient}, answers its notifications and requests, and works on its memory if told so. */
final class OneSidedServer extends ListeningServer {
    private OneSidedServer(OneSided.Plan plan) throws InterruptedException {
        super(plan.setting().transport().newEventLoopGroup(1), new ServerBootstrap()
                .channel(plan.setting().transport().serverSocketChannel())
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel connection) {
                        connection.pipeline().addLast(new Answering(plan));
                    }
                }));
    }

    static OneSidedServer start(OneSided.Plan plan) throws InterruptedException {
        return new OneSidedServer(plan);
    }

    private static final class Answering extends OneSidedPeer {
        private OneSidedOperations operations;
        /** Of a request that is not complete. */
        private int requested;

        Answering(OneSided.Plan plan) {
            super(plan);
        }

        @Override
        void opened(OneSidedOperations ready) {
            operations = ready;
            // The first answer tells the client that there will be others.
            operations.say(OneSidedOperations.ANSWER);
        }

        @Override
        void notified(long value) {
            if (value > 0) {
                operations.start(value, null, this::done);
            } else if (value == OneSidedOperations.ANSWER) {
                operations.answer();
            }
        }

        private void done(Throwable cause) {
            if (cause == null) {
                operations.say(OneSidedOperations.ANSWER);
            } else {
                failed(cause);
            }
        }

        @Override
        void received(ChannelHandlerContext context, int bytes) {
            requested += bytes;
            for (; requested >= OneSidedOperations.REQUEST; requested -= OneSidedOperations.REQUEST) {
                context.write(source.retainedDuplicate(), context.voidPromise());
            }
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) {
            context.flush();
        }

        @Override
        void failed(Throwable cause) {
            cause.printStackTrace();
        }
    }
}
