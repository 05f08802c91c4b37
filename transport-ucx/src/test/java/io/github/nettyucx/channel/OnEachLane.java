// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestTemplate;
import org.junit.jupiter.api.extension.ExtendWith;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * A test that runs once on every {@link Lane} that is chosen, in a JVM that was started for the lane and serves the tests
 * of all classes but those that have {@link OwnJvm}.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
@TestTemplate
@Tag("lanes")
@ExtendWith(LaneExtension.class)
public @interface OnEachLane {

    /** Whether the test is about what links do, and has nothing to say of the lane that is the kernel's socket. */
    boolean linksOnly() default false;

    /** When the test is given up, in seconds. */
    int timeoutSeconds() default 60;

    /**
     * Further variables of the JVM's environment, each as {@code NAME=value}. With any, the test has a JVM of its own.
     */
    String[] environment() default {};

    /** Not all of them, where a test has connections of all lanes at the same time. */
    Lane[] lanes() default {Lane.SHM, Lane.RDMA, Lane.TCP, Lane.SOCKET};
}
