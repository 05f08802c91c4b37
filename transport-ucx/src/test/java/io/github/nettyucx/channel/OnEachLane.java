// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import org.junit.jupiter.api.TestTemplate;
import org.junit.jupiter.api.extension.ExtendWith;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A test that runs once on every {@link Lane}. UCX's transports are chosen once per process, so the method runs in a
 * JVM that was started for its lane and serves the tests of one class.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
@TestTemplate
@ExtendWith(LaneExtension.class)
public @interface OnEachLane {

    /** When the test is given up, in seconds. */
    int timeoutSeconds() default 60;
}
