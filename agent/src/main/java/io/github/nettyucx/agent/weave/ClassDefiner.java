// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent.weave;

import java.lang.instrument.Instrumentation;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.security.ProtectionDomain;
import java.util.Map;
import java.util.Set;

/** Defines a class in a class loader of the application's, to which the JVM gives agents the right. */
final class ClassDefiner {

    private final Method defineClass;

    /** Opens {@code java.lang} to the agent's own module. */
    ClassDefiner(Instrumentation instrumentation) throws ReflectiveOperationException {
        instrumentation.redefineModule(Object.class.getModule(), Set.of(), Map.of(),
                Map.of("java.lang", Set.of(ClassDefiner.class.getModule())), Set.of(), Map.of());
        defineClass = ClassLoader.class.getDeclaredMethod("defineClass", String.class, byte[].class, int.class,
                int.class, ProtectionDomain.class);
        defineClass.setAccessible(true);
    }

    Class<?> define(ClassLoader loader, String name, byte[] bytes, ProtectionDomain domain) {
        try {
            return (Class<?>) defineClass.invoke(loader, name, bytes, 0, bytes.length, domain);
        } catch (InvocationTargetException e) {
            throw new IllegalStateException(name + " cannot be defined: " + e.getCause(), e.getCause());
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }
}
