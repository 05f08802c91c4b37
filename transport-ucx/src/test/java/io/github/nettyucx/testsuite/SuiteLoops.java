// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.testsuite;

import io.github.nettyucx.channel.TestLoops;
import io.github.nettyucx.channel.UcxMetrics;
import io.github.nettyucx.channel.UcxTraffic;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.DefaultThreadFactory;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

/** Loops with UCX for one kind of connections, which share them with no other kind. */
final class SuiteLoops {

    /** As many as Netty's own tests have. */
    static final int THREADS = 4;

    private static final List<SuiteLoops> ALL = new CopyOnWriteArrayList<>();

    /** A server's channel has a loop that none of its children has. */
    final EventLoopGroup accepting;
    final EventLoopGroup loops;

    SuiteLoops(String name) {
        accepting = TestLoops.newGroup(1, new DefaultThreadFactory(name + "-accepting", true));
        loops = TestLoops.newGroup(THREADS, new DefaultThreadFactory(name, true));
        ALL.add(this);
    }

    /** All that have been made in this process. */
    static EventLoopGroup[] groups() {
        return ALL.stream().map(each -> each.loops).toArray(EventLoopGroup[]::new);
    }

    /** The lanes that connections of these loops have taken so far, and what has gone over them. */
    Map<String, UcxTraffic> lanes() {
        List<UcxMetrics> all = new ArrayList<>();
        loops.forEach(loop -> all.add(TestLoops.driver((EventLoop) loop).metrics()));
        return UcxMetrics.sum(all).lanes();
    }
}
