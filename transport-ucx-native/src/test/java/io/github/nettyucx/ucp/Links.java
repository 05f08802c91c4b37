// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import java.util.Locale;

/** The transports that endpoints by worker address are made over on every machine, each alone. */
enum Links {

    SYSV, POSIX, TCP;

    /** Messages of this many bytes or more go by rendezvous, where that is asked for. */
    static final int RENDEZVOUS = 1000;

    /** UCX's name for it. */
    String transport() {
        return name().toLowerCase(Locale.ROOT);
    }

    UcpContext context(boolean rendezvous, UcpFeature... features) throws UcxException {
        try (UcpConfig config = UcpConfig.read(null).modify("TLS", transport())
                .modify("RNDV_THRESH", rendezvous ? String.valueOf(RENDEZVOUS) : "inf")) {
            return UcpContext.create(new UcpContextParams().features(features).config(config).mtWorkersShared(true));
        }
    }
}
