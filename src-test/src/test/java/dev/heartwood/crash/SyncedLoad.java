package dev.heartwood.crash;

import dev.heartwood.DeviceKind;
import dev.heartwood.Durability;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import java.nio.file.Path;

/** The process whose syncs {@link SyncCallsTest} reads: makes a store and writes some synced records. */
final class SyncedLoad {
    static final int RECORDS = 5;
    static final int VALUE_BYTES = 20_000;

    private SyncedLoad() {}

    /** Argument: the directory. */
    public static void main(String[] args) {
        StoreOptions options = StoreOptions.builder()
                .memory(EnvironmentOptions.MEMORY_MIN)
                .device(DeviceKind.POSIX)
                .build();
        try (KeyValueStore store = Heartwood.open(Path.of(args[0]), options)) {
            for (int i = 0; i < RECORDS; i++) {
                store.put(new byte[] {(byte) i}, new byte[VALUE_BYTES], Durability.SYNC);
            }
        }
    }
}
