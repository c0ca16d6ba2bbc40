package dev.heartwood.bench.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.rocksdb.RocksDBException;

/** How long RocksDB is waited for. */
class RocksSettlingTest {
    private static final int QUESTIONS_MAX = 40;

    private final Map<String, Long> values = new HashMap<>(Map.of(
            "rocksdb.background-errors", 0L,
            "rocksdb.compaction-pending", 0L,
            "rocksdb.num-running-compactions", 0L,
            "rocksdb.num-running-flushes", 0L));
    private int questions;

    private long value(String name) {
        assertTrue(++questions < QUESTIONS_MAX, "asks for ever");
        return values.get(name);
    }

    /** A compaction that failed stays pending, so it was waited for without an end. */
    @Test
    void aStoreWhoseCompactionsFailIsNotWaitedFor() {
        values.put("rocksdb.background-errors", 2L);
        values.put("rocksdb.compaction-pending", 1L);
        String message = assertThrows(IllegalStateException.class, () -> RocksEngine.awaitCompactions(this::value)).getMessage();
        assertTrue(message.startsWith("its flushes and compactions have failed 2 times"), message);
    }

    @Test
    void whatRunsIsWaitedFor() throws RocksDBException, InterruptedException {
        for (String name : new String[] {"rocksdb.compaction-pending", "rocksdb.num-running-compactions", "rocksdb.num-running-flushes"}) {
            values.put(name, 1L);
            questions = 0;
            RocksEngine.awaitCompactions(asked -> {
                long value = value(asked);
                if (questions > QUESTIONS_MAX / 2) {
                    values.put(name, 0L);
                }
                return value;
            });
            assertTrue(questions > QUESTIONS_MAX / 2, name);
            assertEquals(0, values.get(name));
        }
    }
}
