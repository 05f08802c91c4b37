// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.platform.commons.support.AnnotationSupport;
import org.junit.platform.commons.support.HierarchyTraversalMode;
import org.opentest4j.AssertionFailedError;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.annotation.Annotation;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

/** The program of a {@link LaneJvm}: runs methods of test classes, whose names it reads from its input. */
final class LaneMain {

    /** What stands before an answer in the output: the test and UCX write there as well. */
    static final String ANSWER = "\u0001answer:";
    /** In the place of an answer: the process has ended. */
    static final String GONE = "";
    private static final String PASSED = "passed";

    private LaneMain() {
    }

    public static void main(String[] arguments) throws IOException {
        // Also in the middle of a test, which may take minutes and start processes.
        ProcessHandle.current().parent().orElseThrow().onExit().thenRun(() -> Runtime.getRuntime().halt(1));
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
        for (String command = commands.readLine(); command != null; command = commands.readLine()) {
            String answer = PASSED;
            try {
                int space = command.indexOf(' ');
                run(Class.forName(command.substring(0, space)), command.substring(space + 1));
            } catch (Throwable failure) {
                StringWriter trace = new StringWriter();
                failure.printStackTrace(new PrintWriter(trace));
                answer = Base64.getEncoder().encodeToString(trace.toString().getBytes(StandardCharsets.UTF_8));
            }
            System.out.println(ANSWER + answer);
        }
        System.exit(1);
    }

    /** In the other JVM: fails as the test did. */
    static void check(String answer, Lane lane) {
        if (!answer.equals(PASSED)) {
            throw new AssertionFailedError("on lane " + lane + ": "
                    + new String(Base64.getDecoder().decode(answer), StandardCharsets.UTF_8));
        }
    }

    private static void run(Class<?> testClass, String name) throws Throwable {
        Constructor<?> constructor = testClass.getDeclaredConstructor();
        constructor.setAccessible(true);
        Object test = constructor.newInstance();
        Throwable failure = null;
        try {
            invokeAll(test, BeforeEach.class, HierarchyTraversalMode.TOP_DOWN);
            Method method = testClass.getDeclaredMethod(name);
            invoke(test, method);
        } catch (Throwable t) {
            failure = t;
        }
        try {
            invokeAll(test, AfterEach.class, HierarchyTraversalMode.BOTTOM_UP);
        } catch (Throwable t) {
            if (failure == null) {
                failure = t;
            } else {
                failure.addSuppressed(t);
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    /** Those of superclasses as well. */
    private static void invokeAll(Object test, Class<? extends Annotation> annotation, HierarchyTraversalMode order)
            throws Throwable {
        for (Method method : AnnotationSupport.findAnnotatedMethods(test.getClass(), annotation, order)) {
            invoke(test, method);
        }
    }

    private static void invoke(Object test, Method method) throws Throwable {
        method.setAccessible(true);
        try {
            method.invoke(test);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
