package dev.heartwood.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.testkit.TestDirectory;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsConfig;
import org.junit.jupiter.api.Test;

class UndoneKeysTest {
    private static final int KEYS = 20_000;

    private static byte[] key(int number, int length) {
        return ByteBuffer.allocate(length).putInt(number).array();
    }

    @Test
    void fingerprintsTellKeysEpochsAndTablesApart() {
        long seed = UndoneKeys.newSeed();
        Set<Long> seen = new HashSet<>();
        int count = 0;
        for (int length = 4; length < 28; length += 3) {
            for (int number = 0; number < KEYS; number++) {
                for (long epoch = 0; epoch < 3; epoch++) {
                    seen.add(UndoneKeys.fingerprint(seed, epoch, key(number, length)));
                    count++;
                }
            }
        }
        assertEquals(count, seen.size());
        assertNotEquals(UndoneKeys.fingerprint(seed, 1, key(1, 8)), UndoneKeys.fingerprint(seed + 1, 1, key(1, 8)));
    }

    @Test
    void whatIsKnownIsForgottenAtMost() {
        UndoneKeys known = new UndoneKeys(1 << 16);
        long seed = UndoneKeys.newSeed();
        for (int number = 0; number < KEYS; number++) {
            long fingerprint = UndoneKeys.fingerprint(seed, 1, key(number, 12));
            assertFalse(known.contains(fingerprint));
            known.add(fingerprint);
            assertTrue(known.contains(fingerprint));
        }
        int remembered = 0;
        for (int number = 0; number < KEYS; number++) {
            remembered += known.contains(UndoneKeys.fingerprint(seed, 1, key(number, 12))) ? 1 : 0;
            assertFalse(known.contains(UndoneKeys.fingerprint(seed, 2, key(number, 12))));
        }
        assertTrue(remembered > (1 << 13) * 8 / 10 && remembered <= 1 << 13, remembered + " keys");
    }

    @Test
    void aSecondWriteSinceTheCommitReadsNothing() {
        Map<String, Object> configs = Map.of(
                StreamsConfig.PROCESSING_GUARANTEE_CONFIG,
                StreamsConfig.EXACTLY_ONCE_V2,
                HeartwoodStoreConfig.MEMTABLE_BYTES,
                "64k");
        try (TestDirectory directory = new TestDirectory("undone")) {
            StoreContext context = new StoreContext(directory.path(), configs);
            HeartwoodKeyValueStore store = context.open(HeartwoodKeyValueStore.of("s", ValueFormat.PLAIN));
            TopicPartition changelog = StoreContext.CHANGELOG;
            writeAll(store, 1);
            store.commit(Map.of(changelog, 1L));
            long before = store.table().stats().filterProbes();
            writeAll(store, 2);
            long first = store.table().stats().filterProbes() - before;
            writeAll(store, 3);
            long second = store.table().stats().filterProbes() - before - first;
            assertTrue(first >= KEYS, first + " probes");
            // Of the keys a few have taken the places of others.
            assertTrue(second < first / 10, second + " probes after " + first);

            store.close();
            StoreContext later = new StoreContext(directory.path(), configs);
            HeartwoodKeyValueStore reopened = later.open(HeartwoodKeyValueStore.of("s", ValueFormat.PLAIN));
            for (int number = 0; number < KEYS; number++) {
                assertEquals(1, ByteBuffer.wrap(reopened.get(Bytes.wrap(key(number, 12)))).getInt());
            }
            reopened.close();
        }
    }

    private static void writeAll(HeartwoodKeyValueStore store, int round) {
        for (int number = 0; number < KEYS; number++) {
            store.put(Bytes.wrap(key(number, 12)), ByteBuffer.allocate(50).putInt(round).array());
        }
    }
}
