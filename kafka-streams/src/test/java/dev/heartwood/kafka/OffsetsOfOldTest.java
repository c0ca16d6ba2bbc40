package dev.heartwood.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.heartwood.testkit.TestDirectory;
import java.io.File;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.internals.StateDirectory;
import org.apache.kafka.streams.state.internals.LegacyCheckpointingStateStore;
import org.apache.kafka.streams.state.internals.OffsetCheckpoint;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A task whose stores were RocksDB's under Kafka Streams 4.2 or earlier, which kept their offsets in a file beside them. */
class OffsetsOfOldTest {
    private static final TaskId TASK = new TaskId(0, 0);
    private static final long OFFSET_OF_OLD = 1_000_000;

    private final TestDirectory directory = new TestDirectory("offsets-of-old");
    private StateDirectory state;
    private File task;
    private File file;

    @BeforeEach
    void makeTask() throws IOException {
        Properties properties = new Properties();
        properties.put(StreamsConfig.APPLICATION_ID_CONFIG, "test");
        properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "127.0.0.1:9");
        properties.put(StreamsConfig.STATE_DIR_CONFIG, directory.path().toString());
        state = new StateDirectory(new StreamsConfig(properties), Time.SYSTEM, true, false);
        task = state.getOrCreateDirectoryForTask(TASK);
        file = new File(task, LegacyCheckpointingStateStore.CHECKPOINT_FILE_NAME);
        writeFile();
    }

    @AfterEach
    void removeDirectory() {
        directory.close();
    }

    private void writeFile() throws IOException {
        new OffsetCheckpoint(file).write(Map.of(StoreContext.CHANGELOG, OFFSET_OF_OLD));
    }

    private StoreContext context(String guarantee) {
        return new StoreContext(task.toPath(), Map.of(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, guarantee));
    }

    private static HeartwoodKeyValueStore open(StoreContext context) {
        return context.open(HeartwoodKeyValueStore.of("s", ValueFormat.PLAIN));
    }

    /** What Kafka Streams does with the file between initialising a task's stores and asking them for their offsets. */
    private void migrate(HeartwoodKeyValueStore store) {
        LegacyCheckpointingStateStore.migrateLegacyOffsets("", state, TASK, Map.of(StoreContext.CHANGELOG, store));
        assertFalse(file.exists(), "Kafka Streams has not read the file");
    }

    @ParameterizedTest
    @ValueSource(strings = {StreamsConfig.AT_LEAST_ONCE, StreamsConfig.EXACTLY_ONCE_V2})
    void aStoreThatComesInTheirPlaceRestoresEverything(String guarantee) {
        StoreContext context = context(guarantee);
        HeartwoodKeyValueStore store = open(context);
        migrate(store);
        assertNull(store.committedOffset(StoreContext.CHANGELOG));
        context.streams().restore("s", List.of(KeyValue.pair("k".getBytes(), "v".getBytes())));
        store.commit(Map.of(StoreContext.CHANGELOG, 1L));
        store.close();
        store = open(context(guarantee));
        assertEquals(1L, store.committedOffset(StoreContext.CHANGELOG));
        assertEquals("v", new String(store.get(Bytes.wrap("k".getBytes()))));
        store.close();
    }

    /** As when the stores were RocksDB's again for a while. */
    @Test
    void aStoreThatComesBackKeepsItsOwnOffset() throws IOException {
        HeartwoodKeyValueStore store = open(context(StreamsConfig.AT_LEAST_ONCE));
        migrate(store);
        assertNull(store.committedOffset(StoreContext.CHANGELOG));
        store.commit(Map.of(StoreContext.CHANGELOG, 5L));
        store.close();
        writeFile();
        store = open(context(StreamsConfig.AT_LEAST_ONCE));
        migrate(store);
        assertEquals(5L, store.committedOffset(StoreContext.CHANGELOG));
        store.close();
    }

    /** It is asked for no offset, and what is written before its first commit would be away under exactly-once. */
    @Test
    void aStoreWithoutAChangelogCommitsAsEver() {
        HeartwoodKeyValueStore store = open(context(StreamsConfig.EXACTLY_ONCE_V2));
        store.put(Bytes.wrap("k".getBytes()), "v".getBytes());
        store.commit(Map.of());
        store.close();
        store = open(context(StreamsConfig.EXACTLY_ONCE_V2));
        assertEquals("v", new String(store.get(Bytes.wrap("k".getBytes()))));
        store.close();
    }
}
