// SPDX-License-Identifier: Apache-2.0
/**
 * Finds UCX's libraries, one that is installed or the bundled one, makes the settings that UCX needs inside a JVM, and
 * loads it, once for the process. Any thread may call.
 */
package io.github.nettyucx.library;
