package dev.heartwood.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.heartwood.testkit.TestDirectory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a store refuses leaves it as it was. */
class RefusedWriteTest {
    private static final int ENTRIES = 3;

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void aListWithoutAKeySomewhereWritesNothing(int without) {
        try (TestDirectory directory = new TestDirectory("refused")) {
            HeartwoodKeyValueStore store = new StoreContext(directory.path(), Map.of())
                    .open(HeartwoodKeyValueStore.of("s", ValueFormat.PLAIN));
            List<KeyValue<Bytes, byte[]>> entries = new ArrayList<>();
            for (int i = 0; i < ENTRIES; i++) {
                entries.add(KeyValue.pair(i == without ? null : Bytes.wrap(new byte[] {(byte) i}), new byte[1]));
            }
            assertThrows(NullPointerException.class, () -> store.putAll(entries));
            assertEquals(0, Counted.entries(store.all()));
            entries.remove(without);
            store.putAll(entries);
            assertEquals(ENTRIES - 1, Counted.entries(store.all()));
            store.close();
        }
    }
}
