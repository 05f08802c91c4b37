// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.faults;

import java.io.BufferedReader;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Two hosts on this one: network, IPC and mount namespaces of their own, and a pair of veth interfaces as the cable
 * between them. They end with this process.
 */
public final class Hosts implements AutoCloseable {

    /** What becomes of the network between them. */
    enum Outage {
        /** The cable is pulled out at the right host, which loses its routes. */
        LINK_DOWN,
        /** Something on the way swallows everything. */
        BLACK_HOLE
    }

    private static final String DEVICE = "eth0";
    private static final String OTHER_DEVICE = "eth1";
    /** With a /sys that shows the own network's devices, as each container has it. */
    private static final String OWN_IPC = "-i";
    private static final List<String> NAMESPACES = List.of("unshare", "--net", OWN_IPC, "--mount",
            "--propagation", "private", "sh", "-c",
            "mount -t sysfs sysfs /sys && mount -t tmpfs -o size=64m tmpfs /dev/shm && echo ready && exec cat");
    private static final String READY = "ready";
    /** The kernel may say so a second late, because it gathers such news. */
    private static final String UNTIL_IT_RUNS = "i=0; until grep -qx up /sys/class/net/%1$s/operstate; do "
            + "i=$((i + 1)); [ $i -lt 500 ] || { echo %1$s is not up; exit 1; }; sleep 0.01; done";
    /** In place of netem, which many kernels do not have: classic BPF. 2 is TC_ACT_SHOT, 0 TC_ACT_OK. */
    private static final String DROP_ALL = "1,6 0 0 2";
    /** All but ARP (type 0x806), so that the kernel knows no better. */
    private static final String DROP_ALL_BUT_ARP = "4,40 0 0 12,21 0 1 2054,6 0 0 0,6 0 0 2";
    private static final String DROP_SOME = "4,32 0 0 4294963256,53 1 0 %d,6 0 0 2,6 0 0 0";

    /**
     * What is said where namespaces are not permitted, a command is not installed, or the kernel was built without veth
     * or a part of its traffic control. Anything else that fails is a mistake.
     */
    private static final List<String> MISSING = List.of("Operation not permitted", "Permission denied",
            "No such file or directory", "not found", "Unknown device type", "Not supported", "not supported");

    private static boolean tried;
    private static String whyNot;

    private final Host left;
    private final Host right;

    /** One of the two. */
    public static final class Host implements AutoCloseable {

        private final int number;
        private final Process holder;
        private String ucxDevice;

        /** @param neighbour with which it shares an IPC namespace, or {@code null} */
        private Host(int number, Host neighbour) throws IOException {
            this.number = number;
            List<String> command = new ArrayList<>();
            if (neighbour != null) {
                command.addAll(List.of("nsenter", "--target", Long.toString(neighbour.holder.pid()), "--ipc", "--"));
            }
            command.addAll(NAMESPACES);
            if (neighbour != null) {
                command.remove(OWN_IPC);
            }
            holder = new ProcessBuilder(command).redirectErrorStream(true).start();
            BufferedReader output = holder.inputReader();
            String line = output.readLine();
            if (!READY.equals(line)) {
                throw new IOException("no namespaces: " + line);
            }
        }

        /** What a command is to begin with in order to run on this host. */
        public List<String> launcher() {
            List<String> words = new ArrayList<>(List.of("nsenter", "--target", Long.toString(holder.pid()), "--net",
                    "--ipc", "--mount", "--"));
            if (ucxDevice != null) {
                words.addAll(List.of("env", "UCX_NET_DEVICES=" + ucxDevice));
            }
            return words;
        }

        public String address() {
            return "10.77.0." + number;
        }

        String address6() {
            return "fd77::" + number;
        }

        private void connectCable() throws IOException, InterruptedException {
            // Else the addresses go with the link, and nobody gives them back.
            run("sh", "-c", "echo 1 > /proc/sys/net/ipv6/conf/all/keep_addr_on_down");
            run("ip", "link", "set", "lo", "up");
            run("ip", "address", "add", address() + "/24", "dev", DEVICE);
            run("ip", "address", "add", address6() + "/64", "dev", DEVICE, "nodad");
            run("ip", "link", "set", DEVICE, "up");
        }

        /** UCX takes no notice of an interface that does not run yet when it looks for them, which it does once. */
        private void awaitCable(String device) throws IOException, InterruptedException {
            run("sh", "-c", String.format(UNTIL_IT_RUNS, device));
        }

        /** One more, for UCX alone. */
        private void connectOtherCable() throws IOException, InterruptedException {
            run("ip", "address", "add", "10.78.0." + number + "/24", "dev", OTHER_DEVICE);
            run("ip", "link", "set", OTHER_DEVICE, "up");
            ucxDevice = OTHER_DEVICE;
        }

        /**
         * From now on the packets that come go through a program of classic BPF. Not those that leave: their sender
         * would know of the loss, and try harder.
         */
        private void filter(String device, String program) throws IOException, InterruptedException {
            run("tc", "qdisc", "add", "dev", device, "clsact");
            run("tc", "filter", "add", "dev", device, "ingress", "bpf", "da", "bytecode", program);
        }

