// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent.takeover;

import io.github.nettyucx.socket.KernelSocket;
import io.netty.channel.Channel;
import io.netty.channel.nio.AbstractNioChannel;

import java.io.IOException;
import java.lang.reflect.Method;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.StandardProtocolFamily;
import java.net.UnknownHostException;
import java.nio.channels.NetworkChannel;
import java.nio.channels.UnsupportedAddressTypeException;

/** Which protocol family a factory of the application's own has chosen for a channel. */
final class Families {

    /** It may not be there, without Netty's native transports. */
    private static final String UNIX_CHANNEL = ".channel.unix.UnixChannel";
    /** Of the range for documentation: no machine has it. */
    private static final byte[] NOBODYS = {0x20, 0x01, 0x0d, (byte) 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};

    private final String root;

    /** @param root the package that is {@code io.netty} in this copy */
    Families(String root) {
        this.root = root;
    }

    /**
     * @param made has no address yet, and is not needed any more
     * @return {@code INET} if its socket is for IPv4 alone; {@code null} if it is not, or if that cannot be told
     */
    ProtocolFamily chosen(Channel made) {
        try {
            boolean ipv4 = made instanceof AbstractNioChannel ? isIpv4((NetworkChannel) javaChannel(made)) : isIpv4(made);
            return ipv4 ? StandardProtocolFamily.INET : null;
        } catch (ReflectiveOperationException | IOException | RuntimeException e) {
            return null;
        }
    }

    private static Object javaChannel(Channel made) throws ReflectiveOperationException {
        Method method = AbstractNioChannel.class.getDeclaredMethod("javaChannel");
        method.setAccessible(true);
        return method.invoke(made);
    }

    /** Channels of the JDK's do not tell their family, but look at an address's before they ask the kernel for it. */
    private static boolean isIpv4(NetworkChannel channel) throws UnknownHostException {
        try {
            channel.bind(new InetSocketAddress(InetAddress.getByAddress(NOBODYS), 0));
        } catch (UnsupportedAddressTypeException e) {
            return true;
        } catch (IOException e) {
            // The kernel's answer: nobody has it here.
        }
        return false;
    }

    private boolean isIpv4(Channel made) throws ReflectiveOperationException, IOException {
        Class<?> type = Class.forName(root + UNIX_CHANNEL, false, made.getClass().getClassLoader());
        Object descriptor = type.getMethod("fd").invoke(made);
        return !KernelSocket.isIpv6((int) descriptor.getClass().getMethod("intValue").invoke(descriptor));
    }
}
