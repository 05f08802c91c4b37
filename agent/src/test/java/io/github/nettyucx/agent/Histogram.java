// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent;

import java.lang.management.ManagementFactory;
import javax.management.JMException;
import javax.management.ObjectName;

/** What this JVM has on its heap, after a collection. */
final class Histogram {

    private Histogram() {
    }

    /**
     * How many objects there are of a class, in all class loaders.
     *
     * @param suffix of its name
     */
    static int count(String suffix) throws JMException {
        String histogram = (String) ManagementFactory.getPlatformMBeanServer().invoke(
                new ObjectName("com.sun.management:type=DiagnosticCommand"), "gcClassHistogram",
                new Object[] {null}, new String[] {String[].class.getName()});
        // Number, objects, bytes, class, module.
        return histogram.lines().map(line -> line.strip().split("\\s+"))
                .filter(row -> row.length >= 4 && row[3].endsWith(suffix)).mapToInt(row -> Integer.parseInt(row[1])).sum();
    }
}
