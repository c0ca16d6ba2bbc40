package dev.heartwood.bench.engine;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** The engines there are, and what the JVM that runs each needs. */
public enum EngineKind {
    /** Heartwood. */
    HEARTWOOD {
        @Override
        public Engine open(EngineSettings settings) {
            return new HeartwoodEngine(settings);
        }
    },
    /** RocksDB through rocksdbjni. */
    ROCKSDB {
        @Override
        public Engine open(EngineSettings settings) {
            return new RocksEngine(settings);
        }
    },
    /** LMDB through lmdbjava. */
    LMDB {
        @Override
        public Engine open(EngineSettings settings) {
            return new LmdbEngine(settings);
        }

        @Override
        public List<String> jvmArguments(EngineSettings settings) {
            return List.of(
                    SMALL_HEAP.get(0), SMALL_HEAP.get(1), SMALL_HEAP.get(2),
                    "--add-opens=java.base/java.nio=ALL-UNNAMED",
                    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
                    "--sun-misc-unsafe-memory-access=allow");
        }
    },
    /** H2's MVStore. */
    MVSTORE {
        @Override
        public Engine open(EngineSettings settings) {
            return new MvStoreEngine(settings);
        }

        @Override
        public List<String> jvmArguments(EngineSettings settings) {
            return List.of("-Xmx" + (2 * (settings.memoryBytes() >> 20) + 256) + "m");
        }
    };

    private static final List<String> SMALL_HEAP = List.of("-XX:+UseSerialGC", "-Xms48m", "-Xmx256m");

    /** Opens the store in the settings' directory, and makes it when there is none. */
    public abstract Engine open(EngineSettings settings);

    /** Arguments of the JVM that runs this engine. */
    public List<String> jvmArguments(EngineSettings settings) {
        return SMALL_HEAP;
    }

    /**
     * The engine of a name, in any case.
     *
     * @throws IllegalArgumentException when there is none
     */
    public static EngineKind parse(String text) {
        return Arrays.stream(values())
                .filter(k -> k.name().equalsIgnoreCase(text.strip()))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("there is no engine '" + text + "'; there are "
                        + Arrays.stream(values()).map(EngineKind::toString).collect(Collectors.joining(", "))));
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
