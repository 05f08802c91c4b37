// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent;

import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Two threads load the first classes of one copy of Netty: one by the copy's class loader, which locks itself for that, one
 * by another below it. Then runs the echo application there.
 */
public final class TwoLoaders {

    private static final int SECONDS = 20;
    private static final String OTHER = "io.netty.channel.epoll.EpollEventLoopGroup";

    private static final CountDownLatch locked = new CountDownLatch(1);
    private static volatile Thread locking;
    private static volatile Thread other;

    private TwoLoaders() {
    }

    /** Not capable of loading in parallel, as it does not say so. */
    private static final class Locking extends URLClassLoader {

        Locking(URL[] classPath) {
            super(classPath, ClassLoader.getPlatformClassLoader());
        }

        /** The agent asks for it while the class is being loaded: stays until the other thread wants the lock. */
        @Override
        public URL getResource(String name) {
            if (Thread.currentThread() == locking && locked.getCount() > 0) {
                locked.countDown();
                long start = System.nanoTime();
                Thread.State state = null;
                while ((other == null || (state = other.getState()) != Thread.State.BLOCKED)
                        && System.nanoTime() - start < TimeUnit.SECONDS.toNanos(SECONDS)) {
                    Thread.onSpinWait();
                }
                System.out.println("other " + state);
            }
            return super.getResource(name);
        }
    }

    /** Has one class of its own. */
    private static final class Below extends URLClassLoader {

        static {
            registerAsParallelCapable();
        }

        Below(URL[] classPath, ClassLoader parent) {
            super(classPath, parent);
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            return name.equals(OTHER) ? findClass(name) : super.loadClass(name, resolve);
        }
    }

    public static void main(String[] arguments) throws Exception {
        List<URL> classPath = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(":")) {
            classPath.add(Path.of(entry).toUri().toURL());
        }
        ClassLoader netty = new Locking(classPath.toArray(URL[]::new));
        ClassLoader below = new Below(classPath.toArray(URL[]::new), netty);
        // So that the agent finds it without the lock.
        Class.forName("io.netty.channel.EventLoopGroup", false, below);
        locking = Thread.ofPlatform().unstarted(() -> load("io.netty.bootstrap.AbstractBootstrap", netty));
        locking.start();
        locked.await();
        other = Thread.ofPlatform().start(() -> load(OTHER, below));
        if (!locking.join(java.time.Duration.ofSeconds(2 * SECONDS)) || !other.join(java.time.Duration.ofSeconds(SECONDS))) {
            System.out.println("DEADLOCK");
            Runtime.getRuntime().halt(0);
        }
        netty.loadClass(EchoApplication.class.getName()).getMethod("main", String[].class)
                .invoke(null, (Object) new String[] {"NIO"});
    }

    private static void load(String name, ClassLoader loader) {
        try {
            loader.loadClass(name);
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(e);
        }
    }
}
