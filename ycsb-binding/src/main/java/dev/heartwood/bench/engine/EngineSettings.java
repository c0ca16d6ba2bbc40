package dev.heartwood.bench.engine;

import dev.heartwood.ByteSize;
import dev.heartwood.DeviceKind;
import dev.heartwood.Durability;
import dev.heartwood.StoreOptions;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * How an engine is to be opened. Immutable; {@link #toArguments} and {@link #parse} carry it to another process.
 *
 * @param directory where the store lies
 * @param stores how many stores the records lie in, which share the memory
 * @param records how many records it is meant for, all stores together
 * @param keyBytes the length of every key
 * @param valueBytes the length of every value
 * @param memoryBytes the memory the engine may use
 * @param durability what an acknowledged write survives
 * @param device how Heartwood drives its device; the peers have no such choice
 * @param options further options of Heartwood, as {@link dev.heartwood.StoreOptions.Builder#set} takes them
 */
public record EngineSettings(
        Path directory,
        int stores,
        long records,
        int keyBytes,
        int valueBytes,
        long memoryBytes,
        Durability durability,
        DeviceKind device,
        Map<String, String> options) {
    private static final String OPTION_PREFIX = "option.";

    /** Copies the options. */
    public EngineSettings {
        options = Map.copyOf(options);
    }

    /**
     * The options of a store of Heartwood's for these settings.
     *
     * @throws IllegalArgumentException when one of them is none, is out of range or contradicts another
     */
    public StoreOptions storeOptions() {
        StoreOptions.Builder builder = StoreOptions.builder()
                .memory(new ByteSize(memoryBytes))
                .durability(durability)
                .device(device)
                .freeSpace(StoreOptions.FreeSpace.RETURN);
        options.forEach(builder::set);
        return builder.build();
    }

    /** Bytes of keys and values. */
    public long rawBytes() {
        return records * (keyBytes + valueBytes);
    }

    /** Whether the data fits into the memory with what surrounds it. */
    public boolean fits() {
        return memoryBytes >= rawBytes() / 5 * 6;
    }

    /** The same settings for another directory. */
    public EngineSettings in(Path other) {
        return new EngineSettings(other, stores, records, keyBytes, valueBytes, memoryBytes, durability, device, options);
    }

    /** The same settings for another number of records. */
    public EngineSettings withRecords(long count) {
        return new EngineSettings(directory, stores, count, keyBytes, valueBytes, memoryBytes, durability, device, options);
    }

    /** The settings as {@code name=value} words. */
    public List<String> toArguments() {
        List<String> words = new ArrayList<>();
        words.add("directory=" + directory);
        words.add("stores=" + stores);
        words.add("records=" + records);
        words.add("keyBytes=" + keyBytes);
        words.add("valueBytes=" + valueBytes);
        words.add("memoryBytes=" + memoryBytes);
        words.add("durability=" + durability);
        words.add("device=" + device);
        new TreeMap<>(options).forEach((name, value) -> words.add(OPTION_PREFIX + name + "=" + value));
        return words;
    }

    /** Reads what {@link #toArguments} made. */
    public static EngineSettings parse(List<String> words) {
        Map<String, String> map = new TreeMap<>();
        Map<String, String> options = new TreeMap<>();
        for (String word : words) {
            int equals = word.indexOf('=');
            String name = word.substring(0, equals);
            String value = word.substring(equals + 1);
            if (name.startsWith(OPTION_PREFIX)) {
                options.put(name.substring(OPTION_PREFIX.length()), value);
            } else {
                map.put(name, value);
            }
        }
        return new EngineSettings(
                Path.of(map.get("directory")),
                Integer.parseInt(map.get("stores")),
                Long.parseLong(map.get("records")),
                Integer.parseInt(map.get("keyBytes")),
                Integer.parseInt(map.get("valueBytes")),
                Long.parseLong(map.get("memoryBytes")),
                Durability.valueOf(map.get("durability")),
                DeviceKind.valueOf(map.get("device")),
                options);
    }
}
