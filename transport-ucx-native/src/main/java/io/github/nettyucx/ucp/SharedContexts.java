// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.ucp;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * Contexts for all of a process who load this class, one for each configuration. They are there for as long as the process
 * lives. So who loads a transport anew, and leaves it again, leaves no context behind, if this class is there once for all.
 * Who loads this class with it leaves one for each configuration.
 *
 * <p>Any thread may call.
 */
public final class SharedContexts {

    /**
     * What makes one context another than the next.
     *
     * @param features what it is for
     * @param name     for tools that look into UCX
     * @param options  of the configuration, without {@code UCX_}; the environment has the others
     */
    private record Key(Set<UcpFeature> features, String name, Map<String, String> options) {
    }

    /** Guarded by the class. */
    private static final Map<Key, UcpContext> contexts = new HashMap<>();

    private SharedContexts() {
    }

    /**
     * The context of a configuration, which is made if there is none yet. It is {@link UcpContextParams#mtWorkersShared},
     * and nobody is to close it.
     *
     * @param name    for tools that look into UCX
     * @param options of UCX's configuration, without {@code UCX_}, such as {@code TLS}; the environment has the others
     * @throws UcxException         if UCX can't provide what is asked for, such as a transport
     * @throws UnsatisfiedLinkError if there is no usable UCX
     */
    public static synchronized UcpContext get(String name, Map<String, String> options, UcpFeature... features)
            throws UcxException {
        Key key = new Key(Set.of(features), name, Map.copyOf(options));
        UcpContext context = contexts.get(key);
        if (context == null) {
            context = create(key);
            contexts.put(key, context);
        }
        return context;
    }

    private static UcpContext create(Key key) throws UcxException {
        try (UcpConfig config = UcpConfig.read(null)) {
            for (Map.Entry<String, String> option : key.options.entrySet()) {
                config.modify(option.getKey(), option.getValue());
            }
            return UcpContext.create(new UcpContextParams()
                    .features(key.features.toArray(UcpFeature[]::new))
                    .mtWorkersShared(true)
                    .name(key.name)
                    .config(config));
        }
    }
}
