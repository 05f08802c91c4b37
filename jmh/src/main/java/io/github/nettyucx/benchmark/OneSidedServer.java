// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.memory.UcxRemoteMemory;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.socket.SocketChannel;

/** Has memory for an {@link OneSidedClient}, and answers each put with a notification by another one. */
final class OneSidedServer extends ListeningServer {
    private OneSidedServer(OneSided.Plan plan) throws InterruptedException {
        super(plan.setting().transport().newEventLoopGroup(1), new ServerBootstrap()
                .channel(plan.setting().transport().serverSocketChannel())
                .childHandler(new ChannelInitializer<SocketChannel>() {
                    @Override
                    protected void initChannel(SocketChannel connection) {
                        connection.pipeline().addLast(new Answering(plan.scenario().size()));
                    }
                }));
    }

    static OneSidedServer start(OneSided.Plan plan) throws InterruptedException {
        return new OneSidedServer(plan);
    }

    private static final class Answering extends OneSidedPeer {
        private UcxRemoteMemory remote;

        Answering(int size) {
            super(size);
        }

        @Override
        void opened(UcxRemoteMemory opened) {
            remote = opened;
            // The first answer tells the client that there will be others.
            notified();
        }

        @Override
        void notified() {
            remote.putAndNotify(0, source.retain(), 0, null, 0);
        }

        @Override
        void failed(Throwable cause) {
            cause.printStackTrace();
        }
    }
}
