package dev.heartwood.ycsb;

import dev.heartwood.ByteSize;
import dev.heartwood.Environment;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.Heartwood;
import dev.heartwood.StoreOptions;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.TreeSet;

/**
 * Gives every client of a directory the same {@link Tables}. YCSB makes its clients by reflection, one per
 * thread and without a common owner, so what they share has to be static. Thread-safe: everything under the
 * class's monitor.
 */
final class SharedTables {
    static final String PREFIX = "heartwood.";
    static final String DIRECTORY = PREFIX + "dir";
    static final String DIRECTORY_DEFAULT = "heartwood-ycsb";

    private record Shared(Tables tables, int clients) {}

    private static final Map<Path, Shared> OPEN = new HashMap<>();

    private SharedTables() {}

    /**
     * The tables for these properties, opened if this is their first client.
     *
     * @throws IllegalArgumentException when a property is not an option
     */
    static synchronized Tables acquire(Properties properties) {
        Path directory = directory(properties);
        Shared shared = OPEN.get(directory);
        Tables tables = shared == null ? open(directory, options(properties)) : shared.tables();
        OPEN.put(directory, new Shared(tables, shared == null ? 1 : shared.clients() + 1));
        return tables;
    }

    /** Gives them back; the last client closes them. */
    static synchronized void release(Properties properties) {
        Path directory = directory(properties);
        Shared shared = OPEN.get(directory);
        if (shared == null) {
            return;
        }
        if (shared.clients() > 1) {
            OPEN.put(directory, new Shared(shared.tables(), shared.clients() - 1));
            return;
        }
        OPEN.remove(directory);
        shared.tables().close();
    }

    private static Path directory(Properties properties) {
        return Path.of(properties.getProperty(DIRECTORY, DIRECTORY_DEFAULT))
                .toAbsolutePath()
                .normalize();
    }

    /** The store options that properties of the prefix name. */
    static StoreOptions options(Properties properties) {
        StoreOptions.Builder builder = StoreOptions.builder().memory(ByteSize.mib(256));
        for (String name : new TreeSet<>(properties.stringPropertyNames())) {
            if (name.startsWith(PREFIX) && !name.equals(DIRECTORY)) {
                builder.set(name.substring(PREFIX.length()), properties.getProperty(name));
            }
        }
        return builder.build();
    }

    private static Tables open(Path directory, StoreOptions options) {
        directory.toFile().mkdirs();
        Environment environment = Heartwood.openEnvironment(EnvironmentOptions.builder()
                .memory(options.memory())
                .workers(options.workers())
                .device(options.device())
                .build());
        return new Tables(name -> environment.open(directory.resolve(name), options), environment::close);
    }
}
