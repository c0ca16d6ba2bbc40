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
        Engine openOne(EngineSettings settings) {
            return HeartwoodEngine.open(settings);
        }

        @Override
        Engine openMany(EngineSettings settings) {
            return HeartwoodEngine.openMany(settings);
        }

        @Override
        public boolean hasManyStores() {
            return true;
        }
    },
    /** RocksDB through rocksdbjni. */
    ROCKSDB {
        @Override
        Engine openOne(EngineSettings settings) {
            return RocksEngine.open(settings);
        }

        @Override
        Engine openMany(EngineSettings settings) {
            return RocksEngine.openMany(settings);
        }

        @Override
        public boolean hasManyStores() {
            return true;
        }
    },
    /** LMDB through lmdbjava. */
    LMDB {
        @Override
        Engine openOne(EngineSettings settings) {
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
        Engine openOne(EngineSettings settings) {
            return new MvStoreEngine(settings);
        }

        @Override
        public List<String> jvmArguments(EngineSettings settings) {
            return List.of("-Xmx" + (2 * (settings.memoryBytes() >> 20) + 256) + "m");
        }
    };

    private static final List<String> SMALL_HEAP = List.of("-XX:+UseSerialGC", "-Xms48m", "-Xmx256m");

    /** Opens the store in the settings' directory, or the stores in directories of their own there, and makes what is missing. */
    public final Engine open(EngineSettings settings) {
        return settings.stores() == 1 ? openOne(settings) : openMany(settings);
    }

    abstract Engine openOne(EngineSettings settings);

    Engine openMany(EngineSettings settings) {
        throw new IllegalArgumentException(this + " has no " + settings.stores() + " stores that share memory");
    }

    /** Whether there may be several stores, which share the memory. */
    public boolean hasManyStores() {
        return false;
    }

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
