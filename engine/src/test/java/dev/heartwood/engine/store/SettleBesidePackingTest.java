package dev.heartwood.engine.store;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.heartwood.ByteSize;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is being packed when a store is asked to settle is settled with the rest; it could come too late, and nobody looked again. */
class SettleBesidePackingTest {
    private static final int ROUNDS = 40;
    private static final int MEMTABLE_BYTES = 64 << 10;

    @Test
    void whatIsBeingPackedIsSettledToo(@TempDir Path directory) {
        StoreOptions options = StoreOptions.builder()
                .memory(EnvironmentOptions.MEMORY_MIN)
                .memtable(new ByteSize(MEMTABLE_BYTES))
                .build();
        byte[] value = new byte[1000];
        try (KeyValueStore store = Heartwood.open(directory, options)) {
            for (int round = 0; round < ROUNDS; round++) {
                for (int i = 0; i < 3 * MEMTABLE_BYTES / value.length; i++) {
                    store.put(ByteBuffer.allocate(4).putInt(i * 0x9E3779B9).array(), value);
                }
                store.settle();
                assertEquals(1, store.stats().runs(), "round " + round);
            }
        }
    }
}
