// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.integration.cassandra;

import com.datastax.oss.driver.api.core.CqlSessionBuilder;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.context.DriverContext;
import com.datastax.oss.driver.api.core.session.ProgrammaticArguments;
import com.datastax.oss.driver.internal.core.context.DefaultDriverContext;
import com.datastax.oss.driver.internal.core.context.NettyOptions;

/** What docs/frameworks.md shows; {@code FrameworksPageTest} compares the page with this file. */
public class UcxSessionBuilder extends CqlSessionBuilder {

    @Override
    protected DriverContext buildContext(DriverConfigLoader configuration, ProgrammaticArguments arguments) {
        return new DefaultDriverContext(configuration, arguments) {
            @Override
            protected NettyOptions buildNettyOptions() {
                return new UcxNettyOptions(this);
            }
        };
    }
}
