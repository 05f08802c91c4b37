// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent;

import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Runs the echo application in this class loader, with plain Netty, and in others, with relocated ones and with Netty. */
public final class SeveralCopies {

    private SeveralCopies() {
    }

    public static void main(String[] jars) throws Exception {
        EchoApplication.main(new String[] {"NIO"});
        for (String jar : jars) {
            // With the classes of this class path in sight, under the plain names.
            run(new URLClassLoader(new URL[] {Path.of(jar).toUri().toURL()}) {
                @Override
                protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
                    synchronized (getClassLoadingLock(name)) {
                        Class<?> known = findLoadedClass(name);
                        return known != null ? known
                                : name.startsWith("io.github.nettyucx.agent.") ? findClass(name)
                                : super.loadClass(name, resolve);
                    }
                }
            });
        }
        // The plain names once more, as a container of applications has them.
        List<URL> classPath = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(":")) {
            classPath.add(Path.of(entry).toUri().toURL());
        }
        run(new URLClassLoader(classPath.toArray(URL[]::new), ClassLoader.getPlatformClassLoader()));
        System.out.println("contexts " + Histogram.count("io.github.nettyucx.ucp.UcpContext"));
    }

    private static void run(URLClassLoader loader) throws Exception {
        loader.loadClass(EchoApplication.class.getName()).getMethod("main", String[].class)
                .invoke(null, (Object) new String[] {"NIO"});
    }
}
