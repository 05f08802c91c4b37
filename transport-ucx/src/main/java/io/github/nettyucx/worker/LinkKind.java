// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** What carries the messages of a link: the transports of UCX that its workers may use. */
public enum LinkKind {
    /** Shared memory of one host. */
    SHM("shm", "shm", List.of("shm", "sm", "mm", "sysv", "posix", "xpmem", "cma", "knem"), List.of("sysv", "posix")),
    /**
     * RDMA devices: InfiniBand, RoCE. Not UCX's DC: without a cache of registered memory it keeps remote keys in a table of
     * the context's, which the workers of several loops would use at the same time without a lock.
     */
    RDMA("ib", "rc,ud", List.of("ib", "rc", "rc_v", "rc_x", "rc_verbs", "rc_mlx5", "ud", "ud_v", "ud_x", "ud_verbs",
            "ud_mlx5"), List.of("rc_mlx5", "rc_verbs", "ud_mlx5", "ud_verbs")),
    /** UCX's own TCP, over all network devices. */
    TCP("tcp", "tcp", List.of("tcp"), List.of("tcp"));

    /** UCX's name for all of them. */
    private final String alias;
    /** What stands for all that may be used. */
    private final String all;
    /** UCX's names of each, and of families of them. */
    private final Set<String> names;
    /** Those that are worth naming one by one: UCX warns of a name that this machine does not have. */
    private final List<String> common;

    LinkKind(String alias, String all, List<String> names, List<String> common) {
        this.alias = alias;
        this.all = all;
        this.names = Set.copyOf(names);
        this.common = common;
    }

    /**
     * Whether a worker that has been armed once, and has neither told of an event nor done anything since, need not be
     * armed again: each time takes two system calls. UCX's shared memory notes it in the queue that peers write to, and
     * stays so until one of them does. Of the others nobody has tried it.
     */
    boolean staysArmed() {
        return this == SHM;
    }

    /**
     * Whether UCX, when it arms a worker, has read all that its descriptor tells of, so that what is told from then on is new.
     * Over shared memory it reads the socket by which peers signal until that is empty. Of the others nobody has looked.
     */
    boolean armsWhenSilent() {
        return this == SHM;
    }

    /**
     * Whether a send takes a place in a queue of the receiver's before UCX knows that it can write there. Behind a place that
     * stays empty the receiver finds nothing.
     */
    boolean sharesQueues() {
        return this == SHM;
    }

    /**
     * Whether UCX throws messages away where it has no memory to receive them into. Over shared memory that is more of the same,
     * which the host may not have; over others it is the process's own.
     */
    boolean losesMessages() {
        return this == SHM;
    }

    /**
     * Whether a worker has to look once more when it has been armed. A device tells of the next completion
     * (ibv_req_notify_cq(3)). What has come between the last look and the arming may have been the last one: UCX relies
     * on the device to tell of that, too. Linux's software for RoCE does not.
     */
    boolean looksAgain() {
        return this == RDMA;
    }

    /**
     * Whether a worker goes on that UCX cannot arm because of a reset. UCX's shared memory says so of an empty datagram at the
     * socket by which peers wake each other. Anybody can have sent that. It is gone when UCX says so: then it is worth trying
     * again.
     */
    boolean outlivesResets() {
        return this == SHM;
    }

    /**
     * What {@code UCX_TLS} has to be for workers of this kind.
     *
     * @param allowed in the syntax of {@code UCX_TLS}; {@code null} or blank for all
     * @return {@code null} if none of this kind's transports is allowed
     */
    String transports(String allowed) {
        if (allowed == null || allowed.isBlank()) {
            return all;
        }
        boolean denies = allowed.startsWith("^");
        List<String> list = List.of((denies ? allowed.substring(1) : allowed).strip().split("\\s*,\\s*"));
        if (list.contains("all")) {
            return denies ? null : all;
        }
        List<String> chosen = new ArrayList<>();
        if (denies) {
            common.stream().filter(transport -> list.stream().noneMatch(name -> isNamedBy(name, transport)))
                    .forEach(chosen::add);
        } else {
            // As they are: some names stand for more than their members, as rc does for ud to begin with.
            list.stream().filter(names::contains).map(name -> name.equals(alias) ? all : name).forEach(chosen::add);
        }
        return chosen.isEmpty() ? null : String.join(",", chosen);
    }

    /** UCX's shorter names stand for families: {@code rc} for {@code rc_mlx5} and {@code rc_verbs}, and so on. */
    private boolean isNamedBy(String name, String transport) {
        if (name.equals(transport) || name.equals(alias) || this == SHM && (name.equals("sm") || name.equals("mm"))) {
            return true;
        }
        int family = transport.indexOf('_');
        return family > 0 && (name.equals(transport.substring(0, family))
                || name.equals(transport.substring(0, family) + (transport.endsWith("mlx5") ? "_x" : "_v")));
    }
}
