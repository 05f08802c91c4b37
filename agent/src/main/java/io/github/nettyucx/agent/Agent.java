// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent;

import java.io.File;
import java.lang.instrument.Instrumentation;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Locale;

/**
 * What {@code java -javaagent:netty-ucx-agent.jar} calls before the application's {@code main}. It says in one line why it
 * stays away if it does, and never keeps the application from starting.
 * <p>
 * It and {@link AgentClassLoader} are class files of Java 8, so that an older JVM can load them and say so. They are all
 * that is on the application's class path; everything else is in the jar as data.
 */
public final class Agent {

    /** System property: {@code off} has the agent do nothing. */
    private static final String SWITCH = "io.github.nettyucx.agent";
    private static final String STARTER = "io.github.nettyucx.agent.weave.Starter";
    private static final int REQUIRED_JAVA = 25;

    /** Whether it has been begun with. The JVM loads this class once, however often the agent is given. */
    private static boolean begun;

    private Agent() {
    }

    /**
     * @param arguments what follows the jar's name and {@code =}: {@code report}, or {@code null}
     */
    public static void premain(String arguments, Instrumentation instrumentation) {
        if (begun) {
            print("it is given more than once; what counts is the first one, with its arguments");
            return;
        }
        begun = true;
        try {
            String reason = reasonToStayAway();
            if (reason == null) {
                AgentClassLoader loader = new AgentClassLoader(ownJar());
                // Not by a Method: the JVM would first make a class for each step of getting from its arguments to these.
                MethodHandles.publicLookup().findStatic(loader.loadClass(STARTER), "start", MethodType.methodType(
                        void.class, String.class, Instrumentation.class, ClassLoader.class))
                        .invokeExact(arguments, instrumentation, (ClassLoader) loader);
            } else {
                say(reason);
            }
        } catch (Throwable t) {
            Throwable cause = t.getCause() == null ? t : t.getCause();
            // Said of an argument; its name would say nothing more.
            say(cause instanceof IllegalArgumentException ? cause.getMessage() : "the agent could not start: " + cause);
        }
    }

    private static void say(String reason) {
        print("the application runs as without the agent: " + reason);
    }

    /** Standard error, because no logging may be set up before the application does it. */
    private static void print(String what) {
        System.err.println("INFO netty-ucx-agent: " + what);
    }

    private static String reasonToStayAway() {
        if ("off".equalsIgnoreCase(System.getProperty(SWITCH, ""))) {
            return "it is switched off by -D" + SWITCH + "=off";
        }
        String java = System.getProperty("java.specification.version", "?");
        if (feature(java) < REQUIRED_JAVA) {
            return "it needs Java " + REQUIRED_JAVA + " or later, and this is Java " + java;
        }
        String system = System.getProperty("os.name", "?");
        if (!system.equals("Linux")) {
            return "it is for Linux, and this is " + system;
        }
        String machine = System.getProperty("os.arch", "?").toLowerCase(Locale.ROOT);
        if (!machine.equals("amd64") && !machine.equals("x86_64") && !machine.equals("aarch64")) {
            return "it is for x86-64 and aarch64, and this is " + machine;
        }
        return null;
    }

    /** Of a version such as 1.8 or 25; 0 if it is no such. */
    static int feature(String version) {
        try {
            return Integer.parseInt(version.startsWith("1.") ? version.substring(2) : version);
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    private static File ownJar() throws Exception {
        return new File(Agent.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    }
}
