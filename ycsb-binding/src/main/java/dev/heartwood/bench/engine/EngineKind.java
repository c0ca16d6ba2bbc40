package dev.heartwood.bench.engine;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The engines there are, and what the JVM that runs each needs. */
public enum EngineKind {
    /** Heartwood. */
    HEARTWOOD(settings -> HeartwoodEngine.open(settings), settings -> HeartwoodEngine.openMany(settings)),
    /** RocksDB through rocksdbjni. */
    ROCKSDB(settings -> RocksEngine.open(settings, false), settings -> RocksEngine.openMany(settings, false)),
    /** The same, compacted as a whole whenever it settles. */
    ROCKSDB_COMPACTED(settings -> RocksEngine.open(settings, true), settings -> RocksEngine.openMany(settings, true)),
    /** LMDB through lmdbjava. */
    LMDB(settings -> new LmdbEngine(settings), null) {
        @Override
        public List<String> jvmArguments(EngineSettings settings) {
            return List.of(
                    SMALL_HEAP.get(0), SMALL_HEAP.get(1), SMALL_HEAP.get(2),
                    "--add-opens=java.base/java.nio=ALL-UNNAMED",
                    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
                    "--sun-misc-unsafe-memory-access=allow",
                    "-Dlmdbjava.disable.checks=true");
        }
    },
    /** H2's MVStore. */
    MVSTORE(settings -> new MvStoreEngine(settings), null) {
        @Override
        public List<String> jvmArguments(EngineSettings settings) {
            return List.of("-Xmx" + (2 * (settings.memoryBytes() >> 20) + 256) + "m");
        }
    };

    private static final List<String> SMALL_HEAP = List.of("-XX:+UseSerialGC", "-Xms48m", "-Xmx256m");

    private final Function<EngineSettings, Engine> one;
    /** Null where stores share no memory. */
    private final Function<EngineSettings, Engine> many;

    EngineKind(Function<EngineSettings, Engine> one, Function<EngineSettings, Engine> many) {
        this.one = one;
        this.many = many;
    }

    /** Opens the store in the settings' directory, or the stores in directories of their own there, and makes what is missing. */
    public Engine open(EngineSettings settings) {
        return (settings.stores() == 1 ? one : many).apply(settings);
    }

    /** Whether there may be several stores, which share the memory. */
    public boolean hasManyStores() {
        return many != null;
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
                .filter(k -> k.toString().equalsIgnoreCase(text.strip()))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("there is no engine '" + text + "'; there are "
                        + Arrays.stream(values()).map(EngineKind::toString).collect(Collectors.joining(", "))));
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
