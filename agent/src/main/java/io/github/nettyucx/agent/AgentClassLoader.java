// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.MalformedURLException;
import java.net.URL;
import java.security.ProtectionDomain;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;

/**
 * Loads what the agent's jar has as data: the agent itself, and the binding of UCX, which is one for the process. It sees
 * the JDK, and nothing of the application.
 */
public final class AgentClassLoader extends ClassLoader {

    /** Directories of the jar. Their classes have another suffix, so that nobody takes them for the class path's. */
    private static final String ROOT = "netty-ucx/";
    private static final String AGENT = ROOT + "agent/";
    private static final String BINDING = ROOT + "binding/";
    private static final String SUFFIX = ".classdata";

    private static final int BUFFER = 16 * 1024;

    static {
        registerAsParallelCapable();
    }

    private final JarFile jar;
    private final String url;
    private final ProtectionDomain domain = AgentClassLoader.class.getProtectionDomain();

    AgentClassLoader(File file) throws IOException {
        super(jdk());
        jar = new JarFile(file);
        url = "jar:" + file.toURI() + "!/";
    }

    /** The topmost class loader, whatever the application's is. */
    private static ClassLoader jdk() {
        ClassLoader top = getSystemClassLoader();
        while (top.getParent() != null) {
            top = top.getParent();
        }
        return top;
    }

    /**
     * The bytes of a class that others define.
     *
     * @param directory below the jar's directory for such things
     * @param name      with dots
     * @return {@code null} if there is no such
     */
    public byte[] classBytes(String directory, String name) {
        return read(ROOT + directory + '/' + name.replace('.', '/') + SUFFIX);
    }

    private byte[] read(String path) {
        JarEntry entry = jar.getJarEntry(path);
        if (entry == null) {
            return null;
        }
        try (InputStream in = jar.getInputStream(entry)) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream(Math.max(BUFFER, (int) entry.getSize()));
            byte[] buffer = new byte[BUFFER];
            for (int length = in.read(buffer); length >= 0; length = in.read(buffer)) {
                bytes.write(buffer, 0, length);
            }
            return bytes.toByteArray();
        } catch (IOException e) {
            throw new IllegalStateException(jar.getName() + " cannot be read: " + path, e);
        }
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
        if (name.equals(AgentClassLoader.class.getName())) {
            // Of the class path, which is not asked otherwise.
            return AgentClassLoader.class;
        }
        String path = name.replace('.', '/') + SUFFIX;
        byte[] bytes = read(AGENT + path);
        if (bytes == null) {
            bytes = read(BINDING + path);
        }
        if (bytes == null) {
            throw new ClassNotFoundException(name);
        }
        return defineClass(name, bytes, 0, bytes.length, domain);
    }

    /** Called for a class of a named module, the binding's. */
    protected Class<?> findClass(String module, String name) {
        try {
            return findClass(name);
        } catch (ClassNotFoundException e) {
            return null;
        }
    }

    @Override
    protected URL findResource(String name) {
        if (jar.getJarEntry(BINDING + name) == null) {
            return null;
        }
        try {
            return new URL(url + BINDING + name);
        } catch (MalformedURLException e) {
            return null;
        }
    }
}
