// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.benchmark;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Rows to be measured, each of which is there once, and what they are to reach. */
final class TargetList {
    private final Set<Work> works;
    private final List<Row> rows = new ArrayList<>();
    private final List<Target> targets = new ArrayList<>();

    /** @param works rows of which are wanted */
    TargetList(Set<Work> works) {
        this.works = Set.copyOf(works);
    }

    boolean wants(Work work) {
        return works.contains(work);
    }

    /** In the order in which they are measured. */
    List<Row> rows() {
        return rows;
    }

    List<Target> targets() {
        return targets;
    }

    /** The row of the two. It is measured if its work is wanted. */
    Row row(Scenario scenario, Contender contender) {
        return row(scenario, contender, wants(scenario.work()));
    }

    /** The row of the two. It is measured, whatever its work is: one that is wanted is compared with it. */
    Row required(Scenario scenario, Contender contender) {
        return row(scenario, contender, true);
    }

    private Row row(Scenario scenario, Contender contender, boolean wanted) {
        for (var row : rows) {
            if (row.scenario().equals(scenario) && row.contender().equals(contender)) {
                return row;
            }
        }
        var row = new Row(scenario, contender);
        if (wanted) {
            // Beside its own scenario, wherever that was left.
            var last = rows.size();
            while (last > 0 && !rows.get(last - 1).scenario().equals(scenario)) {
                last--;
            }
            rows.add(last == 0 ? rows.size() : last, row);
        }
        return row;
    }

    /** Of a row that is not measured there is none. */
    void target(Target target) {
        if (rows.contains(target.row())) {
            targets.add(target);
        }
    }
}