        private void run(String... command) throws IOException, InterruptedException {
            List<String> words = new ArrayList<>(launcher());
            words.addAll(List.of(command));
            Process process = new ProcessBuilder(words).redirectErrorStream(true).start();
            String output = new String(process.getInputStream().readAllBytes());
            if (process.waitFor() != 0) {
                throw new IOException(String.join(" ", command) + ": " + output.strip());
            }
        }

        @Override
        public void close() throws InterruptedException {
            holder.destroyForcibly().waitFor();
        }
    }

    public Hosts() throws IOException, InterruptedException {
        this(false);
    }

    private Hosts(boolean sharingMemory) throws IOException, InterruptedException {
        left = new Host(1, null);
        right = new Host(2, sharingMemory ? left : null);
        try {
            left.run("ip", "link", "add", DEVICE, "type", "veth", "peer", "name", DEVICE, "netns",
                    Long.toString(right.holder.pid()));
            left.connectCable();
            right.connectCable();
            left.awaitCable(DEVICE);
            right.awaitCable(DEVICE);
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    /** Has UCX use a cable of its own from now on, which swallows everything. */
    void giveUcxABrokenCable() throws IOException, InterruptedException {
        left.run("ip", "link", "add", OTHER_DEVICE, "type", "veth", "peer", "name", OTHER_DEVICE, "netns",
                Long.toString(right.holder.pid()));
        for (Host host : List.of(left, right)) {
            host.connectOtherCable();
        }
        for (Host host : List.of(left, right)) {
            host.awaitCable(OTHER_DEVICE);
            host.filter(OTHER_DEVICE, DROP_ALL_BUT_ARP);
        }
    }

    /** Two containers of one host, which share memory and have addresses of their own. */
    static Hosts sharingMemory() throws IOException, InterruptedException {
        return new Hosts(true);
    }

    /**
     * Why this user cannot make such hosts on this machine; {@code null} if that is possible. Tried once: whatever fails
     * later is a failure of the test.
     */
    public static synchronized String whyNot() throws IOException, InterruptedException {
        if (!tried) {
            whyNot = tryAll();
            tried = true;
        }
        return whyNot;
    }

    private static String tryAll() throws IOException, InterruptedException {
        try (Hosts hosts = new Hosts()) {
            hosts.begin(Outage.BLACK_HOLE);
            hosts.end(Outage.BLACK_HOLE);
            hosts.worsen(1, 100);
            return null;
        } catch (IOException e) {
            String message = String.valueOf(e.getMessage());
            if (MISSING.stream().anyMatch(message::contains)) {
                return message;
            }
            throw e;
        }
    }

    /** The left host's kernel gives up a connect that nobody answers after 3 s, and not after two minutes. */
    void giveUpConnectsEarly() throws IOException, InterruptedException {
        left.run("sh", "-c", "echo 1 > /proc/sys/net/ipv4/tcp_syn_retries");
    }

    public Host left() {
        return left;
    }

    public Host right() {
        return right;
    }

    void begin(Outage outage) throws IOException, InterruptedException {
        switch (outage) {
            case LINK_DOWN -> right.run("ip", "link", "set", DEVICE, "down");
            case BLACK_HOLE -> {
                left.filter(DEVICE, DROP_ALL);
                right.filter(DEVICE, DROP_ALL);
            }
        }
    }

    void end(Outage outage) throws IOException, InterruptedException {
        switch (outage) {
            case LINK_DOWN -> right.run("ip", "link", "set", DEVICE, "up");
            case BLACK_HOLE -> {
                for (Host host : List.of(left, right)) {
                    host.run("tc", "qdisc", "del", "dev", DEVICE, "clsact");
                }
                for (Host host : List.of(left, right)) {
                    // Else the kernel may give up a neighbour whom it has asked for in vain in the hole, and with him the
                    // TCP connection that he is just making: he is reset, by whatever transport he came.
                    host.run("ip", "neighbour", "flush", "dev", DEVICE);
                }
            }
        }
    }

    /**
     * The network becomes a bad one.
     *
     * @param percent       of the packets in each direction that get lost
     * @param megabitsPerSecond that get through; more waits in a queue for 5 ms, or is lost
     */
    void worsen(int percent, int megabitsPerSecond) throws IOException, InterruptedException {
        String program = String.format(DROP_SOME, (1L << 32) * percent / 100);
        for (Host host : List.of(left, right)) {
            host.filter(DEVICE, program);
            host.run("tc", "qdisc", "add", "dev", DEVICE, "root", "tbf", "rate", megabitsPerSecond + "mbit",
                    "burst", "32k", "latency", "5ms");
        }
    }

    @Override
    public void close() throws InterruptedException {
        left.close();
        right.close();
    }

    /** As it was passed from one process to another: their clocks are one. */
    static long millisSince(long nanos) {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - nanos);
    }
}
