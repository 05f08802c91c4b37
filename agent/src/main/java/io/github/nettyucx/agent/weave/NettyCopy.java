// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent.weave;

import io.github.nettyucx.agent.AgentClassLoader;

import java.security.ProtectionDomain;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/**
 * One copy of Netty: a class loader, and the package that is {@code io.netty} in it. It has a class {@code Hooks} beside
 * Netty's own, and with the first group of loops a class loader with the transport under the copy's names.
 */
public final class NettyCopy implements Supplier<Object> {

    /** Follows the names of methods that were taken over. */
    public static final String ORIGINAL = "$netty";

    private static final String HOOK_PACKAGE = "io.github.nettyucx.agent.hook.";
    private static final String TAKEOVER = "io.github.nettyucx.agent.takeover.Takeover";

    private final String root;
    private final ClassLoader loader;
    private final AgentClassLoader own;
    private final ClassDefiner definer;
    private final Relocation relocation;
    private final Weaving weaving;
    private final Report report;
    private final Class<?> hooks;
    private final Set<WovenClass> woven = EnumSet.noneOf(WovenClass.class);

    private NettyCopy(String root, ClassLoader loader, ProtectionDomain domain, AgentClassLoader own, ClassDefiner definer,
                      Report report) {
        this.root = root;
        this.loader = loader;
        this.own = own;
        this.definer = definer;
        this.report = report;
        relocation = new Relocation(root);
        weaving = new Weaving(relocation, loader);
        define(definer, domain, "Beside");
        hooks = define(definer, domain, "Hooks");
        define(definer, domain, "Hooks$Answering");
    }

    /**
     * The one copy of this class loader with this root, which is made if there is none yet. Several threads may make one at
     * the same time: the hooks keep the first. None waits for another, which may wait for the class loader that this one is
     * in the midst of.
     */
    static NettyCopy of(String root, ClassLoader loader, ProtectionDomain domain, AgentClassLoader own,
                        ClassDefiner definer, Report report) {
        NettyCopy made = new NettyCopy(root, loader, domain, own, definer, report);
        try {
            @SuppressWarnings("unchecked")
            AtomicReference<Supplier<Object>> source =
                    (AtomicReference<Supplier<Object>>) made.hooks.getField("SOURCE").get(null);
            source.compareAndSet(null, made);
            return (NettyCopy) source.get();
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("the class " + made.hooks + " is not the agent's", e);
        }
    }

    /** Or finds what another thread has defined just before. */
    private Class<?> define(ClassDefiner definer, ProtectionDomain domain, String name) {
        byte[] bytes = relocation.map(own.classBytes("hook", HOOK_PACKAGE + name));
        try {
            return definer.define(loader, hookName(name), bytes, domain);
        } catch (IllegalStateException e) {
            if (!(e.getCause() instanceof LinkageError)) {
                throw e;
            }
            try {
                return Class.forName(hookName(name), false, loader);
            } catch (ClassNotFoundException missing) {
                throw e;
            }
        }
    }

    private String hookName(String name) {
        return relocation.map((HOOK_PACKAGE + name).replace('.', '/')).replace('/', '.');
    }

    /** Where the transport is needed: its classes, with the names of this copy. Netty's first loop asks for it. */
    @Override
    public Object get() {
        try {
            BindingModule.defineFor(own);
            ClassLoader transport = new TransportClassLoader(loader, own, relocation);
            // What groups have been given, and the JDK's channels, are private there.
            Module netty = Class.forName(rootPackage() + ".channel.Channel", false, loader).getModule();
            definer.open(netty, rootPackage() + ".channel.nio", transport.getUnnamedModule());
            definer.export(netty, rootPackage(), transport.getUnnamedModule());
            return transport.loadClass(TAKEOVER).getConstructor(NettyCopy.class).newInstance(this);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e.getCause() == null ? e : e.getCause());
        }
    }

    /** @param user of the class that is woven, which looks up what that class names */
    Weaving weaving(ClassLoader user) {
        return user == loader ? weaving : new Weaving(relocation, user);
    }

    /** Whether classes of this class loader find the hooks, as those of the copy's own do. */
    boolean isVisibleIn(ClassLoader other) {
        try {
            return Class.forName(hooks.getName(), false, other) == hooks;
        } catch (ClassNotFoundException | LinkageError e) {
            return false;
        }
    }

    void hasWoven(WovenClass kind) {
        synchronized (woven) {
            woven.add(kind);
        }
    }

    // ------------------------------------------------------------------------------------------- for the takeover

    /** The package that is {@code io.netty} in this copy. */
    public String rootPackage() {
        return root.replace('/', '.');
    }

    /** The class loader that has it. */
    public ClassLoader loader() {
        return loader;
    }

    /** Whether channels of all kinds find loops that take them: no loop may be replaced otherwise. */
    public boolean registersByHook() {
        try {
            // A JVM that does not verify classes may have had no use for it yet.
            Class.forName(WovenClass.UNSAFE.name(root).replace('/', '.'), false, loader);
        } catch (ClassNotFoundException | LinkageError e) {
            return false;
        }
        synchronized (woven) {
            return woven.contains(WovenClass.UNSAFE);
        }
    }

    /** {@code null} if nobody wants one. */
    public Report report() {
        return report;
    }
}
