package dev.heartwood.kafka;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.CorruptionException;
import dev.heartwood.Heartwood;
import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.KeyValueStore;
import dev.heartwood.LockedException;
import dev.heartwood.StoreOptions;
import dev.heartwood.testkit.TestDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.errors.ProcessorStateException;
import org.apache.kafka.streams.errors.StreamsException;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Materialized;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Global stores that cannot be opened. Kafka Streams takes a {@link ProcessorStateException} for a store that has to be restored, and deletes
 * all global stores under exactly-once.
 */
class GlobalStoreTest {
    private static final Map<String, String> EXACTLY_ONCE =
            Map.of(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
    private static final Map<String, String> TOO_MUCH_MEMORY = Map.of(HeartwoodStoreConfig.MEMORY_MAX_BYTES, "1000000g");
    private static final Bytes KEY = Bytes.wrap("k".getBytes());

    private final TestDirectory directory = new TestDirectory("global");

    @AfterEach
    void removeDirectory() {
        directory.close();
    }

    private HeartwoodKeyValueStore open(Map<String, String> more) {
        Map<String, String> configs = new HashMap<>(EXACTLY_ONCE);
        configs.putAll(more);
        return StoreContext.global(directory.path(), configs).open(HeartwoodKeyValueStore.of("s", ValueFormat.PLAIN));
    }

    private Path place() {
        return TableOpener.directory(directory.path().toFile(), "s");
    }

    private void fill() {
        HeartwoodKeyValueStore store = open(Map.of());
        store.put(KEY, new byte[] {1});
        store.commit(Map.of(StoreContext.CHANGELOG, 1L));
        store.close();
    }

    private void assertFilled() {
        HeartwoodKeyValueStore store = open(Map.of());
        assertArrayEquals(new byte[] {1}, store.get(KEY));
        store.close();
    }

    /** What opening it ends in, which is no reason to restore it. */
    private Throwable cause(Map<String, String> more) {
        StreamsException refusal = assertThrows(StreamsException.class, () -> open(more));
        assertFalse(refusal instanceof ProcessorStateException, refusal::toString);
        assertEquals(0, SharedEnvironment.openCount(), "nothing stays open");
        return refusal.getCause();
    }

    /** The memory was more than a process can address, and the state of all global stores was gone. */
    @Test
    void kafkaStreamsKeepsWhatCannotBeOpenedNow() throws IOException {
        Properties properties = new Properties();
        properties.put(StreamsConfig.APPLICATION_ID_CONFIG, "application");
        properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "127.0.0.1:9");
        properties.put(StreamsConfig.STATE_DIR_CONFIG, directory.path().toString());
        properties.putAll(EXACTLY_ONCE);
        properties.putAll(TOO_MUCH_MEMORY);
        StreamsBuilder builder = new StreamsBuilder();
        builder.globalTable(
                "topic",
                Consumed.with(Serdes.String(), Serdes.String()),
                Materialized.as(HeartwoodStores.persistentKeyValueStore("s")));
        Path kept = directory.path().resolve("application").resolve("global").resolve("kept");
        Files.createDirectories(kept.getParent());
        Files.createFile(kept);
        assertThrows(StreamsException.class, () -> new TopologyTestDriver(builder.build(), properties).close());
        assertTrue(Files.exists(kept));
    }

    @Test
    void anEnvironmentThatCannotBeHadIsNoReasonToRestore() {
        fill();
        assertInstanceOf(InsufficientMemoryException.class, cause(TOO_MUCH_MEMORY));
        assertFilled();
    }

    @Test
    void aStoreThatIsOpenElsewhereIsNoReasonToRestore() {
        fill();
        try (KeyValueStore elsewhere = Heartwood.open(place(), StoreOptions.defaults())) {
            assertTrue(elsewhere.contains(TableKeys.COMMIT));
            assertInstanceOf(LockedException.class, cause(Map.of()));
        }
        assertFilled();
    }

    @Test
    void aDirectoryThatCannotBeMadeIsNoReasonToRestore() throws IOException {
        Files.createFile(place().getParent());
        assertInstanceOf(IOException.class, cause(Map.of()));
    }

    @Test
    void damageIsAReasonToRestore() throws IOException {
        fill();
        Path data = place().resolve("data.hw");
        Files.write(data, new byte[(int) Files.size(data)]);
        ProcessorStateException refusal = assertThrows(ProcessorStateException.class, () -> open(Map.of()));
        assertInstanceOf(CorruptionException.class, refusal.getCause());
        assertEquals(0, SharedEnvironment.openCount(), "nothing stays open");
    }
}
