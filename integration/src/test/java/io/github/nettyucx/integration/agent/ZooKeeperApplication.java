// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.integration.agent;

import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A client of Apache ZooKeeper's: {@code SERVERS NAME NODES}. It makes NODES nodes below NAME, is told of a change by a
 * watch, waits for a line of input, during which its server may die, and goes on in the same session. Knows nothing of the
 * agent.
 */
public final class ZooKeeperApplication {

    private static final int SESSION_MILLIS = 30_000;
    private static final int SECONDS = 60;
    private static final int EPHEMERAL = 4_711;
    private static final Pattern REMOTE = Pattern.compile("remoteserver:\\S*?:(\\d+) ");

    private ZooKeeperApplication() {
    }

    public static void main(String[] arguments) throws Exception {
        String base = "/" + arguments[1];
        int nodes = Integer.parseInt(arguments[2]);
        CountDownLatch connected = new CountDownLatch(1);
        CountDownLatch changed = new CountDownLatch(1);
        try (ZooKeeper client = new ZooKeeper(arguments[0], SESSION_MILLIS, event -> {
            if (event.getState() == Watcher.Event.KeeperState.SyncConnected) {
                connected.countDown();
            }
        })) {
            require(connected.await(SECONDS, TimeUnit.SECONDS), "not connected");
            create(client, base, 0, CreateMode.PERSISTENT);
            create(client, base + "/ephemeral", EPHEMERAL, CreateMode.EPHEMERAL);
            client.getData(base, event -> changed.countDown(), null);
            long start = System.nanoTime();
            for (int node = 0; node < nodes; node++) {
                create(client, base + "/" + node, node, CreateMode.PERSISTENT);
            }
            System.out.println("nodes per second " + nodes * TimeUnit.SECONDS.toNanos(1) / (System.nanoTime() - start));
            client.setData(base, bytes(1), -1);
            require(changed.await(SECONDS, TimeUnit.SECONDS), "the watch is silent");
            CountDownLatch changedAgain = new CountDownLatch(1);
            client.getData(base, event -> {
                if (event.getType() == Watcher.Event.EventType.NodeDataChanged) {
                    changedAgain.countDown();
                }
            }, null);
            long session = client.getSessionId();
            System.out.println("with " + remotePort(client));
            System.in.read();
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            long readStart = System.nanoTime();
            for (int node = 0; node < nodes; node++) {
                digest.update(data(client, base + "/" + node));
            }
            System.out.println("reads per second " + nodes * TimeUnit.SECONDS.toNanos(1) / (System.nanoTime() - readStart));
            // The watch is from before a server died.
            client.setData(base, bytes(2), -1);
            require(changedAgain.await(SECONDS, TimeUnit.SECONDS), "the watch is lost");
            require(Arrays.equals(bytes(EPHEMERAL), data(client, base + "/ephemeral")), "the session is another one");
            require(client.getSessionId() == session, "the session is another one");
            System.out.println("digest " + HexFormat.of().formatHex(digest.digest()));
        }
        System.out.println("client done");
    }

    private static void require(boolean good, String what) {
        if (!good) {
            throw new IllegalStateException(what);
        }
    }

    private static byte[] bytes(int number) {
        return ByteBuffer.allocate(Integer.BYTES).putInt(number).array();
    }

    private static void create(ZooKeeper client, String path, int number, CreateMode mode) throws Exception {
        client.create(path, bytes(number), ZooDefs.Ids.OPEN_ACL_UNSAFE, mode);
    }

    /** Of the server that it is connected to, which only its description tells. */
    private static String remotePort(ZooKeeper client) {
        Matcher matcher = REMOTE.matcher(client.toString());
        require(matcher.find(), client.toString());
        return matcher.group(1);
    }

    /** A connection that is lost comes back: what is only read can be asked for again. */
    private static byte[] data(ZooKeeper client, String path) throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        while (true) {
            try {
                return client.getData(path, false, null);
            } catch (KeeperException.ConnectionLossException e) {
                require(System.nanoTime() < deadline, "no server");
                // Between two attempts, as the library's own recipes do.
                Thread.sleep(100);
            }
        }
    }
}
