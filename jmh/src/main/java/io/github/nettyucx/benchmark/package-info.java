// SPDX-License-Identifier: Apache-2.0
/**
 * The benchmark of two processes, started by {@code run-benchmark.sh}.
 * <p>
 * {@link io.github.nettyucx.benchmark.Benchmark} reads the command line and makes {@code Row}s of it: a
 * {@code Scenario}, which says what is asked, for a {@code Contender}, which does it. {@code Experiment} measures all
 * rows in each of several rounds. A {@code NettyContender} starts a server and a client process for each measurement;
 * what those run is {@code Child}.
 */
package io.github.nettyucx.benchmark;
