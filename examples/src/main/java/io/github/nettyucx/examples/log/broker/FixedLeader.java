// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import java.util.Collection;
import java.util.Set;

/**
 * The rule of a broker that leads whatever happens: those followers are in sync that it can reach.
 *
 * @param minFollowers without which nothing is committed
 */
record FixedLeader(int minFollowers) implements CommitRule {
    @Override
    public boolean permits(Set<Follower> present) {
        return present.size() >= minFollowers;
    }

    @Override
    public Collection<Follower> required(Set<Follower> present) {
        return present;
    }

    @Override
    public void present(Follower follower) { }

    @Override
    public void lost(Follower follower) { }

    @Override
    public int inSync(Topics topics) {
        return (int) topics.followers().stream().filter(topics::hasAll).count();
    }
}
