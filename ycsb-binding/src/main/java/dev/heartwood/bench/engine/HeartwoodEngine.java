package dev.heartwood.bench.engine;

import dev.heartwood.Cursor;
import dev.heartwood.Environment;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyRange;
import dev.heartwood.KeyValueStore;
import dev.heartwood.PolicyChange;
import dev.heartwood.StoreListener;
import dev.heartwood.StoreOptions;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BiFunction;

/** Heartwood through its own interface: segments everywhere, a new cursor per scan. */
final class HeartwoodEngine implements Engine {
    private final KeyValueStore store;
    private final Queue<Change> changes = new ConcurrentLinkedQueue<>();

    private HeartwoodEngine(EngineSettings settings, BiFunction<Path, StoreOptions, KeyValueStore> opener) {
        StoreListener listener = new StoreListener() {
            @Override
            public void policyChange(PolicyChange event) {
                changes.add(new Change(System.nanoTime(), event.toString()));
            }
        };
        StoreOptions.Builder builder = settings.storeOptions().toBuilder().listener(listener);
        store = opener.apply(settings.directory(), builder.build());
    }

    static Engine open(EngineSettings settings) {
        return new HeartwoodEngine(settings, Heartwood::open);
    }

    /** Stores that share the memory of an environment. */
    static Engine openMany(EngineSettings settings) {
        StoreOptions options = settings.storeOptions();
        Environment environment = Heartwood.openEnvironment(EnvironmentOptions.builder()
                .memory(options.memory())
                .workers(options.workers())
                .device(options.device())
                .build());
        return SpreadEngine.open(settings, environment, each -> new HeartwoodEngine(each, environment::open));
    }

    @Override
    public Session session(RecordBuffer buffer, Access access) {
        return new HeartwoodSession(store, buffer);
    }

    @Override
    public void sync() {
        store.sync();
    }

    @Override
    public void settle() {
        store.settle();
        store.checkpoint();
    }

    @Override
    public void retune(int distance) {
        store.tune(store.tuning().withCheckpointDistance(distance));
        store.checkpoint();
    }

    @Override
    public List<Change> changes() {
        List<Change> taken = new ArrayList<>();
        for (Change change = changes.poll(); change != null; change = changes.poll()) {
            taken.add(change);
        }
        return taken;
    }

    @Override
    public String describe() {
        return store.stats().toString().replace(", ", "\n  ");
    }

    @Override
    public void close() {
        store.close();
    }

    private record HeartwoodSession(KeyValueStore store, RecordBuffer buffer) implements Session {
        @Override
        public void put() {
            store.put(buffer.key(), buffer.value());
        }

        @Override
        public int get() {
            return (int) store.get(buffer.key(), buffer.result());
        }

        @Override
        public List<byte[]> getAll(List<byte[]> keys, RecordBuffer ignored) {
            return store.getAll(keys);
        }

        @Override
        public void delete() {
            store.delete(buffer.key());
        }

        @Override
        public int scan(int records, ScanVisitor visitor) {
            int visited = 0;
            try (Cursor cursor = store.cursor(KeyRange.all())) {
                boolean onEntry = cursor.seek(buffer.key());
                while (onEntry && visited < records) {
                    copy(cursor.keySegment(), buffer.scannedKey());
                    visitor.record(copy(cursor.valueSegment(), buffer.result()));
                    visited++;
                    onEntry = visited < records && cursor.next();
                }
            }
            return visited;
        }

        private static int copy(MemorySegment from, MemorySegment to) {
            long length = from.byteSize();
            MemorySegment.copy(from, 0, to, 0, Math.min(length, to.byteSize()));
            return (int) length;
        }

        @Override
        public void close() {}
    }
}
