package dev.heartwood.engine.filter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.engine.os.MemoryPool;
import java.util.List;
import org.junit.jupiter.api.Test;

class FingerprintBufferTest {
    @Test
    void everyHashComesBackOnce() {
        try (MemoryPool pool = MemoryPool.open(16 << 20)) {
            FingerprintBuffer buffer = new FingerprintBuffer(pool);
            for (int count : new int[] {0, 1, 818, 819, 820, 2456, 2457, 100_000, 500_000}) {
                for (long i = 0; i < count; i++) {
                    buffer.add(i << FingerprintBuffer.HASH_SHIFT | 0xabcdef);
                }
                assertEquals(count, buffer.count());
                assertTrue(buffer.bytesHeld() <= 4096 + count * 16L);
                try (EntryBuckets buckets = new EntryBuckets(pool, count)) {
                    buffer.addTo(buckets, 7);
                    assertEquals(count, buckets.sort(40));
                    try (EntryMerge entries = new EntryMerge(pool, List.of(buckets.cursor(40)))) {
                        for (long i = 0; i < count; i++) {
                            assertTrue(entries.next());
                            assertEquals(i, entries.fingerprint());
                            assertEquals(1 << 7, entries.values());
                        }
                        assertFalse(entries.next());
                    }
                }
                buffer.close();
                assertEquals(0, buffer.count());
                assertEquals(0, pool.allocated());
            }
        }
    }

    @Test
    void anExhaustedPoolRefusesTheNextChunkAndKeepsTheRest() {
        try (MemoryPool pool = MemoryPool.open(64 << 10)) {
            FingerprintBuffer buffer = new FingerprintBuffer(pool);
            assertThrows(InsufficientMemoryException.class, () -> {
                while (true) {
                    buffer.add(buffer.count());
                }
            });
            assertTrue(buffer.count() > (64 << 10) / 5 - 50);
            assertEquals(64 << 10, buffer.bytesHeld());
            buffer.close();
            assertEquals(0, pool.allocated());
        }
    }
}
