// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.cluster;

import io.github.nettyucx.examples.HostAndPort;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Brokers that choose their leader. All of them are started with the same name and the same nodes.
 *
 * @param name of the cluster, by which brokers of another one are told apart
 * @param self the broker of this process
 * @param nodes all of them, with this one
 */
public record ClusterSettings(String name, Node self, List<Node> nodes) {
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_-]{1,100}");

    public ClusterSettings {
        nodes = List.copyOf(nodes);
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException("the cluster's name is '" + name
                    + "' (expected: 1 to 100 letters, digits, - and _)");
        }
        if (nodes.stream().map(Node::id).distinct().count() < nodes.size()) {
            throw new IllegalArgumentException("a broker is named twice among " + listed(nodes)
                    + " (expected: each of them once)");
        }
        if (!nodes.contains(self)) {
            throw new IllegalArgumentException("the cluster has no broker " + self + " (expected: one of " + listed(nodes)
                    + ")");
        }
    }

    /**
     * @param server the address of this process's broker
     * @throws IllegalArgumentException if it is none of the nodes'
     */
    public static ClusterSettings of(String name, HostAndPort server, List<Node> nodes) {
        var self = nodes.stream().filter(node -> node.address().equals(server)).findFirst()
                .orElseThrow(() -> new IllegalArgumentException("the cluster has no broker at " + server
                        + " (expected: the address of one of " + listed(nodes) + ")"));
        return new ClusterSettings(name, self, nodes);
    }

    private static String listed(List<Node> nodes) {
        return nodes.stream().map(Node::toString).collect(Collectors.joining(", "));
    }

    public List<Node> others() {
        return nodes.stream().filter(node -> !node.equals(self)).toList();
    }

    /** Where a broker is, by its id; an empty text if there is none. */
    public String addressOf(String id) {
        return nodes.stream().filter(node -> node.id().equals(id)).map(node -> node.address().toString()).findFirst()
                .orElse("");
    }

    /** What a cluster begins with: all logs are empty, and so all of them are in sync. */
    ClusterState initialState() {
        return ClusterState.initial(nodes.stream().map(Node::id).collect(Collectors.toCollection(TreeSet::new)));
    }
}
