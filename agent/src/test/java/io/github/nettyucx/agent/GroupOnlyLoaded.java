// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** An application that has the class of a group loaded, and makes none. */
public final class GroupOnlyLoaded {

    private static final String AHEAD = "netty-ucx-agent";

    private GroupOnlyLoaded() {
    }

    public static void main(String[] arguments) throws Exception {
        Class.forName("io.netty.channel.nio.NioEventLoopGroup", false, GroupOnlyLoaded.class.getClassLoader());
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (thread.getName().equals(AHEAD)) {
                thread.join();
            }
        }
        try (Stream<String> files = Files.lines(Path.of("/proc/self/maps"))) {
            System.out.println("ucx " + files.anyMatch(line -> line.contains("/libucp") || line.contains("/libucs")));
        }
        System.out.println("noted " + System.getProperty("io.github.nettyucx.loaded"));
    }
}
