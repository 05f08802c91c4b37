// SPDX-License-Identifier: Apache-2.0
/** JMH microbenchmarks of the binding and the transport. */
package io.github.nettyucx.jmh;
