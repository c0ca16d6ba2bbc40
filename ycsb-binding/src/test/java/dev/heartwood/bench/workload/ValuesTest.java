package dev.heartwood.bench.workload;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.util.zip.Deflater;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ValuesTest {
    private final MemorySegment key = MemorySegment.ofArray("user00000000000000004711".getBytes());
    private final MemorySegment otherKey = MemorySegment.ofArray("user00000000000000004712".getBytes());

    @ParameterizedTest
    @ValueSource(ints = {1, 7, 8, 15, 16, 17, 100, 1000})
    void anyFlippedByteIsFound(int length) {
        MemorySegment value = MemorySegment.ofArray(new byte[length]);
        Values.fill(key, value, 99);
        assertTrue(Values.matches(key, value, length));
        for (int i = 0; i < length; i++) {
            value.set(JAVA_BYTE, i, (byte) (value.get(JAVA_BYTE, i) ^ 0x10));
            assertFalse(Values.matches(key, value, length), "byte " + i);
            value.set(JAVA_BYTE, i, (byte) (value.get(JAVA_BYTE, i) ^ 0x10));
        }
        assertFalse(Values.matches(otherKey, value, length));
    }

    @Test
    void aMixtureOfTwoVersionsIsFound() {
        MemorySegment one = MemorySegment.ofArray(new byte[100]);
        MemorySegment other = MemorySegment.ofArray(new byte[100]);
        Values.fill(key, one, 1);
        Values.fill(key, other, 2);
        MemorySegment.copy(other, 50, one, 50, 50);
        assertFalse(Values.matches(key, one, 100));
    }

    @Test
    void valuesDoNotCompress() {
        byte[] values = new byte[100 * 1000];
        for (int i = 0; i < 1000; i++) {
            Values.fill(key, MemorySegment.ofArray(values).asSlice(100L * i, 100), SeededRandom.mix(i));
        }
        try (Deflater deflater = new Deflater(Deflater.BEST_COMPRESSION)) {
            deflater.setInput(values);
            deflater.finish();
            int compressed = deflater.deflate(new byte[2 * values.length]);
            assertTrue(compressed > 0.99 * values.length, compressed + " bytes");
        }
    }
}
