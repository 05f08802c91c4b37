// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import java.util.Collection;
import java.util.Set;

/** Who has to have a record before it is committed. For the leader's event loop only. */
interface CommitRule {

    /**
     * Whether anything may be committed now.
     *
     * @param present the followers that a partition's records are written to
     */
    boolean permits(Set<Follower> present);

    /** Those that have to have a record. If one of them is not present, nothing is committed. */
    Collection<Follower> required(Set<Follower> present);

    /** The records of all partitions are written to a follower now. It may have been so before. */
    void present(Follower follower);

    /** They are not any more, or the follower could not be reached. */
    void lost(Follower follower);

    /** How many followers are in sync. */
    int inSync(Topics topics);
}
