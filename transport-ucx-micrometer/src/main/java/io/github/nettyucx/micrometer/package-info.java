// SPDX-License-Identifier: Apache-2.0
/** Gives the metrics of the UCX transport to Micrometer. */
package io.github.nettyucx.micrometer;
