// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.xpath.XPathFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;

/** Whoever follows docs/getting-started.md ends with a program that runs. */
@Timeout(200)
class GettingStartedPageTest {
    private static final Path ROOT = Path.of(System.getProperty("basedir", "")).toAbsolutePath().getParent();
    /** A file's name, which may end a sentence, and then its content. */
    private static final Pattern FILE = Pattern.compile("`([\\w./]+)`:\n\n```\\w+\n(.*?)```", Pattern.DOTALL);
    private static final Pattern COMMAND = Pattern.compile("^java .*$", Pattern.MULTILINE);
    private static final Pattern OUTPUT = Pattern.compile("The client prints\n\n```\n(.*?)```", Pattern.DOTALL);
    private static final String CLASS_PATH = "'target/classes:target/dependency/*'";
    private static final String PORT = "4711";
    private static final Pattern LISTENING = Pattern.compile("listening on .*:(\\d+)");

    private static String page() throws Exception {
        return Files.readString(ROOT.resolve("docs/getting-started.md"));
    }

    private static Map<String, String> files() throws Exception {
        var files = new HashMap<String, String>();
        FILE.matcher(page()).results().forEach(found -> files.put(found.group(1), found.group(2)));
        return files;
    }

    @Test
    void theProgramSaysHello(@TempDir Path directory) throws Exception {
        assertEquals(2, files().keySet().stream().filter(name -> name.endsWith(".java")).count());
        // The system chooses the port: that of the page may not be free.
        compile(directory, "HelloServer", "0");
        var commands = COMMAND.matcher(page()).results().map(found -> found.group()).toList();
        assertEquals(2, commands.size());
        var server = start(directory, commands.get(0));
        try {
            var listening = new BufferedReader(new InputStreamReader(server.getInputStream(), StandardCharsets.UTF_8))
                    .readLine();
            assertNotNull(listening, "the server ended");
            var address = LISTENING.matcher(listening);
            assertTrue(address.matches(), listening);
            compile(directory, "HelloClient", address.group(1));
            var client = start(directory, commands.get(1));
            var printed = new String(client.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertTrue(client.waitFor(60, TimeUnit.SECONDS));
            assertEquals(0, client.exitValue());
            var expected = OUTPUT.matcher(page());
            assertTrue(expected.find());
            assertEquals(expected.group(1), printed.replace(" over posix", " over sysv"));
        } finally {
            server.destroyForcibly();
        }
    }

    /** What Maven would fetch is what this build makes, and what it is compiled against. */
    @Test
    void thePomNamesThisBuild() throws Exception {
        var page = parse(files().get("pom.xml"));
        var build = parse(Files.readString(ROOT.resolve("pom.xml")));
        var group = text(build, "/project/groupId");
        var version = text(build, "/project/version");
        var dependency = "/project/dependencies/dependency";
        for (var module : List.of("transport-ucx", "transport-ucx-native")) {
            var pom = parse(Files.readString(ROOT.resolve(module).resolve("pom.xml")));
            var artifact = text(pom, "/project/artifactId");
            var named = dependency + "[groupId='" + group + "'][artifactId='" + artifact + "']/version";
            assertEquals(version, text(page, named), artifact);
        }
        assertEquals(text(build, "/project/properties/netty.version"),
                text(page, dependency + "[groupId='io.netty']/version"));
        assertEquals(text(build, "/project/properties/java.release"),
                text(page, "/project/properties/maven.compiler.release"));
        for (var plugin : List.of("maven-compiler-plugin", "maven-dependency-plugin")) {
            var named = "//plugin[artifactId='" + plugin + "']/version";
            assertEquals(text(build, named), text(page, named), plugin);
        }
    }

    /** A class of the page, with another port than it has there. */
    private static void compile(Path directory, String name, String port) throws Exception {
        var file = "src/main/java/hello/" + name + ".java";
        var source = files().get(file);
        assertTrue(source != null && source.contains(PORT), file);
        var path = directory.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, source.replace(PORT, port));
        var classes = directory.resolve("target/classes");
        Files.createDirectories(classes);
        var arguments = new ArrayList<>(List.of("-Xlint:all", "-Werror", "-proc:none", "--release", "25",
                "-cp", System.getProperty("java.class.path"), "-d", classes.toString()));
        arguments.add(path.toString());
        assertEquals(0, ToolProvider.getSystemJavaCompiler().run(null, null, null, arguments.toArray(String[]::new)));
    }

    /** The command as it stands on the page, except for where its classes and its Java come from. */
    private static Process start(Path directory, String command) throws Exception {
        assertTrue(command.contains(CLASS_PATH), command);
        var builder = new ProcessBuilder("bash", "-c", "exec " + command.replace(CLASS_PATH, "\"$TEST_CLASSES\""))
                .directory(directory.toFile()).redirectError(ProcessBuilder.Redirect.DISCARD);
        builder.environment().put("TEST_CLASSES", "target/classes:" + System.getProperty("java.class.path"));
        builder.environment().merge("PATH", Path.of(System.getProperty("java.home"), "bin").toString(),
                (others, own) -> own + ":" + others);
        return builder.start();
    }

    private static Document parse(String xml) throws Exception {
        return DocumentBuilderFactory.newInstance().newDocumentBuilder()
                .parse(new ByteArrayInputStream(xml.getBytes(StandardCharsets.UTF_8)));
    }

    private static String text(Document document, String path) throws Exception {
        var text = XPathFactory.newInstance().newXPath().evaluate(path, document);
        assertTrue(!text.isEmpty(), "nothing at " + path);
        return text;
    }
}
