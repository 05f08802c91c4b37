// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

/** The transports that every machine has; they take different ways through UCX. */
enum Lanes {

    TCP("tcp,self"),
    SHARED_MEMORY("posix,sysv,cma,tcp,self");

    private final String transports;

    Lanes(String transports) {
        this.transports = transports;
    }

    UcpContext context(UcpFeature... features) throws UcxException {
        try (UcpConfig config = UcpConfig.read(null).modify("TLS", transports)) {
            if (this == SHARED_MEMORY) {
                // Shared memory is passed over on endpoints with error handling otherwise.
                config.modify("MM_ERROR_HANDLING", "y");
            }
            return UcpContext.create(
                    new UcpContextParams().features(features).config(config).mtWorkersShared(true).name("test"));
        }
    }
}
