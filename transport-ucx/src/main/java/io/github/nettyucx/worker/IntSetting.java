// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import java.util.function.IntUnaryOperator;

/**
 * A number that a system property may set for the whole process. A wrong one is told by {@link #check()}, when a loop is
 * made and as often as one is. The class that needs the number can be used all the same: one that failed to initialize
 * would end a loop in the middle of its work, and say why only once.
 */
public final class IntSetting {

    private final int value;
    private final IllegalArgumentException problem;

    private IntSetting(int value, IllegalArgumentException problem) {
        this.value = value;
        this.problem = problem;
    }

    /**
     * @param checked gives the number back, or throws an {@link IllegalArgumentException} that names the property, what it
     *                says and what was expected
     */
    public static IntSetting of(String property, int byDefault, IntUnaryOperator checked) {
        String text = System.getProperty(property);
        try {
            return new IntSetting(checked.applyAsInt(text == null ? byDefault : Integer.parseInt(text.strip())), null);
        } catch (NumberFormatException e) {
            return new IntSetting(byDefault,
                    new IllegalArgumentException(property + ": '" + text + "' (expected: a whole number)"));
        } catch (IllegalArgumentException e) {
            return new IntSetting(byDefault, e);
        }
    }

    /** What is set, or the default if that is wrong. */
    public int value() {
        return value;
    }

    /** @throws IllegalArgumentException if what is set is wrong */
    public void check() {
        if (problem != null) {
            throw new IllegalArgumentException(problem.getMessage(), problem);
        }
    }
}
