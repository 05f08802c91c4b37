// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

/**
 * A number that a system property may set for the whole process. A wrong one is told by {@link #check()}, when a loop is
 * made and as often as one is. The class that needs the number can be used all the same: one that failed to initialize
 * would end a loop in the middle of its work, and say why only once.
 */
public final class IntSetting {

    private final int value;
    private final String problem;

    private IntSetting(String property, int byDefault, boolean zero, int least, int most, String unit) {
        String text = System.getProperty(property);
        int number = byDefault;
        String wrong = null;
        try {
            number = text == null ? byDefault : Integer.parseInt(text.strip());
            if ((number < least || number > most) && !(zero && number == 0)) {
                wrong = number + " (expected: " + (zero ? "0, or " : "") + least + " to " + most + ' ' + unit + ')';
            }
        } catch (NumberFormatException e) {
            wrong = '\'' + text + "' (expected: a whole number)";
        }
        value = wrong == null ? number : byDefault;
        problem = wrong == null ? null : property + ": " + wrong;
    }

    /**
     * @param least of what it may be set to
     * @param most  of what it may be set to; the default must not be above it either
     */
    public static IntSetting of(String property, int byDefault, int least, int most, String unit) {
        return new IntSetting(property, byDefault, false, least, most, unit);
    }

    /** One that may also be 0. */
    static IntSetting orZero(String property, int byDefault, int least, int most, String unit) {
        return new IntSetting(property, byDefault, true, least, most, unit);
    }

    /** What is set, or the default if that is wrong. */
    public int value() {
        return value;
    }

    /** @throws IllegalArgumentException if what is set is wrong */
    public void check() {
        if (problem != null) {
            throw new IllegalArgumentException(problem);
        }
    }
}
