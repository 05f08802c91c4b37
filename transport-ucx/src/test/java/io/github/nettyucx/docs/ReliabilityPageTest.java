// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.docs;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The numbers and bounds that docs/reliability.md gives for tests are those of the tests. */
class ReliabilityPageTest {

    private static final Path ROOT = Path.of("").toAbsolutePath().getFileName().toString().equals("transport-ucx")
            ? Path.of("..") : Path.of(".");
    private static final Path TESTS = ROOT.resolve("transport-ucx/src/test/java/io/github/nettyucx/channel");
    private static final Pattern FACTORS = Pattern.compile("\\d[\\d_]*L?(?: \\* \\d[\\d_]*L?)*");
    private static final long KIB = 1024;
    private static final long MIB = 1024 * KIB;

    private static String source(String test) throws IOException {
        return Files.readString(TESTS.resolve(test + ".java"));
    }

    /** The number, or product, that a constant is, or that stands last in what it is computed from. */
    private static long constant(String source, String name) {
        Matcher constant = Pattern.compile("\\b" + name + " = ([^;]+);").matcher(source);
        assertTrue(constant.find(), name);
        return product(FACTORS.matcher(constant.group(1)).results().toList().getLast().group());
    }

    private static long product(String factors) {
        long product = 1;
        for (String factor : factors.split(" \\* ")) {
            product *= Long.parseLong(factor.replaceAll("[_L]", ""));
        }
        return product;
    }

    /** Whether it stands on the page, wherever its lines end. */
    private static void assertSays(String format, Object... numbers) throws IOException {
        String text = String.format(Locale.ROOT, format, numbers);
        String page = Files.readString(ROOT.resolve("docs/reliability.md")).replaceAll("\\s+", " ");
        assertTrue(page.contains(text), () -> "docs/reliability.md does not say: " + text);
    }

    @Test
    void saysHowManyStrangersComeAndWhatIsLeftOfThem() throws IOException {
        String test = source("PortAttackTest");
        assertSays("%,d of each kind, and %,d of each with `-Pfaults`", constant(test, "FEW"), constant(test, "MANY"));
        assertSays("the others come in %d rounds, or up to %d. In %d of them the native heap grows by no more than %d bytes"
                        + " for each and %d MiB for what the JVM compiles", constant(test, "HEAP_ROUNDS"),
                constant(test, "MOST_HEAP_ROUNDS"), constant(test, "LITTLE_ROUNDS"),
                constant(test, "HEAP_PER_STRANGER"), constant(test, "HEAP_OF_JVM") / MIB);
    }

    @Test
    void saysHowLongStrangersHoldUpClients() throws IOException {
        String test = source("PortAttackTimeTest");
        assertSays("no longer than %d times what they take at a server of Netty's epoll transport to which as many"
                        + " connections are made, and %d ms.", constant(test, "TIMES_AS_LONG"),
                constant(test, "AND_MORE_NANOS"));
        assertSays("the median of %d counts; where that is too much, of more, up to %d.", constant(test, "ROUNDS"),
                constant(test, "MOST_ROUNDS"));
        assertSays("no more than %d times the processor's time that Netty's epoll transport takes",
                constant(source("StrangerCostTest"), "TIMES_AS_MUCH"));
    }

    @Test
    void saysHowSoonWhoIsGivenToAnEndedLoopIsTold() throws IOException {
        assertSays("the channel is closed | %d s in the test |",
                constant(source("EndingLoopTest"), "PROMPTLY_MILLIS") / 1000);
    }

    @Test
    void saysHowSoonAConnectIsRefused() throws IOException {
        assertSays("a connect fails: refused | %d s (at once, but for a busy machine) | `ConnectFailureTest` |",
                constant(source("ConnectFailureTest"), "REFUSED_MILLIS") / 1000);
    }

    @Test
    void saysHowManyConnectionsComeAndGoAndWhatIsLeftOfThem() throws IOException {
        String test = source("ChurnTest");
        List<Long> counts = Pattern.compile("churn\\((\\d[\\d_]*), (?:true|false)\\)").matcher(test).results()
                .map(call -> product(call.group(1))).toList();
        assertEquals(4, counts.size(), counts::toString);
        assertSays("(%,d connections closed in order and %,d reset in each build; %,d and %,d with `-Pfaults`)",
                counts.toArray());
        assertSays("In %d of %d rounds, or of up to %d, the native heap grows by no more than %d bytes for each connection"
                        + " and %d MiB for what the JVM compiles meanwhile, and in the best of them the resident memory by"
                        + " no more than %d KiB for each.", constant(test, "LITTLE_ROUNDS"), constant(test, "ROUNDS"),
                constant(test, "MOST_ROUNDS"), constant(test, "BYTES_PER_CONNECTION"),
                constant(test, "BYTES_OF_JVM") / MIB, constant(test, "RESIDENT_PER_CONNECTION") / KIB);
    }
}
