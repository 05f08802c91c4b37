// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent.weave;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Which connections took which lane, and why not a better one; printed to standard error when the JVM ends. Any thread may
 * call.
 */
public final class Report {

    /**
     * So many peers and reasons have rows of their own, and as many reasons more have one for all other peers. An application
     * that meets millions of them is to keep its memory. Threads that come at the same time may make it a few more.
     */
    static final int MOST = 1000;
    private static final String OTHERS = "others";
    private static final String OTHER_REASONS = "various reasons";
    private static final String OTHER_THINGS = "others, of which there were too many to tell them apart";

    private static final String FORMAT = "  %-8s %-7s %-40s %11d %16d %16d  %s%n";

    /**
     * @param netty  the package of the copy
     * @param lane   UCX's name of it, or {@code socket}
     * @param server whether this side is the server's
     * @param peer   address, and port of a server
     * @param reason why no better lane was taken, or empty
     */
    private record Key(String netty, String lane, boolean server, String peer, String reason) {
    }

    private static final class Row {
        private final AtomicLong connections = new AtomicLong();
        private final AtomicLong sent = new AtomicLong();
        private final AtomicLong received = new AtomicLong();
    }

    /** What the end of the JVM still delivers. */
    public interface Delivery {

        /** Until it is done, or the time for it is over. */
        void await() throws InterruptedException;
    }

    /** A connection that is open. */
    private record Connection(Row row, LongSupplier sent, LongSupplier received) {

        void count() {
            row.sent.addAndGet(sent.getAsLong());
            row.received.addAndGet(received.getAsLong());
        }
    }

    private final Map<Key, Row> rows = new ConcurrentHashMap<>();
    private final Map<String, AtomicLong> left = new ConcurrentHashMap<>();
    private final Map<Object, Connection> open = new ConcurrentHashMap<>();
    /** Weakly: it is the copy's, which may go before the JVM does. */
    private final Set<Delivery> deliveries = Collections.synchronizedSet(Collections.newSetFromMap(new WeakHashMap<>()));

    /**
     * A connection is open.
     *
     * @param channel  that it is of
     * @param sent     bytes so far, to be asked at its end
     * @param received the same of the other direction
     */
    public void opened(Object channel, String netty, String lane, boolean server, String peer, String reason,
                       LongSupplier sent, LongSupplier received) {
        Row row = row(netty, lane, server, peer, reason);
        row.connections.incrementAndGet();
        open.put(channel, new Connection(row, sent, received));
    }

    private Row row(String netty, String lane, boolean server, String peer, String reason) {
        Row known = rowIfRoom(new Key(netty, lane, server, peer, reason), MOST);
        if (known == null) {
            known = rowIfRoom(new Key(netty, lane, server, OTHERS, reason), 2 * MOST);
        }
        return known != null ? known
                : rowIfRoom(new Key(netty, lane, server, OTHERS, reason.isEmpty() ? "" : OTHER_REASONS), Integer.MAX_VALUE);
    }

    /** @return {@code null} if there is none, and there are that many others */
    private Row rowIfRoom(Key key, int most) {
        Row known = rows.get(key);
        return known != null || rows.size() >= most ? known : rows.computeIfAbsent(key, absent -> new Row());
    }

    /** It is closed. Counted before it is gone from the open ones: the text may be made in between. */
    public void closed(Object channel) {
        open.computeIfPresent(channel, (key, closed) -> {
            closed.count();
            return null;
        });
    }

    /** A channel, or a group of loops, stays what it was. */
    public void left(String what) {
        String told = left.containsKey(what) || left.size() < MOST ? what : OTHER_THINGS;
        left.computeIfAbsent(told, key -> new AtomicLong()).incrementAndGet();
    }

    /** What that delivers at the end of the JVM counts. */
    public void waitsFor(Delivery delivery) {
        deliveries.add(delivery);
    }

    void print() {
        try {
            for (Delivery delivery : deliveries.toArray(new Delivery[0])) {
                delivery.await();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        // The application's last line may have no end.
        System.err.print('\n' + text());
    }

    String text() {
        open.keySet().forEach(this::closed);
        StringBuilder text = new StringBuilder("netty-ucx-agent: connections by lane\n");
        if (rows.isEmpty()) {
            text.append("  none\n");
        } else {
            text.append(String.format("  %-8s %-7s %-40s %11s %16s %16s  %s%n", "lane", "side", "peer", "connections",
                    "bytes sent", "bytes received", "why not a better lane"));
        }
        List<Map.Entry<Key, Row>> sorted = new ArrayList<>(rows.entrySet());
        sorted.sort(Comparator.comparing(entry -> entry.getKey().toString()));
        for (Map.Entry<Key, Row> entry : sorted) {
            Key key = entry.getKey();
            Row row = entry.getValue();
            text.append(String.format(FORMAT, key.lane, key.server ? "server" : "client", key.peer,
                    row.connections.get(), row.sent.get(), row.received.get(), key.reason));
        }
        left.forEach((what, count) -> text.append("  left as it was: ").append(what).append(" (").append(count)
                .append(" times)\n"));
        return text.toString();
    }
}
