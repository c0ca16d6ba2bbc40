package dev.heartwood.engine.log;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryRegions;
import java.lang.foreign.Arena;
import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BatchPayloadTest {
    private static final int BYTES = 1 << 20;

    private final Arena arena = Arena.ofShared();
    private final long memory = arena.allocate(BYTES, 8).address();
    private final BatchPayload payload = new BatchPayload();

    BatchPayloadTest() {
        MemoryRegions.add(memory, BYTES);
    }

    @AfterEach
    void free() {
        MemoryRegions.remove(memory);
        arena.close();
    }

    @Test
    void theBytesAreTheFormat() {
        byte[] text = "keyvalue".getBytes(java.nio.charset.StandardCharsets.US_ASCII);
        long source = memory + 1000;
        Memory.copyFrom(text, 0, source, text.length);
        long end = BatchPayload.put(memory, Entries.PUT, source, 3, source + 3, 5);
        end = BatchPayload.put(end, Entries.DELETE, source, 3, 0, 0);
        end = BatchPayload.put(end, Entries.MERGE, source, 0, source, 1);
        String expected = "01" + "03" + "05" + "6b6579" + "76616c7565" + "020300" + "6b6579" + "030001" + "6b";
        assertEquals(expected, HexFormat.of().formatHex(Memory.bytes(memory, (int) (end - memory))));
        assertEquals(3, payload.count(memory, end - memory));
    }

    @Test
    void lengthsAtTheLimits() {
        int[] lengths = {0, 1, 127, 128, 16383, 16384, 65535, 65536, 200_000};
        for (int key : lengths) {
            for (int value : lengths) {
                if (key <= LogLayout.KEY_BYTES_MAX) {
                    long at = BatchPayload.putHeader(memory, Entries.PUT, key, value);
                    assertEquals(BatchPayload.entryBytes(key, value), at - memory + key + value);
                    payload.reset(memory, at - memory + key + value);
                    assertTrue(payload.next());
                    assertEquals(key, payload.keyLength);
                    assertEquals(value, payload.valueLength);
                    assertEquals(at, payload.keyAddress);
                    assertFalse(payload.next());
                    assertEquals(-1, payload.count(memory, at - memory + key + value - 1));
                }
            }
        }
        long at = BatchPayload.putHeader(memory, Entries.PUT, LogLayout.KEY_BYTES_MAX + 1, 0);
        assertEquals(-1, payload.count(memory, at - memory + LogLayout.KEY_BYTES_MAX + 1));
    }

    @Test
    void anythingIsRefusedOrRead() {
        long seed = Long.getLong("seed", System.nanoTime());
        Random random = new Random(seed);
        byte[] bytes = new byte[64];
        for (int i = 0; i < 200_000; i++) {
            random.nextBytes(bytes);
            bytes[0] = (byte) (1 + random.nextInt(3));
            bytes[1] = (byte) random.nextInt(i % 2 == 0 ? 256 : 8);
            int length = random.nextInt(bytes.length);
            Memory.copyFrom(bytes, 0, memory + BYTES - length, length);
            payload.reset(memory + BYTES - length, length);
            while (payload.next()) {
                long end = payload.valueAddress + payload.valueLength;
                assertTrue(end <= memory + BYTES, "rerun with -Dtest=BatchPayloadTest -Dseed=" + seed);
            }
        }
    }
}
