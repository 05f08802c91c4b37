// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import java.lang.invoke.MethodHandle;

/** The functions of {@code ucs/type/status.h}; conventions as in {@link UcpFunctions}. */
final class UcsFunctions {

    /** Neither calls back nor blocks, but stays an ordinary call: nothing on the hot path asks for a text. */
    static final MethodHandle STATUS_STRING = UcpFunctions.bind("ucs_status_string", UcpFunctions.SHORT);

    private UcsFunctions() {
    }
}
