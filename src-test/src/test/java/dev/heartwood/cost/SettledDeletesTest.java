package dev.heartwood.cost;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreStats;
import dev.heartwood.testkit.TestDirectory;
import org.junit.jupiter.api.Test;

/** Deletes take little memory: what they delete of a store goes when it settles, though no memtable is full of them. */
class SettledDeletesTest {
    private static final int KEYS = 20_000;

    @Test
    void whatWasDeletedIsGoneWhenAStoreSettles() {
        try (TestDirectory directory = new TestDirectory("settled");
                KeyValueStore store = Heartwood.open(
                        directory.path(),
                        StoreOptions.builder().memory(ByteSize.mib(16)).build())) {
            for (int i = 0; i < KEYS; i++) {
                store.put(Load.key(i), Load.value(i));
            }
            store.checkpoint();
            store.settle();
            delete(store, 0, KEYS / 100);
            StoreStats few = settled(store);
            assertEquals(KEYS + KEYS / 100, few.entriesEstimate(), "a hundredth is deleted in memory alone");
            delete(store, KEYS / 100, KEYS * 9 / 10);
            StoreStats many = settled(store);
            assertEquals(KEYS / 10, many.entriesEstimate());
            assertTrue(many.liveBytes() < few.liveBytes() / 4, many.liveBytes() + " of " + few.liveBytes() + " bytes are in use");
        }
    }

    private static StoreStats settled(KeyValueStore store) {
        store.settle();
        return store.stats();
    }

    private static void delete(KeyValueStore store, int from, int to) {
        for (int i = from; i < to; i++) {
            store.delete(Load.key(i));
        }
    }
}
