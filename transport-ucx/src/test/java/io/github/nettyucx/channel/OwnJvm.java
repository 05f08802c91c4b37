// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A class whose {@link OnEachLane} tests have JVMs of their own, because they count or exhaust what a process has. The
 * others share one for each lane.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.TYPE)
public @interface OwnJvm {
}
