// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.broker;

import io.github.nettyucx.examples.log.cluster.ClusterState;
import io.github.nettyucx.examples.log.protocol.SlotWord;
import io.github.nettyucx.memory.UcxMemory;
import io.github.nettyucx.memory.UcxMemoryRight;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/** One word for each partition, next to each other: one get tells what there is to be read of all of them. */
final class Slots {
    static final int COUNT = ClusterState.MAX_PARTITIONS;

    private static final VarHandle WORD = ValueLayout.JAVA_LONG.withOrder(ByteOrder.LITTLE_ENDIAN).varHandle();

    private final BrokerSettings settings;
    private final List<Long> words = new ArrayList<>();
    /** {@code null} as long as nobody has asked for it. */
    private UcxMemory memory;

    Slots(BrokerSettings settings) {
        this.settings = settings;
    }

    /** What is told of before can be read when the word can. */
    void set(int partition, long word) {
        while (words.size() <= partition) {
            words.add(0L);
        }
        words.set(partition, word);
        if (memory != null) {
            WORD.setRelease(memory.segment(), (long) partition * SlotWord.BYTES, word);
        }
    }

    byte[] exportKey() {
        if (memory == null) {
            memory = settings.memory().allocate((long) COUNT * SlotWord.BYTES, UcxMemoryRight.READ);
            for (var i = 0; i < words.size(); i++) {
                set(i, words.get(i));
            }
        }
        return memory.exportKey();
    }

    void close() {
        if (memory != null) {
            memory.close();
        }
    }
}
