// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.library;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * The variables that UCX reads while it is being loaded, and for each context, and what they have to be inside a JVM.
 *
 * <p>They are set in the process's own environment just before UCX is loaded. Where the user has exported a variable
 * that stays, unless the setting is {@linkplain Setting#mandatory mandatory}: then it is overridden, with a warning.
 * Child processes inherit them, unless they are given an environment of their own.
 */
public final class UcxEnvironment {
    /**
     * One variable.
     *
     * @param name      name of the environment variable
     * @param value     what it is set to
     * @param mandatory whether what the user has exported is overridden, rather than kept
     * @param why       the reason, a phrase
     */
    public record Setting(String name, String value, boolean mandatory, String why) {
        /** One that the user may override. */
        Setting(String name, String value, String why) {
            this(name, value, false, why);
        }

        /** Whether UCX reads {@code exported} as it reads {@link #value}. */
        boolean isSaidBy(String exported) {
            return exported.equalsIgnoreCase(value)
                    || value.equals("n") && NO.contains(exported.toLowerCase(Locale.ROOT));
        }
    }

    /** What UCX reads as no. */
    private static final Set<String> NO = Set.of("n", "no", "0", "off");

    private static final Path INFINIBAND_DEVICES = Path.of("/sys/class/infiniband");

    private static final String MODULES = "UCX_MODULE_DIR";

    /** UCX reads them once, when it is loaded. */
    private static final List<Setting> AT_LOAD = List.of(
            new Setting("UCX_HANDLE_ERRORS", "none",
                    "UCX must not print a backtrace, attach a debugger or freeze in the JVM's place when a signal comes"),
            new Setting("UCX_ERROR_SIGNALS", "",
                    "SIGSEGV, SIGBUS and SIGFPE belong to the JVM, which uses them for null checks and safepoints"),
            new Setting("UCX_DEBUG_SIGNO", "0",
                    "SIGHUP belongs to the JVM, which shuts down in good order on it"),
            new Setting("UCX_LOG_FILE", "stderr",
                    "standard output belongs to the application; UCX would write its warnings there"),
            new Setting(MODULES, "",
                    "modules are those beside the library; a ucx.conf in the working directory could name others"),
            new Setting("UCX_VFS_ENABLE", "n",
                    "no thread and no FUSE file system for introspection"),
            new Setting("UCX_ASYNC_MAX_EVENTS", "65536",
                    "the default of some releases, 1024 descriptors for the whole process, ends at about 500 connections"));

    /** UCX reads them for each context and each of its interfaces, however long ago it was loaded. */
    private static final List<Setting> FOR_EACH_CONTEXT = List.of(
            new Setting("UCX_MM_ERROR_HANDLING", "y",
                    "endpoints that are told of their peer's failure use shared memory only with it; "
                            + "by a change of the configuration, UCX 1.16 warns that it is invalid"),
            new Setting("UCX_MM_ALLOC", "md",
                    "when /dev/shm is full UCX would go on with memory that is not shared, and crash the process"),
            new Setting("UCX_MM_RX_BUFS_GROW", "288",
                    "a worker takes its receive segments for each of its two kinds of shared memory before it has a peer: "
                            + "256 are enough for its queue, and with 512, the default, half of them lie idle"),
            new Setting("UCX_TCP_CONN_NB", "y",
                    "an endpoint over tcp connects when it is made, which would block the thread"),
            new Setting("UCX_TCP_TX_SEG_SIZE", "128k",
                    "pieces of 8 KiB, the default, cost a system call and a header each"),
            new Setting("UCX_TCP_RX_SEG_SIZE", "128k",
                    "the other side of it; with 64k, the default, 64 KiB and a header are two pieces"),
            new Setting("UCX_USE_MT_MUTEX", "y",
                    "a loop and UCX's own thread on one processor would spin for the rest of their time slices"));

    /**
     * With its registration cache, which memory events make possible, UCX hands the memory of a failed rendezvous back
     * in a callback that waits for the last user of the memory's registration, and uses a worker and a request that may
     * have been freed by then.
     */
    private static final Setting NO_MEMORY_EVENTS = new Setting("UCX_MEM_EVENTS", "n", true,
            "with UCX's registration cache on, a peer that is killed in a rendezvous crashes the survivor");

    /**
     * Earlier releases crash without memory events: closing an endpoint by force invalidates the memory of a
     * rendezvous in a registration cache that is not there (openucx/ucx#11467).
     */
    private static final UcxVersion MEMORY_EVENTS_OPTIONAL = new UcxVersion(1, 22, 0);

    private static final Setting NO_RENDEZVOUS = new Setting("UCX_RNDV_THRESH", "inf", true,
            "UCX before 1.22 crashes without memory events when an endpoint is closed by force during a rendezvous");

    /** Earlier releases do not know it. */
    private static final Setting NO_PLUGINS = new Setting("UCX_PLUGIN_PATH", "",
            "plugins are none; a ucx.conf in the working directory could name some");

    private static final Setting LATE_RENDEZVOUS = new Setting("UCX_RNDV_THRESH", "1m",
            "without an RDMA device a rendezvous saves no copy, and costs a round trip");

    /** Quiet about variables that no chosen transport reads, which would be ours: the user has set none. */
    private static final Setting NO_UNUSED_WARNING = new Setting("UCX_WARN_UNUSED_ENV_VARS", "n",
            "settings of transports that are not in use are no mistake of the user's, who has set no variable of UCX");

    private UcxEnvironment() {
    }

    /**
     * The settings for this machine, in the order in which they are made.
     *
     * @param version of the UCX that is to be loaded; {@link UcxVersion#MINIMUM} if it is not known before that
     */
    public static List<Setting> settings(UcxVersion version) {
        return settings(version, hasRdmaDevice(), hasSettings(System.getenv().keySet()));
    }

    /** {@code UCX_HOME} says where a UCX is, and means nothing to UCX itself, which would call it unused. */
    static boolean hasSettings(Set<String> environment) {
        for (String name : environment) {
            if (name.startsWith("UCX_") && !name.equals("UCX_HOME")) {
                return true;
            }
        }
        return false;
    }

    static List<Setting> settings(UcxVersion version, boolean rdma, boolean userSettings) {
        List<Setting> settings = new ArrayList<>(AT_LOAD);
        settings.addAll(FOR_EACH_CONTEXT);
        settings.add(NO_MEMORY_EVENTS);
        if (version.compareTo(MEMORY_EVENTS_OPTIONAL) < 0) {
            settings.add(NO_RENDEZVOUS);
        } else {
            settings.add(NO_PLUGINS);
            if (!rdma) {
                settings.add(LATE_RENDEZVOUS);
            }
        }
        if (!userSettings) {
            settings.add(NO_UNUSED_WARNING);
        }
        return List.copyOf(settings);
    }

    /** @return what was there before, for {@link Environ#put}, if the UCX turns out to be of no use */
    static Map<String, String> apply(UcxVersion version, Path library) {
        List<Setting> settings = new ArrayList<>(settings(version));
        settings.replaceAll(each -> each.name().equals(MODULES)
                ? new Setting(MODULES, modulesOf(library), each.mandatory(), each.why()) : each);
        return apply(settings);
    }

    /** UCX looks for modules beside the name that it was loaded by, and they are beside the file. */
    private static String modulesOf(Path library) {
        try {
            Path directory = library.toRealPath().getParent();
            return directory.equals(library.toAbsolutePath().getParent()) ? "" : directory.resolve("ucx").toString();
        } catch (IOException e) {
            // The linker says what is wrong with it.
            return "";
        }
    }

    /**
     * For a UCX that something else has loaded: what it reads when it is loaded, it has read. Without a rendezvous memory
     * events do no harm.
     */
    static void applyToLoaded(UcxVersion version) {
        List<Setting> settings = new ArrayList<>(FOR_EACH_CONTEXT);
        String exported = Libc.getenv(NO_MEMORY_EVENTS.name());
        boolean off = exported != null && NO_MEMORY_EVENTS.isSaidBy(exported);
        if (!off) {
            Logs.of(UcxEnvironment.class).log(Level.WARNING, "UCX was loaded without " + NO_MEMORY_EVENTS.name() + '='
                    + NO_MEMORY_EVENTS.value() + ", so that there must be no rendezvous: " + NO_MEMORY_EVENTS.why());
        }
        if (!off || version.compareTo(MEMORY_EVENTS_OPTIONAL) < 0) {
            settings.add(NO_RENDEZVOUS);
        }
        apply(settings);
    }

    /** All at once: see {@link Environ}. */
    private static Map<String, String> apply(List<Setting> settings) {
        Map<String, String> variables = new LinkedHashMap<>();
        Map<String, String> before = new LinkedHashMap<>();
        for (Setting setting : settings) {
            String exported = Libc.getenv(setting.name());
            if (exported == null || setting.mandatory()) {
                variables.put(setting.name(), setting.value());
                before.put(setting.name(), exported);
            }
            if (exported != null && setting.mandatory() && !setting.isSaidBy(exported)) {
                Logs.of(UcxEnvironment.class).log(Level.WARNING, setting.name() + '=' + exported + " is overridden by "
                        + setting.name() + '=' + setting.value() + ": " + setting.why());
            }
        }
        Environ.put(variables);
        return before;
    }

    /** Whether the kernel of this host knows a device for RDMA. */
    public static boolean hasRdmaDevice() {
        try (DirectoryStream<Path> devices = Files.newDirectoryStream(INFINIBAND_DEVICES)) {
            return devices.iterator().hasNext();
        } catch (IOException e) {
            return false;
        }
    }
}
