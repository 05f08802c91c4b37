// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent.weave;

import io.github.nettyucx.agent.AgentClassLoader;

import java.lang.instrument.Instrumentation;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;

/** Begins to look at classes. Called by the agent's entry, which may be of an older Java. */
public final class Starter {

    private static final String REPORT = "report";

    private Starter() {
    }

    /**
     * @param arguments {@code report}, or {@code null}
     * @throws IllegalArgumentException if there are others
     */
    public static void start(String arguments, Instrumentation instrumentation, ClassLoader own)
            throws ReflectiveOperationException {
        Report report = null;
        for (String argument : arguments(arguments)) {
            if (!argument.equals(REPORT)) {
                throw new IllegalArgumentException("'" + argument + "' is not known (expected: -javaagent:JAR, or"
                        + " -javaagent:JAR=" + REPORT + ")");
            }
            report = new Report();
        }
        ClassDefiner definer = new ClassDefiner(instrumentation);
        BindingModule.defineFor(own);
        instrumentation.addTransformer(new Weaver((AgentClassLoader) own, definer, report));
        if (report != null) {
            Runtime.getRuntime().addShutdownHook(new Thread(report::print, "netty-ucx-agent-report"));
        }
    }

    private static Set<String> arguments(String text) {
        Set<String> arguments = new TreeSet<>();
        if (text != null) {
            Arrays.stream(text.split(",")).map(String::strip).filter(each -> !each.isEmpty()).forEach(arguments::add);
        }
        return arguments;
    }
}
