// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.library;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class UcxEnvironmentTest {
    private static final UcxVersion NEW = new UcxVersion(1, 22, 0);

    private static final UcxVersion OLD = new UcxVersion(1, 21, 9);

    private static List<String> names(boolean userSettings) {
        return UcxEnvironment.settings(NEW, false, userSettings).stream().map(UcxEnvironment.Setting::name).toList();
    }

    private static UcxEnvironment.Setting setting(String name, UcxVersion version, boolean rdma) {
        return UcxEnvironment.settings(version, rdma, true).stream().filter(setting -> setting.name().equals(name))
                .findFirst().orElse(null);
    }

    @Test
    void switchesMemoryEventsOffWhateverTheMachineAndTheRelease() {
        for (UcxVersion version : List.of(UcxVersion.MINIMUM, OLD, NEW)) {
            for (boolean rdma : new boolean[] {false, true}) {
                UcxEnvironment.Setting setting = setting("UCX_MEM_EVENTS", version, rdma);
                assertEquals("n", setting.value());
                assertTrue(setting.mandatory());
            }
        }
    }

    @Test
    void forbidsTheRendezvousWhereUcxCrashesInItWithoutMemoryEvents() {
        for (boolean rdma : new boolean[] {false, true}) {
            UcxEnvironment.Setting setting = setting("UCX_RNDV_THRESH", OLD, rdma);
            assertEquals("inf", setting.value());
            assertTrue(setting.mandatory());
        }
    }

    @Test
    void leavesTheRendezvousToTheUserWhereItDoesNoHarm() {
        assertFalse(setting("UCX_RNDV_THRESH", NEW, false).mandatory());
        assertNull(setting("UCX_RNDV_THRESH", NEW, true), "UCX's own choice is the best with RDMA");
    }

    @Test
    void saysNothingOfListenersWhichAreNotUsed() {
        assertTrue(names(false).stream().noneMatch(name -> name.contains("_CM_")));
    }

    /** What 1.16 needs is not for the one that is tried next. */
    @Test
    void takesBackWhatIsSetForALibraryThatCannotBeLoaded(@TempDir Path directory) throws Exception {
        Path library = Files.writeString(directory.resolve("libucp.so.0"), "no library");
        Map<String, String> before = ofUcx();
        assertThrows(LibraryRejected.class,
                () -> LoadedUcx.open(library, Optional.of(new UcxVersion(1, 16, 0)), "system"));
        assertEquals(before, ofUcx());
    }

    private static Map<String, String> ofUcx() {
        Map<String, String> variables = new TreeMap<>();
        for (UcxEnvironment.Setting setting : UcxEnvironment.settings(new UcxVersion(1, 16, 0))) {
            variables.put(setting.name(), String.valueOf(Libc.getenv(setting.name())));
        }
        return variables;
    }

    @Test
    void setsEachVariableOnce() {
        for (UcxVersion version : List.of(OLD, NEW)) {
            List<String> names = UcxEnvironment.settings(version, false, false).stream()
                    .map(UcxEnvironment.Setting::name).toList();
            assertEquals(Set.copyOf(names).size(), names.size(), names::toString);
        }
    }

    @Test
    void knowsWhatSaysTheSame() {
        UcxEnvironment.Setting events = setting("UCX_MEM_EVENTS", NEW, false);
        for (String no : List.of("n", "N", "no", "0", "off")) {
            assertTrue(events.isSaidBy(no), no);
        }
        for (String yes : List.of("y", "1", "", "try")) {
            assertFalse(events.isSaidBy(yes), yes);
        }
        UcxEnvironment.Setting rendezvous = setting("UCX_RNDV_THRESH", OLD, false);
        assertTrue(rendezvous.isSaidBy("INF"));
        assertFalse(rendezvous.isSaidBy("0"));
    }

    @Test
    void warnsOfUnusedVariablesOnlyWhereTheUserHasSetSome() {
        assertTrue(names(false).contains("UCX_WARN_UNUSED_ENV_VARS"));
        assertFalse(names(true).contains("UCX_WARN_UNUSED_ENV_VARS"));
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
        long before = Libc.locale();
        long during = UcxLibrary.withNumericLocaleC(Libc::locale);
        assertNotEquals(before, during);
        assertEquals(before, Libc.locale());
        assertThrows(IllegalStateException.class, () -> UcxLibrary.withNumericLocaleC(() -> {
            throw new IllegalStateException("of the action");
        }));
        assertEquals(before, Libc.locale());
    }

    @Test
    void runsTheActionOfAVirtualThreadOnAPlatformThread() throws Exception {
        boolean[] virtual = {true};
        Thread.ofVirtual().start(() -> virtual[0] = UcxLibrary.withNumericLocaleC(() -> Thread.currentThread().isVirtual()))
                .join();
        assertEquals(false, virtual[0]);
    }
}
