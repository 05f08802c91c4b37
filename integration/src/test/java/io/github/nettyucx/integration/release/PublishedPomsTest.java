// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.integration.release;

import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;

import java.nio.file.Path;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.xpath.XPath;
import javax.xml.xpath.XPathFactory;

import static io.github.nettyucx.integration.release.Published.ROOT;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

/** The poms that are published say what Maven Central asks of them; it refuses others. */
class PublishedPomsTest {

    /** What a module inherits from its parent; the BOM has no parent. */
    private static final List<String> COMMON = List.of("url", "licenses/license/name", "licenses/license/url",
            "developers/developer/name", "scm/url", "scm/connection", "scm/developerConnection");
    private static final List<String> OWN = List.of("name", "description");
    private static final Path PARENT = ROOT.resolve("pom.xml");
    private static final Path BOM = ROOT.resolve("bom/pom.xml");

    private final XPath xpath = XPathFactory.newInstance().newXPath();

    private String value(Path pom, String path) throws Exception {
        Document document = DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(pom.toFile());
        return xpath.evaluate("/project/" + path, document).strip();
    }

    private void assertSays(Path pom, List<String> elements) throws Exception {
        for (String element : elements) {
            assertFalse(value(pom, element).isEmpty(), () -> pom + " has no " + element);
        }
    }

    @Test
    void theParentAndTheBomSayItAll() throws Exception {
        for (Path pom : List.of(PARENT, BOM)) {
            assertSays(pom, OWN);
            assertSays(pom, COMMON);
        }
        for (String element : COMMON) {
            assertEquals(value(PARENT, element), value(BOM, element), element);
        }
    }

    @Test
    void theModulesSayWhatTheyAreAndInheritTheRest() throws Exception {
        for (Published module : Published.modules()) {
            Path pom = module.directory().resolve("pom.xml");
            assertSays(pom, OWN);
            for (String element : COMMON) {
                assertEquals("", value(pom, element), () -> pom + " has a " + element + " of its own");
            }
        }
        // Maven would append the module's name to it.
        for (String attribute : List.of("@child.project.url.inherit.append.path", "scm/@child.scm.url.inherit.append.path",
                "scm/@child.scm.connection.inherit.append.path",
                "scm/@child.scm.developerConnection.inherit.append.path")) {
            assertEquals("false", value(PARENT, attribute), attribute);
        }
    }

    @Test
    void whatIsReleasedIsSignedAndDeployedByPluginsOfTheSameVersions() throws Exception {
        for (String plugin : List.of("profiles/profile[id='release']/build/plugins/plugin[artifactId='maven-gpg-plugin']",
                "build/pluginManagement/plugins/plugin[artifactId='maven-deploy-plugin']")) {
            String version = value(PARENT, plugin + "/version");
            assertFalse(version.isEmpty(), plugin);
            assertEquals(version, value(BOM, plugin + "/version"), plugin);
        }
    }
}
