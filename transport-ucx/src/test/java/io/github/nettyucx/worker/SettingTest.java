// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.worker;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

class SettingTest {

    private static final String PROPERTY = "io.github.nettyucx.test.setting";

    @AfterEach
    void forget() {
        System.clearProperty(PROPERTY);
    }

    private static IntSetting number(String text) {
        System.setProperty(PROPERTY, text);
        return IntSetting.of(PROPERTY, 7, 1, 4096, "bytes");
    }

    private static IntSetting numberOrZero(String text) {
        System.setProperty(PROPERTY, text);
        return IntSetting.orZero(PROPERTY, 7, 5, 4096, "bytes");
    }

    private static void assertRefused(String reason, IntSetting setting) {
        for (int i = 0; i < 2; i++) {
            assertEquals(PROPERTY + ": " + reason,
                    assertThrows(IllegalArgumentException.class, setting::check).getMessage());
        }
        assertEquals(7, setting.value());
    }

    @Test
    void whatIsNotSetIsTheDefault() {
        IntSetting setting = IntSetting.of(PROPERTY, 7, 1, 4096, "bytes");
        assertDoesNotThrow(setting::check);
        assertEquals(7, setting.value());
    }

    @Test
    void aDefaultThatDoesNotGoWithWhatElseIsSetIsTold() {
        assertRefused("7 (expected: 1 to 6 bytes)", IntSetting.of(PROPERTY, 7, 1, 6, "bytes"));
    }

    @ParameterizedTest
    @CsvSource({"1, 1", "4096, 4096", "' 77 ', 77"})
    void aNumberInTheRangeIsTaken(String text, int number) {
        IntSetting setting = number(text);
        assertDoesNotThrow(setting::check);
        assertEquals(number, setting.value());
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 0, 4097})
    void anotherIsRefusedWithTheRange(int number) {
        assertRefused(number + " (expected: 1 to 4096 bytes)", number(Integer.toString(number)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"1m", "", "99999999999"})
    void whatIsNoNumberIsRefused(String text) {
        assertRefused('\'' + text + "' (expected: a whole number)", number(text));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 5, 4096})
    void oneThatMayBeZeroMayBeInTheRangeAsWell(int number) {
        IntSetting setting = numberOrZero(Integer.toString(number));
        assertDoesNotThrow(setting::check);
        assertEquals(number, setting.value());
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 1, 4, 4097})
    void oneThatMayBeZeroMayBeNothingElse(int number) {
        assertRefused(number + " (expected: 0, or 5 to 4096 bytes)", numberOrZero(Integer.toString(number)));
    }

    @Test
    void aNameIsTakenInAnyCase() {
        assertEquals(Registration.AUTO, EnumSetting.of(PROPERTY, Registration.class, Registration.AUTO));
        System.setProperty(PROPERTY, " NeVer ");
        assertEquals(Registration.NEVER, EnumSetting.of(PROPERTY, Registration.class, Registration.AUTO));
    }

    @Test
    void anotherNameIsRefusedWithThoseThatThereAre() {
        System.setProperty(PROPERTY, "sometimes");
        assertEquals(PROPERTY + ": 'sometimes' (expected: one of [auto, always, never])",
                assertThrows(IllegalArgumentException.class,
                        () -> EnumSetting.of(PROPERTY, Registration.class, Registration.AUTO)).getMessage());
    }
}
