// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.integration.nativeimage;

import io.github.nettyucx.channel.UcxDatagramChannel;
import io.github.nettyucx.channel.UcxServerSocketChannel;
import io.github.nettyucx.channel.UcxSocketChannel;
import io.netty.channel.unix.SegmentedDatagramPacket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import static org.junit.jupiter.api.Assertions.assertEquals;

/**
 * The metadata for GraalVM's native-image in the jars names all calls into C and out of it that the code makes, and no
 * others. The files are what this test makes of the requests that the JDK's linker got; when they differ, its message
 * is the new content.
 */
@Timeout(120)
class ReachabilityMetadataTest {

    private static final Path ROOT = Path.of("").toAbsolutePath().getFileName().toString().equals("integration")
            ? Path.of("..") : Path.of(".");
    private static final Pattern VARIADIC = Pattern.compile(" firstVariadicArg (\\d+)");
    private static final String UPCALLS = "io.github.nettyucx.ucp.Upcalls";

    /** What follows a word at the beginning of a line. */
    private static List<String> lines(String output, String word) {
        return output.lines().filter(line -> line.startsWith(word + " "))
                .map(line -> line.substring(word.length() + 1)).toList();
    }

    private static String run() throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED", "--add-opens=java.base/jdk.internal.foreign.abi=ALL-UNNAMED",
                "-cp", System.getProperty("java.class.path")));
        String library = System.getProperty("io.github.nettyucx.library");
        if (library != null) {
            command.add("-Dio.github.nettyucx.library=" + library);
        }
        command.add(ForeignCallsMain.class.getName());
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes());
        assertEquals(0, process.waitFor(), output);
        return output;
    }

    @Test
    void foreignCallsAreThoseOfTheCode() throws Exception {
        String output = run();
        assertEquals(expectedOfBinding(lines(output, "binding")), metadata("transport-ucx-native",
                "netty-transport-native-ucx"));
        assertEquals(expectedOfTransport(lines(output, "transport")), metadata("transport-ucx",
                "netty-transport-ucx"));
    }

    private static String metadata(String module, String artifact) throws IOException {
        Path file = ROOT.resolve(module).resolve("src/main/resources/META-INF/native-image/io.github.netty-ucx")
                .resolve(artifact).resolve("reachability-metadata.json");
        return Files.exists(file) ? Files.readString(file) : file + " does not exist";
    }

    private static String expectedOfBinding(List<String> requests) throws ClassNotFoundException {
        List<Method> upcalls = upcallTargets();
        assertEquals(new TreeSet<>(upcalls.stream().map(ReachabilityMetadataTest::request).toList()),
                new TreeSet<>(lines(String.join("\n", requests), "upcall")),
                "the private static methods of Upcalls are what the linker was given");
        return object(
                "\"reflection\": " + array(List.of("{\"type\": \"" + UPCALLS + "\", \"methods\": " + array(upcalls.stream()
                        .map(method -> "{\"name\": \"" + method.getName() + "\", \"parameterTypes\": "
                                + list(Arrays.stream(method.getParameterTypes()).map(Class::getName).toList()) + "}")
                        .toList(), "    ") + "}"), "  "),
                "\"resources\": " + array(List.of("{\"glob\": \"META-INF/native/*/ucx/**\"}"), "  "),
                "\"foreign\": {\n    \"downcalls\": " + downcalls(requests) + ",\n    \"directUpcalls\": "
                        + array(upcalls.stream().map(method -> "{\"class\": \"" + UPCALLS + "\", \"method\": \""
                                + method.getName() + "\", " + signature(request(method)) + "}").toList(), "    ")
                        + "\n  }");
    }

    private static String expectedOfTransport(List<String> requests) {
        assertEquals(List.of(), requests, "calls into C are the binding's matter");
        return object(
                // What Netty's ReflectiveChannelFactory calls; and what is asked of a datagram, whichever class loader's it is.
                "\"reflection\": " + array(List.of(method(UcxDatagramChannel.class, "<init>"),
                        method(UcxServerSocketChannel.class, "<init>"), method(UcxSocketChannel.class, "<init>"),
                        method(SegmentedDatagramPacket.class, "segmentSize")), "  "));
    }

    /** One that takes nothing. */
    private static String method(Class<?> type, String name) {
        return "{\"type\": \"" + type.getName() + "\", \"methods\": [{\"name\": \"" + name
                + "\", \"parameterTypes\": []}]}";
    }

    /** Methods that are given to the linker; others in this class have no such types. */
    private static List<Method> upcallTargets() throws ClassNotFoundException {
        return Arrays.stream(Class.forName(UPCALLS).getDeclaredMethods())
                .filter(method -> Modifier.isStatic(method.getModifiers()) && !method.isSynthetic()
                        && method.getParameterCount() > 0
                        && Arrays.stream(method.getParameterTypes()).allMatch(Class::isPrimitive))
                .sorted((one, other) -> one.getName().compareTo(other.getName())).toList();
    }

    private static String request(Method method) {
        return name(method.getReturnType()) + " (" + Arrays.stream(method.getParameterTypes())
                .map(ReachabilityMetadataTest::name).collect(Collectors.joining(",")) + ")";
    }

    private static String name(Class<?> type) {
        return type == void.class ? "void" : "j" + type.getName();
    }

    private static String downcalls(List<String> requests) {
        return array(lines(String.join("\n", requests), "downcall").stream().map(request -> {
            int end = request.indexOf(')') + 1;
            return "{" + signature(request.substring(0, end)) + options(request.substring(end)) + "}";
        }).toList(), "    ");
    }

    /** What follows the signature, as {@link ForeignCallsMain} prints it. */
    private static String options(String options) {
        List<String> members = new ArrayList<>();
        if (options.contains(" captureCallState")) {
            members.add("\"captureCallState\": true");
        }
        if (options.contains(" critical")) {
            members.add("\"critical\": {\"allowHeapAccess\": " + options.contains(" critical with heap") + "}");
        }
        Matcher variadic = VARIADIC.matcher(options);
        if (variadic.find()) {
            members.add("\"firstVariadicArg\": " + variadic.group(1));
        }
        return members.isEmpty() ? "" : ", \"options\": {" + String.join(", ", members) + "}";
    }

    /** Of {@code jint (jlong,void*)}. */
    private static String signature(String request) {
        String parameters = request.substring(request.indexOf('(') + 1, request.indexOf(')'));
        return "\"returnType\": \"" + request.substring(0, request.indexOf(' ')) + "\", \"parameterTypes\": "
                + list(parameters.isEmpty() ? List.of() : List.of(parameters.split(",")));
    }

    private static String list(List<String> names) {
        return names.stream().map(name -> "\"" + name + "\"").collect(Collectors.joining(", ", "[", "]"));
    }

    /** One element to a line. */
    private static String array(List<String> elements, String indentation) {
        return elements.stream().collect(Collectors.joining(",\n" + indentation + "  ", "[\n" + indentation + "  ",
                "\n" + indentation + "]"));
    }

    private static String object(String... members) {
        return Arrays.stream(members).collect(Collectors.joining(",\n  ", "{\n  ", "\n}\n"));
    }
}
