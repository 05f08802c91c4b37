// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent.weave;

import io.github.nettyucx.agent.AgentClassLoader;

import java.lang.instrument.ClassFileTransformer;
import java.lang.ref.WeakReference;
import java.security.ProtectionDomain;
import java.util.HashMap;
import java.util.Map;
import java.util.WeakHashMap;

/** Sees every class that the JVM loads, and has those of Netty's ask that are to. */
final class Weaver implements ClassFileTransformer {

    private final AgentClassLoader own;
    private final ClassDefiner definer;
    private final Report report;
    /** By class loader, and there by root. A copy lives as long as its class loader, whose classes hold it. */
    private final Map<ClassLoader, Map<String, WeakReference<NettyCopy>>> copies = new WeakHashMap<>();

    Weaver(AgentClassLoader own, ClassDefiner definer, Report report) {
        this.own = own;
        this.definer = definer;
        this.report = report;
    }

    @Override
    public byte[] transform(Module module, ClassLoader loader, String name, Class<?> redefined, ProtectionDomain domain,
                            byte[] bytes) {
        if (name == null || loader == null) {
            return null;
        }
        WovenClass kind = WovenClass.of(name);
        if (kind == null) {
            return null;
        }
        try {
            NettyCopy copy = copyOf(kind, name, loader, domain);
            byte[] woven = copy == null ? null : copy.weaving(loader).weave(kind, bytes);
            if (woven != null) {
                definer.letRead(module, copy.loader().getUnnamedModule());
                definer.export(module, copy.rootPackage(), copy.loader().getUnnamedModule());
                copy.hasWoven(kind);
            }
            return woven;
        } catch (Throwable t) {
            // What is thrown from here the JVM drops silently. The class stays as it was.
            System.err.println("INFO netty-ucx-agent: " + name.replace('/', '.') + " of " + loader + " stays as it was: " + t);
            return null;
        }
    }

    /** @return {@code null} if it cannot be served */
    private NettyCopy copyOf(WovenClass kind, String name, ClassLoader loader, ProtectionDomain domain)
            throws ReflectiveOperationException {
        String root = kind.root(name);
        if (!isNetty(root, loader)) {
            return null;
        }
        definer.prepare();
        if (kind.isGroup()) {
            Preloading.begin(own);
        }
        if (kind.isCore()) {
            return copyIn(loader, root, domain);
        }
        // Its superclass's class loader, which is about to be asked for it anyway.
        Class<?> core = Class.forName(root.replace('/', '.') + ".channel.EventLoopGroup", false, loader);
        if (core.getClassLoader() == null) {
            return null;
        }
        NettyCopy copy = copyIn(core.getClassLoader(), root, core.getProtectionDomain());
        return copy.isVisibleIn(loader) ? copy : null;
    }

    /** Other libraries have classes of such names as well. */
    private static boolean isNetty(String root, ClassLoader loader) {
        return loader.getResource(root + "/util/concurrent/SingleThreadEventExecutor.class") != null;
    }

    private NettyCopy copyIn(ClassLoader loader, String root, ProtectionDomain domain) {
        synchronized (copies) {
            WeakReference<NettyCopy> known = copies.getOrDefault(loader, Map.of()).get(root);
            NettyCopy copy = known == null ? null : known.get();
            if (copy != null) {
                return copy;
            }
        }
        // Not in the map's lock: classes are defined, and the class loader may have a lock for that, which another thread
        // may have that comes here.
        NettyCopy copy = NettyCopy.of(root, loader, domain, own, definer, report);
        synchronized (copies) {
            copies.computeIfAbsent(loader, key -> new HashMap<>()).put(root, new WeakReference<>(copy));
        }
        return copy;
    }
}
