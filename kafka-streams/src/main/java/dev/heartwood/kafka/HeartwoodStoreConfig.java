package dev.heartwood.kafka;

import dev.heartwood.ByteSize;
import dev.heartwood.CompactionPolicyKind;
import dev.heartwood.DeviceKind;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.StoreOptions;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import org.apache.kafka.common.config.ConfigException;

/**
 * The {@code heartwood.*} keys of a Kafka Streams configuration. Immutable. Sizes are numbers of bytes, or numbers with one of the
 * suffixes {@code k}, {@code m} and {@code g}. A key that begins with {@code heartwood.} and is not known is refused, so that a
 * misspelt one is not silently without effect.
 */
public final class HeartwoodStoreConfig {
    /** What every key begins with. */
    public static final String PREFIX = "heartwood.";

    /** The memory of all stores of a KafkaStreams instance together. Default 256 MiB, at least 16 MiB. */
    public static final String MEMORY_MAX_BYTES = PREFIX + "memory.max.bytes";

    /** Background threads of a KafkaStreams instance. Default: the number of processors, 1 to 64. */
    public static final String WORKERS = PREFIX + "workers";

    /** How the device is driven: {@code auto}, {@code uring}, {@code aio}, {@code posix} or {@code jnr}. Default {@code auto}. */
    public static final String DEVICE = PREFIX + "device";

    /**
     * Whether files are read and written through the operating system's cache, which lies outside the memory of {@link
     * #MEMORY_MAX_BYTES} and gives way to others, or past it: {@code buffered} or {@code direct}. Default buffered, as the files of
     * Kafka Streams' own stores are.
     */
    public static final String IO_MODE = PREFIX + "io.mode";

    /** The size at which a memtable of a store is sealed. Default 0: 3/32 of the memory, 1 to 64 MiB. */
    public static final String MEMTABLE_BYTES = PREFIX + "memtable.bytes";

    /** Memtables between two checkpoints of a store. Default 4, 1 to 1,024. */
    public static final String CHECKPOINT_DISTANCE = PREFIX + "checkpoint.distance";

    /** How lazily stores merge: {@code size_tiered}, {@code lazy_leveling}, {@code level_tiered} or {@code auto}. Default {@code auto}. */
    public static final String COMPACTION_POLICY = PREFIX + "compaction.policy";

    /** Whether free space goes back to the file system: {@code keep} or {@code return}. Default {@code keep}. */
    public static final String FREE_SPACE = PREFIX + "free.space";

    /**
     * How old the last commit may be, in milliseconds, that a store goes back to; a store that would have to go further back is restored from its
     * changelog as a whole, since that may have forgotten what was deleted meanwhile. It has to be well below the changelog's {@code
     * delete.retention.ms}, which is 24 hours unless it is set. Default 12 hours, 0 or more.
     */
    public static final String ROLLBACK_AGE_MAX_MS = PREFIX + "rollback.age.max.ms";

    private static final List<String> KEYS = List.of(
            MEMORY_MAX_BYTES,
            WORKERS,
            DEVICE,
            IO_MODE,
            MEMTABLE_BYTES,
            CHECKPOINT_DISTANCE,
            COMPACTION_POLICY,
            FREE_SPACE,
            ROLLBACK_AGE_MAX_MS);

    private final EnvironmentOptions environment;
    private final StoreOptions store;
    private final long rollbackAgeMaxMillis;

    private HeartwoodStoreConfig(Reading reading) {
        environment = reading.environment.build();
        store = reading.store.build();
        rollbackAgeMaxMillis = reading.rollbackAgeMaxMillis;
    }

    /**
     * Reads the keys that begin with {@link #PREFIX}; others are not looked at.
     *
     * @throws ConfigException when a key is not known or its value is out of range; the message names the key and the value
     */
    public static HeartwoodStoreConfig of(Map<String, ?> configs) {
        Reading reading = new Reading();
        configs.forEach((key, value) -> {
            if (key.startsWith(PREFIX)) {
                if (!KEYS.contains(key)) {
                    throw new ConfigException(key, value, "there is no such key; the keys are " + KEYS);
                }
                if (value == null) {
                    throw new ConfigException(key, null, "a value is needed; leave the key out for its default");
                }
                reading.apply(key, value.toString().trim());
            }
        });
        return new HeartwoodStoreConfig(reading);
    }

    /** What the keys read so far say, and defaults. */
    private static final class Reading {
        private final EnvironmentOptions.Builder environment = EnvironmentOptions.builder();
        private final StoreOptions.Builder store = StoreOptions.builder().ioMode(StoreOptions.IoMode.BUFFERED);
        private long rollbackAgeMaxMillis = Duration.ofHours(12).toMillis();

        void apply(String key, String text) {
            switch (key) {
                case MEMORY_MAX_BYTES -> read(key, text, t -> environment.memory(size(t)));
                case WORKERS -> read(key, text, t -> environment.workers(Integer.parseInt(t)));
                case DEVICE -> read(key, text, t -> environment.device(constant(DeviceKind.class, t)));
                case IO_MODE -> read(key, text, t -> store.ioMode(constant(StoreOptions.IoMode.class, t)));
                case MEMTABLE_BYTES -> read(key, text, t -> store.memtable(size(t)));
                case CHECKPOINT_DISTANCE -> read(key, text, t -> store.checkpointDistance(Integer.parseInt(t)));
                case COMPACTION_POLICY -> read(key, text, t -> store.policy(constant(CompactionPolicyKind.class, t)));
                case FREE_SPACE -> read(key, text, t -> store.freeSpace(constant(StoreOptions.FreeSpace.class, t)));
                default -> read(key, text, t -> rollbackAgeMaxMillis = notNegative(Long.parseLong(t)));
            }
        }
    }

    private static void read(String key, String text, Function<String, Object> setter) {
        try {
            setter.apply(text);
        } catch (NumberFormatException e) {
            throw new ConfigException(key, text, "a number is needed");
        } catch (IllegalArgumentException e) {
            throw new ConfigException(key, text, e.getMessage());
        }
    }

    private static long notNegative(long millis) {
        if (millis < 0) {
            throw new IllegalArgumentException("0 or more is needed");
        }
        return millis;
    }

    private static ByteSize size(String text) {
        return ByteSize.parse(text);
    }

    private static <E extends Enum<E>> E constant(Class<E> type, String text) {
        String wanted = text.toUpperCase(Locale.ROOT);
        for (E constant : type.getEnumConstants()) {
            if (constant.name().equals(wanted)) {
                return constant;
            }
        }
        throw new IllegalArgumentException(
                "one of " + Arrays.toString(type.getEnumConstants()).toLowerCase(Locale.ROOT) + " is needed");
    }

    /** What the shared environment is opened with. */
    EnvironmentOptions environment() {
        return environment;
    }

    /** What every store is opened with. */
    StoreOptions store() {
        return store;
    }

    /** How old the last commit may be that a store goes back to. */
    long rollbackAgeMaxMillis() {
        return rollbackAgeMaxMillis;
    }
}
