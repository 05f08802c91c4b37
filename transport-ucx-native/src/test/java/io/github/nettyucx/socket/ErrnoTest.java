// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.ProtocolException;
import java.net.SocketException;
import org.junit.jupiter.api.Test;

class ErrnoTest {

    @Test
    void exceptionsAreThoseOfJavasNetwork() {
        check(ConnectException.class, "Connection refused", "connect", Errno.ECONNREFUSED);
        check(ConnectException.class, "Connection timed out", "connect", Errno.ETIMEDOUT);
        check(SocketException.class, "Connection timed out", "recv", Errno.ETIMEDOUT);
        check(BindException.class, "Address already in use", "bind", Errno.EADDRINUSE);
        check(BindException.class, "Cannot assign requested address", "bind", Errno.EADDRNOTAVAIL);
        check(BindException.class, "Permission denied", "bind", Errno.EACCES);
        check(SocketException.class, "Permission denied", "sendto", Errno.EACCES);
        check(NoRouteToHostException.class, "No route to host", "connect", Errno.EHOSTUNREACH);
        check(NoRouteToHostException.class, "Network is unreachable", "connect", Errno.ENETUNREACH);
        check(ProtocolException.class, "Protocol error", "accept", Errno.EPROTO);
        check(SocketException.class, "Connection reset by peer", "recv", Errno.ECONNRESET);
        check(SocketException.class, "Protocol not available", "recvfrom", Errno.ENOPROTOOPT);
        check(SocketException.class, "Machine is not on the network", "recvfrom", Errno.ENONET);
        check(IOException.class, "Broken pipe", "send", Errno.EPIPE);
    }

    @Test
    void otherErrorsNameTheCall() {
        check(SocketException.class, "listen failed: Invalid argument", "listen", Errno.EINVAL);
        check(SocketException.class, "connect failed: Operation not permitted", "connect", Errno.EPERM);
        check(IOException.class, "splice failed: Unknown error 4711", "splice", 4711);
    }

    @Test
    void tooManyOpenFilesSaysWhatToDo() {
        check(IOException.class, "accept failed: Too many open files (too many open files: raise the limit, ulimit -n)",
                "accept", Errno.EMFILE);
    }

    @Test
    void aConnectThatNobodyAnswersIsToldApartFromARefusal() {
        assertTrue(Errno.isConnectTimeout(Errno.exception("connect", Errno.ETIMEDOUT)));
        assertFalse(Errno.isConnectTimeout(Errno.exception("connect", Errno.ECONNREFUSED)));
        assertFalse(Errno.isConnectTimeout(Errno.exception("connect", Errno.EHOSTUNREACH)));
        assertFalse(Errno.isConnectTimeout(Errno.exception("recv", Errno.ETIMEDOUT)));
    }

    private static void check(Class<?> type, String message, String call, int errno) {
        IOException exception = Errno.exception(call, errno);
        assertEquals(type, exception.getClass());
        assertEquals(message, exception.getMessage());
    }
}
