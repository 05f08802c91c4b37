// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent.takeover;

import io.github.nettyucx.agent.weave.Report;
import io.github.nettyucx.channel.ConnectionObserver;
import io.github.nettyucx.channel.UcxSocketChannel;

import java.net.InetSocketAddress;
import java.util.List;

/** Tells the report, which knows no Netty, of one copy's connections. */
final class Reporting implements ConnectionObserver, Report.Delivery {

    private final Report report;
    private final String netty;

    Reporting(Report report, String netty) {
        this.report = report;
        this.netty = netty;
        report.waitsFor(this);
    }

    @Override
    public void await() throws InterruptedException {
        ConnectionObserver.awaitExit();
    }

    @Override
    public void opened(UcxSocketChannel channel, boolean accepted, List<String> reasons) {
        InetSocketAddress remote = channel.remoteAddress();
        String host = remote.getAddress().getHostAddress();
        report.opened(channel, netty, channel.lane(), accepted, accepted ? host : host + ':' + remote.getPort(),
                String.join("; ", reasons), () -> channel.metrics().bytesSent(),
                () -> channel.metrics().bytesReceived());
    }

    @Override
    public void closed(UcxSocketChannel channel) {
        report.closed(channel);
    }
}
