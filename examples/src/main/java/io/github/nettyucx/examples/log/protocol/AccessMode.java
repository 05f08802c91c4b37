// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples.log.protocol;

/** How producers write into a segment themselves. */
public enum AccessMode {
    /** One producer, who knows where the next record goes. */
    EXCLUSIVE,
    /** Any number of producers, who reserve a place by a fetch-and-add first. */
    SHARED
}
