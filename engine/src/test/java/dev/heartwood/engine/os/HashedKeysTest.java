package dev.heartwood.engine.os;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class HashedKeysTest {
    private static final int BYTES = 1 << 16;

    private final MemoryPool pool = MemoryPool.open(4 * BYTES);
    private final long memory = pool.allocate(BYTES);

    @AfterEach
    void close() {
        pool.close();
    }

    private byte[] stored(byte[] key) {
        Memory.copyFrom(key, 0, memory, key.length);
        HashedKeys.store(memory, key.length);
        return Memory.bytes(memory, key.length);
    }

    @Test
    void everyKeyComesBack() {
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < 20_000; i++) {
            byte[] key = new byte[i % 50 == 49 ? random.nextInt(BYTES + 1) : random.nextInt(40)];
            random.nextBytes(key);
            byte[] restored = stored(key);
            HashedKeys.restore(restored, key.length);
            assertArrayEquals(key, restored);
        }
    }

    @Test
    void noTwoShortKeysHaveOneForm() {
        Set<String> forms = new HashSet<>();
        for (int i = 0; i < 1 << 16; i++) {
            forms.add(HexFormat.of().formatHex(stored(new byte[] {(byte) (i >> 8), (byte) i})));
        }
        assertEquals(1 << 16, forms.size());
    }

    /** Stores depend on it. */
    @Test
    void theFormIsWhatItWas() {
        assertEquals("", form(""));
        assertEquals("8c", form("a"));
        assertEquals("ac6067ce69", form("heart"));
        assertEquals("ed3bdd22f3fcc82c", form("heartwoo"));
        assertEquals("d1c945f0d8c7e4ef303030303030303030303432", form("user0000000000000042"));
    }

    private String form(String key) {
        return HexFormat.of().formatHex(stored(key.getBytes()));
    }

    /** Keys that differ in one digit, at whatever place: as even over 256 ranges as random numbers are. */
    @Test
    void similarKeysSpreadEvenly() {
        for (int digitsAt : new int[] {0, 4, 8, 17}) {
            int count = 1 << 16;
            int[] inRange = new int[256];
            for (int i = 0; i < count; i++) {
                byte[] key = new byte[30];
                ByteBuffer.wrap(key, digitsAt, 8).put(String.format("%08d", i).getBytes());
                inRange[stored(key)[0] & 0xff]++;
            }
            double chiSquare = 0;
            for (int n : inRange) {
                chiSquare += (n - count / 256.0) * (n - count / 256.0) / (count / 256.0);
            }
            // 255 degrees of freedom: a random spread passes 360 once in a hundred thousand times.
            assertTrue(chiSquare < 360, "digits at " + digitsAt + ": " + chiSquare);
        }
    }
}
