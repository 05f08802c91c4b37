// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.library;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodType;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class UcxEnvironmentTest {
    private static final UcxVersion NEW = new UcxVersion(1, 22, 0);

    private static List<String> names(boolean rdma) {
        return names(rdma, true);
    }

    private static List<String> names(boolean rdma, boolean userSettings) {
        return UcxEnvironment.settings(NEW, rdma, userSettings).stream().map(UcxEnvironment.Setting::name).toList();
    }

    @Test
    void keepsMemoryEventsWhereRdmaNeedsThem() {
        assertTrue(names(false).contains("UCX_MEM_EVENTS"));
        assertTrue(!names(true).contains("UCX_MEM_EVENTS"));
    }

    @Test
    void setsWhatOnlyRdmaReadsOnlyWhereThereIsRdma() {
        assertTrue(names(true).contains("UCX_RDMA_CM_REUSEADDR"));
        assertTrue(names(false).stream().noneMatch(name -> name.startsWith("UCX_RDMA_")));
    }

    @Test
    void keepsMemoryEventsWhereUcxCrashesWithoutThem() {
        assertTrue(UcxEnvironment.settings(new UcxVersion(1, 21, 0), false, true).stream()
                .noneMatch(setting -> setting.name().equals("UCX_MEM_EVENTS")));
    }

    @Test
    void warnsOfUnusedVariablesOnlyWhereTheUserHasSetSome() {
        assertTrue(names(false, false).contains("UCX_WARN_UNUSED_ENV_VARS"));
        assertTrue(!names(false, true).contains("UCX_WARN_UNUSED_ENV_VARS"));
    }

    @Test
    void knowsWhichVariablesAreSettingsOfTheUser() {
        assertTrue(UcxEnvironment.hasSettings(Set.of("PATH", "UCX_HOME", "UCX_TLS")));
        assertFalse(UcxEnvironment.hasSettings(Set.of("PATH", "UCX_HOME", "HPCX_UCX_DIR")));
    }

    @Test
    void saysWhyOfEachSetting() {
        for (UcxEnvironment.Setting setting : UcxEnvironment.settings(NEW)) {
            assertTrue(setting.name().startsWith("UCX_"));
            assertTrue(setting.why().length() > 20, setting.name());
        }
    }

    @Test
    void changesTheNumericLocaleOfThisThreadOnlyWhileTheActionRuns() throws Throwable {
        long before = locale();
        long during = UcxLibrary.withNumericLocaleC(UcxEnvironmentTest::localeUnchecked);
        assertNotEquals(before, during);
        assertEquals(before, locale());
        assertThrows(IllegalStateException.class, () -> UcxLibrary.withNumericLocaleC(() -> {
            throw new IllegalStateException("of the action");
        }));
        assertEquals(before, locale());
    }

    @Test
    void runsTheActionOfAVirtualThreadOnAPlatformThread() throws Exception {
        boolean[] virtual = {true};
        Thread.ofVirtual().start(() -> virtual[0] = UcxLibrary.withNumericLocaleC(() -> Thread.currentThread().isVirtual()))
                .join();
        assertEquals(false, virtual[0]);
    }

    private static long localeUnchecked() {
        try {
            return locale();
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }

    /** The locale of this thread; asking for none leaves it. */
    private static long locale() throws Throwable {
        MethodHandle uselocale = Libc.bind(Linker.nativeLinker().defaultLookup().find("uselocale").orElseThrow(),
                MethodType.methodType(MemorySegment.class, MemorySegment.class));
        return ((MemorySegment) uselocale.invokeExact(MemorySegment.NULL)).address();
    }
}
