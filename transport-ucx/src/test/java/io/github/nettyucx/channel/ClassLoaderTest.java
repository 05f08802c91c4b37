// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import io.github.nettyucx.ucp.UcpBinding;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.util.internal.PlatformDependent;
import org.junit.jupiter.api.Test;

import java.io.File;
import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** An application that is taken out of a container: nothing of the transport keeps its class loader. */
public class ClassLoaderTest {

    private static final String OURS = "io.github.nettyucx.";
    private static final long MILLIS = 30_000;

    /** Has classes of the transport and its tests of its own, and Netty's from outside. */
    private static final class Own extends URLClassLoader {

        Own(URL[] urls) {
            super(urls, ClassLoaderTest.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith(OURS)) {
                return super.loadClass(name, resolve);
            }
            synchronized (getClassLoadingLock(name)) {
                Class<?> loaded = findLoadedClass(name);
                return loaded == null ? findClass(name) : loaded;
            }
        }
    }

    /** What the application does; public, for it has another package at run time. */
    public static final class Application implements Callable<String> {

        @Override
        public String call() throws Exception {
            Peers peers = new Peers();
            try (peers) {
                UcxServerSocketChannel server = peers.listen(Inbox::new);
                Inbox inbox = new Inbox();
                UcxSocketChannel client = peers.connect(server, inbox);
                assertTrue(Lane.current().has(client.lane()), client::lane);
                Peers.await(client.writeAndFlush(Unpooled.copyLong(4711)));
                Peers.await(client.close());
            }
            return Application.class.getClassLoader().toString();
        }
    }

    /** What is left of one that ends as it begins: to make it ready takes longer than its group lasts. */
    public static final class Prepared implements Callable<String> {

        @Override
        public String call() {
            UcpBinding.prepare();
            return Prepared.class.getClassLoader().toString();
        }
    }

    /** Its loops are on threads of the container's, which stay; so is what it makes before it has a loop. */
    public static final class OnThreadsThatStay implements Callable<String> {

        private final Executor threads;

        public OnThreadsThatStay(Executor threads) {
            this.threads = threads;
        }

        @Override
        public String call() throws Exception {
            new UcxDatagramChannel().unsafe().closeForcibly();
            EventLoopGroup group = new UcxEventLoopGroup(1, threads);
            Channel bound = Peers.await(new Bootstrap().group(group).channel(UcxDatagramChannel.class)
                    .handler(new ChannelInboundHandlerAdapter()).bind(Peers.loopback(0))).channel();
            Peers.await(bound.close());
            Peers.await(group.shutdownGracefully(0, 15, TimeUnit.SECONDS));
            return OnThreadsThatStay.class.getClassLoader().toString();
        }
    }

    @Test
    void itGoesWithAnApplicationWhoseThreadsStay() throws Exception {
        try (ExecutorService threads = Executors.newFixedThreadPool(1)) {
            goesWith(OnThreadsThatStay.class, threads);
        }
    }

    @OnEachLane
    void itGoesWithTheApplication() throws Exception {
        goesWith(Application.class);
    }

    @OnEachLane
    void itGoesWithAnApplicationThatEndsAsItBegins() throws Exception {
        goesWith(Prepared.class);
    }

    private static void goesWith(Class<?> application, Executor... threads) throws Exception {
        // Netty keeps an exception of its first use, and with it the classes that it was first used by.
        assertTrue(PlatformDependent.javaVersion() > 0);
        // Twice: the second application finds what the first has left in the process.
        for (int i = 0; i < 2; i++) {
            WeakReference<ClassLoader> loader = run(application, threads);
            Eventually.await(MILLIS, () -> "the class loader is not collected", () -> {
                System.gc();
                return loader.get() == null;
            });
        }
    }

    private static WeakReference<ClassLoader> run(Class<?> what, Executor... threads) throws Exception {
        List<URL> urls = new ArrayList<>();
        String path = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        for (String entry : path.split(File.pathSeparator)) {
            urls.add(Path.of(entry).toUri().toURL());
        }
        try (Own loader = new Own(urls.toArray(new URL[0]))) {
            Class<?> application = loader.loadClass(what.getName());
            assertNotSame(what, application);
            ((Callable<?>) application.getConstructors()[0].newInstance((Object[]) threads)).call();
            return new WeakReference<>(loader);
        }
    }
}
