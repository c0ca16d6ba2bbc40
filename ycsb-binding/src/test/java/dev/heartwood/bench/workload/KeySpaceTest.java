package dev.heartwood.bench.workload;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KeySpaceTest {
    @ParameterizedTest
    @ValueSource(ints = {8, 9, 10, 16, 23, 24, 40})
    void distinctNumbersHaveDistinctKeysOfTheRightForm(int keyBytes) {
        KeySpace keys = new KeySpace(keyBytes);
        long records = Math.min(20_000, keys.recordsMax());
        Set<String> seen = new HashSet<>();
        for (long number = 0; number < records; number++) {
            String key = hashed(keys, number);
            assertTrue(key.matches("user[0-9]{" + (keyBytes - 4) + "}"), key);
            assertTrue(seen.add(key), key + " came twice");
        }
    }

    @Test
    void everyNumberOfANarrowSpaceIsMetOnce() {
        KeySpace keys = new KeySpace(8);
        Set<String> seen = new HashSet<>();
        for (long number = 0; number < 10_000; number++) {
            seen.add(hashed(keys, number));
        }
        assertEquals(10_000, seen.size());
    }

    @Test
    void hashedKeysAreSpreadEvenly() {
        KeySpace keys = new KeySpace(24);
        int[] byFirstDigits = new int[10];
        for (long number = 0; number < 100_000; number++) {
            byFirstDigits[hashed(keys, number).charAt(5) - '0']++;
        }
        for (int count : byFirstDigits) {
            assertEquals(10_000, count, 500);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {10, 24})
    void absentKeysAreNeverLoaded(int keyBytes) {
        KeySpace keys = new KeySpace(keyBytes);
        SeededRandom random = new SeededRandom(5);
        for (int i = 0; i < 10_000; i++) {
            long number = keys.absentNumber(random);
            assertTrue(number >= keys.recordsMax() && number >= 0, "absent number " + number);
            assertTrue(hashed(keys, number).matches("user[0-9]+"));
        }
    }

    @Test
    void orderedKeysAscend() {
        KeySpace keys = new KeySpace(24);
        String before = "";
        for (long number = 0; number < 100_000; number += 7) {
            MemorySegment key = MemorySegment.ofArray(new byte[24]);
            keys.writeOrdered(number, key);
            assertTrue(before.compareTo(text(key)) < 0);
            assertTrue(text(key).endsWith(Long.toString(number)));
            before = text(key);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 12, 19, 20, 24, 30})
    void orderedKeysAreTheDigits(int keyBytes) {
        KeySpace keys = new KeySpace(keyBytes);
        SeededRandom random = new SeededRandom(7);
        for (int i = 0; i < 100_000; i++) {
            long number = random.below(keys.recordsMax()) >>> random.below(Long.SIZE);
            MemorySegment key = MemorySegment.ofArray(new byte[keyBytes]);
            keys.writeOrdered(number, key);
            assertEquals("user" + "0".repeat(keyBytes - 4 - Long.toString(number).length()) + number, text(key));
        }
    }

    @Test
    void tooShortAKeyIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> new KeySpace(7));
        assertFalse(new KeySpace(8).recordsMax() > 5_000);
    }

    private static String hashed(KeySpace keys, long number) {
        MemorySegment key = MemorySegment.ofArray(new byte[keys.keyBytes()]);
        keys.write(number, key);
        return text(key);
    }

    private static String text(MemorySegment key) {
        return new String(key.toArray(JAVA_BYTE), StandardCharsets.US_ASCII);
    }
}
