// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent.takeover;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.netty.channel.ChannelOption;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Channels of Reactor Netty, by the methods that are asked. That its releases have these is shown where it is run. */
class ChannelOrderTest {

    /** Of a release that has other methods: the connection stays Netty's, and is not refused. */
    @Test
    void settingsWithoutOptionsAreLeft() {
        var left = assertThrows(LeftAsItWas.class, () -> ChannelOrder.ofReactor(new Settings(), null));
        assertEquals("channels of " + Settings.class.getName() + ", because of java.lang.NoSuchMethodException: "
                + Settings.class.getName() + ".options()", left.getMessage());
    }

    @Test
    void settingsThatThrowAreLeft() {
        var left = assertThrows(LeftAsItWas.class, () -> ChannelOrder.ofReactor(new FailingSettings(), null));
        assertEquals("channels of " + FailingSettings.class.getName()
                + ", because of java.lang.IllegalStateException: not now", left.getMessage());
    }

    @Test
    void settingsOfAClientHaveNoChildren() throws LeftAsItWas {
        var order = ChannelOrder.ofReactor(new ClientSettings(), null);
        assertEquals(Map.of(ChannelOption.TCP_NODELAY, true), order.options());
        assertFalse(order.isForServer());
    }

    static class Settings {
    }

    public static class FailingSettings {
        public Map<ChannelOption<?>, ?> options() {
            throw new IllegalStateException("not now");
        }
    }

    public static class ClientSettings {
        public Map<ChannelOption<?>, ?> options() {
            return Map.of(ChannelOption.TCP_NODELAY, true);
        }
    }
}
