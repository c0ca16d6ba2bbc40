package dev.heartwood.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.heartwood.ByteSize;
import dev.heartwood.Cursor;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.testkit.Campaign;
import dev.heartwood.testkit.TestDirectory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.apache.kafka.common.utils.Bytes;
import org.junit.jupiter.api.Test;

/** What a scan of segments shows, against every entry tried one by one. Keys have zeros and are prefixes of each other. */
class SegmentRangeTest {
    private static final long SEGMENT_MILLIS = 7;
    private static final long TIME_MAX = 40;

    @Test
    void aScanShowsWhatIsAskedForInTheOrderOfTheTable() {
        Campaign.run(getClass(), 6, seed -> {
            SplittableRandom random = new SplittableRandom(seed);
            SegmentKeys keys = random.nextBoolean() ? SegmentKeys.WINDOW : SegmentKeys.SESSION;
            StoreOptions options = StoreOptions.builder()
                    .memory(ByteSize.mib(16))
                    .groupSuffixBytes(keys.kind().groupSuffixBytes())
                    .build();
            try (TestDirectory directory = new TestDirectory("segments");
                    KeyValueStore store = Heartwood.open(directory.path(), options)) {
                TreeSet<Bytes> entries = new TreeSet<>();
                for (int i = 0; i < 300; i++) {
                    byte[] tableKey = keys.tableKey(storeKey(keys, random), SEGMENT_MILLIS);
                    entries.add(Bytes.wrap(tableKey));
                    store.put(tableKey, new byte[0]);
                }
                long dataUpTo = entries.stream().mapToLong(entry -> keys.time(entry.get())).max().orElseThrow();
                for (int i = 0; i < 400; i++) {
                    check(store, entries, range(keys, random), dataUpTo, random.nextBoolean());
                }
            }
        });
    }

    private static void check(
            KeyValueStore store, TreeSet<Bytes> entries, SegmentRange range, long dataUpTo, boolean isForward) {
        List<Bytes> expected = new ArrayList<>();
        entries.forEach(entry -> {
            if (range.matches(entry.get())) {
                expected.add(entry);
            }
        });
        if (!isForward) {
            Collections.reverse(expected);
        }
        List<Bytes> shown = new ArrayList<>();
        Cursor cursor = store.cursor(range.tableRange());
        SegmentScan<Bytes> scan =
                new SegmentScan<>(
                        "s", () -> cursor, range, () -> dataUpTo, isForward ? Direction.FORWARD : Direction.BACKWARD) {
                    @Override
                    Bytes key(byte[] tableKey) {
                        return Bytes.wrap(tableKey);
                    }
                };
        try (scan) {
            scan.forEachRemaining(entry -> shown.add(entry.key));
        }
        assertEquals(expected, shown, range::toString);
    }

    private static SegmentRange range(SegmentKeys keys, SplittableRandom random) {
        byte[] from = random.nextInt(4) == 0 ? null : key(random);
        byte[] to = random.nextInt(4) == 0 ? null : random.nextInt(3) == 0 && from != null ? from : key(random);
        long timeFrom = random.nextLong(TIME_MAX);
        long timeTo = random.nextInt(4) == 0 ? Long.MAX_VALUE : timeFrom + random.nextLong(TIME_MAX / 2);
        long startTo = keys == SegmentKeys.WINDOW ? Long.MAX_VALUE : random.nextLong(TIME_MAX);
        return new SegmentRange(keys, SEGMENT_MILLIS, from, to, timeFrom, timeTo, startTo);
    }

    private static byte[] storeKey(SegmentKeys keys, SplittableRandom random) {
        byte[] key = key(random);
        long time = random.nextLong(TIME_MAX);
        ByteBuffer storeKey = ByteBuffer.allocate(key.length + keys.suffixBytes()).put(key).putLong(time);
        if (keys == SegmentKeys.WINDOW) {
            storeKey.putInt(random.nextInt(3));
        } else {
            storeKey.putLong(random.nextLong(time + 1));
        }
        return storeKey.array();
    }

    private static byte[] key(SplittableRandom random) {
        byte[] key = new byte[random.nextInt(6)];
        for (int i = 0; i < key.length; i++) {
            key[i] = (byte) random.nextInt(3);
        }
        return key;
    }
}
