// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.reactor;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.handler.codec.dns.DatagramDnsQuery;
import io.netty.handler.codec.dns.DatagramDnsQueryDecoder;
import io.netty.handler.codec.dns.DatagramDnsResponse;
import io.netty.handler.codec.dns.DatagramDnsResponseEncoder;
import io.netty.handler.codec.dns.DefaultDnsRawRecord;
import io.netty.handler.codec.dns.DnsQuestion;
import io.netty.handler.codec.dns.DnsRecordType;
import io.netty.handler.codec.dns.DnsResponseCode;
import io.netty.handler.codec.dns.DnsSection;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** A DNS server on this host that knows one name, by an IPv4 address. */
final class NameServer implements AutoCloseable {

    private final EventLoopGroup group = new NioEventLoopGroup(1);
    private final AtomicInteger questions = new AtomicInteger();
    private final Channel channel;

    NameServer(String name, InetAddress address) {
        channel = new Bootstrap().group(group).channel(NioDatagramChannel.class)
                .handler(new ChannelInitializer<Channel>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new DatagramDnsQueryDecoder(), new DatagramDnsResponseEncoder(),
                                new Answers(name, address));
                    }
                }).bind("127.0.0.1", 0).syncUninterruptibly().channel();
    }

    InetSocketAddress address() {
        return (InetSocketAddress) channel.localAddress();
    }

    int questions() {
        return questions.get();
    }

    private final class Answers extends SimpleChannelInboundHandler<DatagramDnsQuery> {

        private final String name;
        private final InetAddress address;

        Answers(String name, InetAddress address) {
            this.name = name;
            this.address = address;
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, DatagramDnsQuery query) {
            questions.incrementAndGet();
            DnsQuestion question = query.recordAt(DnsSection.QUESTION);
            DatagramDnsResponse response =
                    new DatagramDnsResponse(query.recipient(), query.sender(), query.id());
            response.addRecord(DnsSection.QUESTION, question);
            if (!question.name().equals(name)) {
                response.setCode(DnsResponseCode.NXDOMAIN);
            } else if (question.type().equals(DnsRecordType.A)) {
                response.addRecord(DnsSection.ANSWER, new DefaultDnsRawRecord(
                        name, DnsRecordType.A, 60, Unpooled.wrappedBuffer(address.getAddress())));
            }
            context.writeAndFlush(response);
        }
    }

    @Override
    public void close() {
        group.shutdownGracefully(0, 30, TimeUnit.SECONDS).syncUninterruptibly();
    }
}
