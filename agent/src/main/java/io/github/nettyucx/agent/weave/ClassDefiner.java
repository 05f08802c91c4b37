// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent.weave;

import java.lang.instrument.Instrumentation;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Method;
import java.security.ProtectionDomain;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/** Defines a class in a class loader of the application's, and links modules of it: the JVM gives agents the right. */
final class ClassDefiner {

    private final Instrumentation instrumentation;
    /**
     * Made for the first class: programs without Netty need none. Not a {@code Method}: the JVM would first make a class for
     * each step of getting from its arguments to this shape.
     */
    private volatile MethodHandle defineClass;

    ClassDefiner(Instrumentation instrumentation) {
        this.instrumentation = instrumentation;
    }

    /** Opens {@code java.lang} to the agent's own module, if it is not yet. Before the binding's module is made. */
    synchronized void prepare() throws ReflectiveOperationException {
        if (defineClass == null) {
            instrumentation.redefineModule(Object.class.getModule(), Set.of(), Map.of(),
                    Map.of("java.lang", Set.of(ClassDefiner.class.getModule())), Set.of(), Map.of());
            Method method = ClassLoader.class.getDeclaredMethod("defineClass", String.class, byte[].class, int.class,
                    int.class, ProtectionDomain.class);
            method.setAccessible(true);
            defineClass = MethodHandles.lookup().unreflect(method);
        }
    }

    /** After {@link #prepare()}. */
    Class<?> define(ClassLoader loader, String name, byte[] bytes, ProtectionDomain domain) {
        try {
            return (Class<?>) defineClass.invokeExact(loader, name, bytes, 0, bytes.length, domain);
        } catch (Throwable t) {
            throw new IllegalStateException(name + " cannot be defined: " + t, t);
        }
    }

    /** Classes of a module that names what it reads do not find those that are defined beside it otherwise. */
    void letRead(Module module, Module other) {
        if (!module.canRead(other)) {
            instrumentation.redefineModule(module, Set.of(other), Map.of(), Map.of(), Set.of(), Map.of());
        }
    }

    /**
     * The other way round: gives another module the right to use a package's public classes, and those of the packages below
     * it. A library that has Netty inside, and is a module, keeps them to itself.
     */
    void export(Module module, String root, Module other) {
        if (!module.isNamed()) {
            return;
        }
        Map<String, Set<Module>> kept = new HashMap<>();
        for (String each : module.getPackages()) {
            if ((each.equals(root) || each.startsWith(root + '.')) && !module.isExported(each, other)) {
                kept.put(each, Set.of(other));
            }
        }
        if (!kept.isEmpty()) {
            instrumentation.redefineModule(module, Set.of(), kept, Map.of(), Set.of(), Map.of());
        }
    }

    /** Gives another module the right to make what is private in a package accessible, if there is that package. */
    void open(Module module, String inside, Module other) {
        if (!module.isOpen(inside, other) && module.getPackages().contains(inside)) {
            instrumentation.redefineModule(module, Set.of(), Map.of(), Map.of(inside, Set.of(other)), Set.of(), Map.of());
        }
    }
}
