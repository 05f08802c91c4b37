// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import io.github.nettyucx.examples.Setting;

/** What a child process is told to do. */
record Task(Scenario scenario, Setting setting) {
}
