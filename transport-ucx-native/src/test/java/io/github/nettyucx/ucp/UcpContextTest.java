// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("ucx-matrix")
class UcpContextTest {

    @Test
    void theLibraryTellsItsVersion() throws UcxException {
        UcpLibraryInfo info = UcpLibraryInfo.query();
        assertEquals(1, info.major());
        assertTrue(info.minor() >= UcpConstants.API_MINOR, info::toString);
        assertTrue(info.version().startsWith(info.major() + "." + info.minor() + '.' + info.release()),
                info::toString);
        assertEquals(UcsThreadMode.MULTI, info.maxThreadMode(), "UCX must be built with thread support");
    }

    @Test
    void aContextHasTheAttributesThatItWasGiven() throws UcxException {
        UcpContextParams params = new UcpContextParams().features(UcpFeature.TAG).name("a name").estimatedEndpoints(7);
        try (UcpContext context = UcpContext.create(params.mtWorkersShared(true))) {
            assertEquals("a name", context.name());
            assertEquals(UcsThreadMode.MULTI, context.threadMode());
            assertEquals(1, context.memoryTypes() >>> UcpConstants.UCS_MEMORY_TYPE_HOST & 1);
        }
        try (UcpContext context = UcpContext.create(params.mtWorkersShared(false))) {
            assertEquals(UcsThreadMode.SINGLE, context.threadMode());
        }
    }

    @Test
    void whoWantsTheSameSharesAContext() throws UcxException {
        Map<String, String> options = Map.of("TLS", "sysv");
        UcpContext context = SharedContexts.get("shared", options, UcpFeature.TAG);
        assertSame(context, SharedContexts.get("shared", Map.of("TLS", "sysv"), UcpFeature.TAG));
        assertEquals(UcsThreadMode.MULTI, context.threadMode());
        assertEquals("shared", context.name());
        assertTrue(context.resources().contains("sysv/memory"), context::describe);
        UcpContext other = SharedContexts.get("shared", Map.of("TLS", "tcp"), UcpFeature.TAG);
        assertNotSame(context, other);
        assertTrue(other.resources().stream().allMatch(resource -> resource.startsWith("tcp/")), other::describe);
        assertNotSame(context, SharedContexts.get("shared", options, UcpFeature.TAG, UcpFeature.WAKEUP));
    }

    @Test
    void aSharedContextThatCannotBeMadeIsTriedAgain() {
        for (int i = 0; i < 2; i++) {
            assertEquals(UcsStatus.ERR_NO_DEVICE, assertThrows(UcxException.class,
                    () -> SharedContexts.get("none", Map.of("TLS", "nonsense"), UcpFeature.TAG)).status());
        }
    }

    @Test
    void aContextNamesItsResources() throws UcxException {
        try (UcpConfig config = UcpConfig.read(null).modify("TLS", "tcp,sysv");
             UcpContext context = UcpContext.create(new UcpContextParams().features(UcpFeature.TAG).config(config))) {
            assertTrue(context.resources().contains("tcp/lo"), context::describe);
            assertTrue(context.resources().contains("sysv/memory"), context::describe);
            assertTrue(context.resources().stream().noneMatch(resource -> resource.startsWith("posix/")),
                    context::describe);
        }
    }

    @Test
    void aContextWithoutFeaturesIsRefused() {
        assertThrows(IllegalStateException.class, () -> UcpContext.create(new UcpContextParams()));
        assertThrows(IllegalArgumentException.class, () -> new UcpContextParams().estimatedEndpoints(0));
    }

    @Test
    void anOptionThatDoesNotExistOrCannotHaveItsValueIsRefused() throws UcxException {
        try (UcpConfig config = UcpConfig.read(null)) {
            UcxException e = assertThrows(UcxException.class, () -> config.modify("RNDV_THRESH", "a lot"));
            assertEquals("Setting UCX option RNDV_THRESH to \"a lot\": " + UcsStatus.string(e.status())
                    + " (status -5, INVALID_PARAM)", e.getMessage());
        }
    }

    @Test
    void aTransportThatDoesNotExistMakesNoContext() throws UcxException {
        try (UcpConfig config = UcpConfig.read("SOME_PREFIX").modify("TLS", "nonsense")) {
            UcpContextParams params = new UcpContextParams().features(UcpFeature.TAG).config(config);
            UcxException e = assertThrows(UcxException.class, () -> UcpContext.create(params));
            assertEquals(UcsStatus.ERR_NO_DEVICE, e.status());
        }
    }

    @Test
    void aConfigurationCanBeClosedTwiceButNotUsedAfterwards() throws UcxException {
        UcpConfig config = UcpConfig.read(null);
        config.close();
        config.close();
        assertThrows(IllegalStateException.class, () -> config.modify("TLS", "tcp"));
        assertThrows(IllegalStateException.class,
                () -> UcpContext.create(new UcpContextParams().features(UcpFeature.TAG).config(config)));
    }
}
