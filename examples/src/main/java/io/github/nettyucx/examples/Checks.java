// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.examples;

import java.util.List;

/** Runs what a client checks of a server, one check after the other. */
public final class Checks {
    /** The work of a check. */
    @FunctionalInterface
    public interface Action {
        /** @throws ExampleFailure if something is not as it should be */
        void run() throws InterruptedException;
    }

    /** @param name what is checked, in words */
    public record Check(String name, Action action) {
    }

    private Checks() {
    }

    /**
     * @param of what is added to a check's name where it fails; may be empty
     * @throws ExampleFailure if one finds something that is not as it should be
     */
    public static void run(List<Check> checks, String of, Progress progress) throws InterruptedException {
        for (var i = 0; i < checks.size(); i++) {
            progress.at((double) i / checks.size());
            var check = checks.get(i);
            try {
                check.action.run();
            } catch (ExampleFailure e) {
                throw new ExampleFailure("the check '" + check.name + "'" + of + " failed: " + e.getMessage(), e);
            }
        }
    }

    public static List<String> names(List<Check> checks) {
        return checks.stream().map(Check::name).toList();
    }

    public static void require(boolean condition, String otherwise) {
        if (!condition) {
            throw new ExampleFailure(otherwise);
        }
    }

    public static void requireEqual(Object expected, Object found, String what) {
        require(expected.equals(found), what + ": expected " + expected + ", found " + found);
    }
}
