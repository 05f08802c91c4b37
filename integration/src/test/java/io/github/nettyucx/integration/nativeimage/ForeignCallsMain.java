// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.integration.nativeimage;

import io.github.nettyucx.channel.UcxEventLoopGroup;
import io.github.nettyucx.channel.UcxServerSocketChannel;
import io.github.nettyucx.channel.UcxSocketChannel;
import io.github.nettyucx.library.UcxLibrary;
import io.github.nettyucx.ucp.UcpBinding;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;

import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Initializes each class of the binding and of the transport, prepares the binding, makes a connection, and prints what
 * the JDK's linker has been asked for by either: it keeps every request, with its descriptor and its options. Needs
 * {@code --add-opens java.base/jdk.internal.foreign.abi=ALL-UNNAMED}.
 */
final class ForeignCallsMain {

    private ForeignCallsMain() {
    }

    public static void main(String[] arguments) throws Exception {
        initializeAll(UcxLibrary.class);
        UcpBinding.prepare();
        SortedSet<String> ofBinding = requests();
        initializeAll(UcxSocketChannel.class);
        connect();
        SortedSet<String> ofTransport = requests();
        ofTransport.removeAll(ofBinding);
        ofBinding.forEach(line -> System.out.println("binding " + line));
        ofTransport.forEach(line -> System.out.println("transport " + line));
    }

    /** All classes that lie beside this one in its jar or directory. */
    private static void initializeAll(Class<?> one) throws Exception {
        Path place = Path.of(one.getProtectionDomain().getCodeSource().getLocation().toURI());
        List<String> names;
        if (Files.isDirectory(place)) {
            names = classNames(place);
        } else {
            try (FileSystem jar = FileSystems.newFileSystem(URI.create("jar:" + place.toUri()), Map.of())) {
                names = classNames(jar.getPath("/"));
            }
        }
        for (String name : names) {
            Class.forName(name, true, one.getClassLoader());
        }
    }

    private static List<String> classNames(Path root) throws IOException {
        try (Stream<Path> files = Files.walk(root)) {
            return files.map(file -> root.relativize(file).toString().replace('/', '.'))
                    .filter(name -> name.endsWith(".class") && !name.endsWith("package-info.class"))
                    .map(name -> name.substring(0, name.length() - ".class".length())).toList();
        }
    }

    /** Some handles might be made only when they are needed. */
    private static void connect() throws InterruptedException {
        EventLoopGroup group = new UcxEventLoopGroup(1);
        Channel server = new ServerBootstrap().group(group).channel(UcxServerSocketChannel.class)
                .childHandler(new ChannelInboundHandlerAdapter())
                .bind(new InetSocketAddress("127.0.0.1", 0)).sync().channel();
        new Bootstrap().group(group).channel(UcxSocketChannel.class).handler(new ChannelInboundHandlerAdapter())
                .connect(server.localAddress()).sync().channel().close().sync();
        group.shutdownGracefully(0, 30, TimeUnit.SECONDS).sync();
    }

    private static SortedSet<String> requests() throws ReflectiveOperationException {
        SortedSet<String> requests = new TreeSet<>();
        requests("DOWNCALL_CACHE", "downcall", requests);
        requests("UPCALL_CACHE", "upcall", requests);
        return requests;
    }

    private static void requests(String field, String kind, SortedSet<String> requests)
            throws ReflectiveOperationException {
        Linker linker = Linker.nativeLinker();
        Class<?> type = linker.getClass();
        while (!type.getSimpleName().equals("AbstractLinker")) {
            type = type.getSuperclass();
        }
        Object cache = get(type, linker, field);
        Map<?, ?> byRequest = (Map<?, ?>) get(cache.getClass(), cache, "cache");
        for (Object request : byRequest.keySet()) {
            FunctionDescriptor descriptor = (FunctionDescriptor) call(request, "descriptor");
            Object options = call(request, "options");
            String text = kind + " " + descriptor.returnLayout().map(ForeignCallsMain::name).orElse("void") + " ("
                    + descriptor.argumentLayouts().stream().map(ForeignCallsMain::name)
                            .collect(Collectors.joining(",")) + ")";
            if ((boolean) call(options, "isCritical")) {
                text += (boolean) call(options, "allowsHeapAccess") ? " critical with heap" : " critical";
            }
            if ((boolean) call(options, "hasCapturedCallState")) {
                text += " captureCallState";
            }
            if ((boolean) call(options, "isVariadicFunction")) {
                text += " firstVariadicArg " + call(options, "firstVariadicArgIndex");
            }
            requests.add(text);
        }
    }

    /** As native-image calls them. */
    private static String name(MemoryLayout layout) {
        return switch (layout) {
            case java.lang.foreign.AddressLayout address -> "void*";
            case java.lang.foreign.ValueLayout.OfByte b -> "jbyte";
            case java.lang.foreign.ValueLayout.OfShort s -> "jshort";
            case java.lang.foreign.ValueLayout.OfInt i -> "jint";
            case java.lang.foreign.ValueLayout.OfLong l -> "jlong";
            default -> throw new IllegalArgumentException("add what native-image calls " + layout);
        };
    }

    private static Object get(Class<?> type, Object object, String name) throws ReflectiveOperationException {
        Field field = type.getDeclaredField(name);
        field.setAccessible(true);
        return field.get(object);
    }

    private static Object call(Object object, String name) throws ReflectiveOperationException {
        Method method = object.getClass().getDeclaredMethod(name);
        method.setAccessible(true);
        return method.invoke(object);
    }
}
