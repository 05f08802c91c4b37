// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import io.github.nettyucx.channel.OnEachLane;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongConsumer;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** Who takes messages and throws: UCX keeps none of them, whether they have been received or not, and the others come. */
class ThrowingSinkTest {

    private static final int ID = 4713;
    /** So much goes by rendezvous, with the bundled UCX: its sender learns when somebody has received it. */
    private static final int LENGTH = 4 << 20;
    private static final int MESSAGES = 4;

    private static final LongConsumer NOTHING = message -> { };

    private EnginePair.Both link;
    private int given;
    private int told;

    private final class Throwing implements MessageSink {

        private final LongConsumer first;
        private final LongConsumer whenTold;
        private long last;

        /**
         * @param first    what is done with a message before it throws
         * @param whenTold what is done with it when it has thrown
         */
        Throwing(LongConsumer first, LongConsumer whenTold) {
            this.first = first;
            this.whenTold = whenTold;
        }

        @Override
        public void onMessage(long tag, long message, long length) {
            given++;
            last = message;
            first.accept(message);
            throw new IllegalStateException("as the test wants it");
        }

        @Override
        public void onMessageThrew(Throwable cause) {
            assertEquals("as the test wants it", cause.getMessage());
            told++;
            whenTold.accept(last);
        }
    }

    @OnEachLane(linksOnly = true)
    void whatHasNotBeenReceivedIsReceivedForNobody() throws Exception {
        take(new Throwing(NOTHING, NOTHING));
        assertEquals(MESSAGES, told);
    }

    @OnEachLane(linksOnly = true)
    void whatHasBeenReceivedIsNotReceivedAgain() throws Exception {
        take(new Throwing(this::discard, NOTHING));
        assertEquals(MESSAGES, told);
    }

    @OnEachLane(linksOnly = true)
    void neitherIsWhatIsReceivedWhenTheSinkLearnsOfIt() throws Exception {
        take(new Throwing(NOTHING, this::discard));
        assertEquals(MESSAGES, told);
    }

    @OnEachLane(linksOnly = true)
    void soItIsWhenTheSinkHasLeftBeforeItThrows() throws Exception {
        take(new Throwing(message -> {
            link.here().unregister(ID);
            link.here().register(ID, new Throwing(NOTHING, NOTHING));
        }, NOTHING));
        assertEquals(MESSAGES - 1, told, "the first one has left");
    }

    /** Such as an application's allocator throws whose classes cannot be loaded. */
    @OnEachLane(linksOnly = true)
    void anErrorIsNotTheOthersMatterEither() throws Exception {
        List<Error> errors = List.of(new LinkageError(), new AssertionError(), new OutOfMemoryError(), overflow());
        List<Throwable> toldOf = new ArrayList<>();
        int[] others = {0};
        try (EnginePair engines = new EnginePair(LENGTH)) {
            link = engines.connect();
            link.here().register(ID, new MessageSink() {

                @Override
                public void onMessage(long tag, long message, long length) {
                    throw errors.get(toldOf.size());
                }

                @Override
                public void onMessageThrew(Throwable cause) {
                    toldOf.add(cause);
                }
            });
            link.here().register(ID + 1, (tag, message, length) -> {
                discard(message);
                others[0]++;
            });
            for (int i = 0; i < errors.size(); i++) {
                engines.send(link.there(), LENGTH, ID);
                engines.send(link.there(), LENGTH, ID + 1);
            }
            // In turns that nothing ends.
            engines.until(() -> others[0] == errors.size() && !engines.isSending(),
                    "a message is kept that nobody has received");
            assertEquals(errors, toldOf);
            link.here().unregister(ID);
            link.here().unregister(ID + 1);
            link.close();
        }
    }

    private static StackOverflowError overflow() {
        try {
            return new StackOverflowError(String.valueOf(deeper(1)));
        } catch (StackOverflowError e) {
            return e;
        }
    }

    private static int deeper(int depth) {
        return deeper(depth + 1) + 1;
    }

    private void discard(long message) {
        EnginePair.discard(link.here(), message);
    }

    private void take(MessageSink sink) throws Exception {
        try (EnginePair engines = new EnginePair(LENGTH)) {
            link = engines.connect();
            link.here().register(ID, sink);
            for (int i = 0; i < MESSAGES; i++) {
                engines.send(link.there(), LENGTH, ID);
            }
            engines.until(() -> given == MESSAGES && !engines.isSending(), "a message is kept that nobody has received");
            link.here().unregister(ID);
            link.close();
        }
    }
}
