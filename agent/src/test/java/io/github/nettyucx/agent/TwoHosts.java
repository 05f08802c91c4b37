// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent;

import org.junit.jupiter.api.Assumptions;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Namespaces of this host that are a client's and a server's host to them, with a network between. They end with this process. */
final class TwoHosts implements AutoCloseable {

    static final String CLIENT = "10.77.0.1";
    static final String SERVER = "10.77.0.2";

    private static final String DEVICE = "eth0";
    /** Of its own are what tells of the network's devices, and the memory that processes of one host share. */
    private static final List<String> HOLDER = List.of("unshare", "--net", "--ipc", "--mount", "--propagation", "private",
            "sh", "-c", "mount -t sysfs sysfs /sys && mount -t tmpfs -o size=64m tmpfs /dev/shm && echo ready && exec cat");
    /** UCX looks for devices once, and takes none that does not run yet. */
    private static final String AWAIT_DEVICE = "i=0; until grep -qx up /sys/class/net/" + DEVICE + "/operstate; do "
            + "i=$((i + 1)); [ $i -lt 500 ] || { echo " + DEVICE + " is not up; exit 1; }; sleep 0.01; done";
    /** What is said by a machine on which this user cannot have such hosts. Anything else that fails is a mistake. */
    private static final List<String> MISSING = List.of("Operation not permitted", "Permission denied",
            "No such file or directory", "not found", "Unknown device type", "Not supported", "not supported");

    private final List<Process> holders = new ArrayList<>();

    private TwoHosts() throws IOException, InterruptedException {
        try {
            hold();
            hold();
            run(0, "ip", "link", "add", DEVICE, "type", "veth", "peer", "name", DEVICE, "netns",
                    Long.toString(holders.get(1).pid()));
            for (String address : List.of(CLIENT, SERVER)) {
                int host = address.equals(CLIENT) ? 0 : 1;
                run(host, "ip", "link", "set", "lo", "up");
                run(host, "ip", "address", "add", address + "/24", "dev", DEVICE);
                run(host, "ip", "link", "set", DEVICE, "up");
            }
            run(0, "sh", "-c", AWAIT_DEVICE);
            run(1, "sh", "-c", AWAIT_DEVICE);
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    /** Skips the test, and says why, where there can be none. */
    static TwoHosts make() throws IOException, InterruptedException {
        try {
            return new TwoHosts();
        } catch (IOException e) {
            String message = String.valueOf(e.getMessage());
            if (MISSING.stream().noneMatch(message::contains)) {
                throw e;
            }
            return Assumptions.abort("no namespaces here: " + message);
        }
    }

    private void hold() throws IOException {
        Process holder = new ProcessBuilder(HOLDER).redirectErrorStream(true).start();
        holders.add(holder);
        String line = holder.inputReader().readLine();
        if (!"ready".equals(line)) {
            throw new IOException(line);
        }
    }

    private void run(int host, String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(Stream.concat(launcher(host).stream(), Stream.of(command)).toList())
                .redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes());
        if (process.waitFor() != 0) {
            throw new IOException(String.join(" ", command) + ": " + output.strip());
        }
    }

    private List<String> launcher(int host) {
        return List.of("nsenter", "--target", Long.toString(holders.get(host).pid()), "--net", "--ipc", "--mount", "--");
    }

    /** What a command is to begin with that runs on the client's host. */
    List<String> client() {
        return launcher(0);
    }

    /** The same of the server's. */
    List<String> server() {
        return launcher(1);
    }

    @Override
    public void close() throws InterruptedException {
        for (Process holder : holders) {
            holder.destroyForcibly().waitFor();
        }
    }
}
