// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent.weave;

import io.github.nettyucx.agent.AgentClassLoader;

import java.security.ProtectionDomain;

/**
 * Has the transport under the names of one copy of Netty. Below the copy's class loader, so that an application sees
 * nothing of it, even if it has a transport of its own. What knows no Netty is the agent's, and so there once.
 */
final class TransportClassLoader extends ClassLoader {

    private static final String OURS = "io.github.nettyucx.";
    private static final String DIRECTORY = "transport";

    static {
        registerAsParallelCapable();
    }

    private final AgentClassLoader own;
    private final Relocation relocation;
    private final ProtectionDomain domain = TransportClassLoader.class.getProtectionDomain();

    TransportClassLoader(ClassLoader netty, AgentClassLoader own, Relocation relocation) {
        super("netty-ucx", netty);
        this.own = own;
        this.relocation = relocation;
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (!name.startsWith(OURS)) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> known = findLoadedClass(name);
            if (known != null) {
                return known;
            }
            byte[] bytes = own.classBytes(DIRECTORY, name);
            if (bytes == null) {
                return own.loadClass(name);
            }
            byte[] mapped = relocation.keeps(name) ? bytes : relocation.map(bytes);
            return defineClass(name, mapped, 0, mapped.length, domain);
        }
    }
}
