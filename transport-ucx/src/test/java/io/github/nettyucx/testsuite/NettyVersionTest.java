// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.testsuite;

import io.netty.util.Version;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

import java.util.Set;
import java.util.stream.Collectors;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** The build says which Netty the tests run on; a class path with some jars of another one would prove nothing. */
@EnabledIfSystemProperty(named = NettyVersionTest.EXPECTED, matches = ".+")
class NettyVersionTest {

    static final String EXPECTED = "io.github.nettyucx.test.netty";

    @Test
    void allOfNettyIsOfTheExpectedVersion() {
        Set<String> versions = Version.identify().entrySet().stream()
                // Has versions of its own.
                .filter(entry -> !entry.getKey().startsWith("netty-tcnative"))
                .map(entry -> entry.getValue().artifactVersion())
                .collect(Collectors.toSet());
        assertEquals(Set.of(System.getProperty(EXPECTED)), versions);
    }
}
