// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent.weave;

import io.github.nettyucx.agent.AgentClassLoader;

import java.lang.instrument.Instrumentation;

/** Begins to look at classes. Called by the agent's entry, which may be of an older Java. */
public final class Starter {

    private static final String REPORT = "report";

    private Starter() {
    }

    /**
     * @param arguments {@code report}, or {@code null}
     * @throws IllegalArgumentException if there are others
     */
    public static void start(String arguments, Instrumentation instrumentation, ClassLoader own) {
        Report report = reports(arguments) ? new Report() : null;
        ClassDefiner definer = new ClassDefiner(instrumentation);
        instrumentation.addTransformer(new Weaver((AgentClassLoader) own, definer, report));
        if (report != null) {
            Runtime.getRuntime().addShutdownHook(new Thread("netty-ucx-agent-report") {
                @Override
                public void run() {
                    report.print();
                }
            });
        }
    }

    /** Without a lambda here and above: an application that has none would wait for what the JVM needs for its first one. */
    private static boolean reports(String arguments) {
        boolean reports = false;
        for (String each : arguments == null ? new String[0] : arguments.split(",")) {
            String argument = each.strip();
            if (argument.equals(REPORT)) {
                reports = true;
            } else if (!argument.isEmpty()) {
                throw new IllegalArgumentException("'" + argument + "' is not known (expected: -javaagent:JAR, or"
                        + " -javaagent:JAR=" + REPORT + ")");
            }
        }
        return reports;
    }
}
