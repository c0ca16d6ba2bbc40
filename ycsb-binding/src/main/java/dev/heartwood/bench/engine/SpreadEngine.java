package dev.heartwood.bench.engine;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import dev.heartwood.bench.workload.SeededRandom;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/** Stores of one engine that share its memory, measured as one: every record lies in the store that its key says. */
final class SpreadEngine implements Engine {
    private final List<Engine> stores;
    private final AutoCloseable shared;

    private SpreadEngine(List<Engine> stores, AutoCloseable shared) {
        this.stores = stores;
        this.shared = shared;
    }

    /**
     * Opens each store in a directory of its own within that of the settings, and closes {@code shared} once all are closed, or one could not be
     * opened.
     */
    static Engine open(EngineSettings settings, AutoCloseable shared, Function<EngineSettings, Engine> opener) {
        SpreadEngine engine = new SpreadEngine(new ArrayList<>(settings.stores()), shared);
        try {
            for (int i = 0; i < settings.stores(); i++) {
                engine.stores.add(opener.apply(settings.in(settings.directory().resolve("store-" + i))));
            }
            return engine;
        } catch (RuntimeException | Error e) {
            try {
                engine.close();
            } catch (IOException | RuntimeException another) {
                e.addSuppressed(another);
            }
            throw e;
        }
    }

    @Override
    public Session session(RecordBuffer buffer, Access access) {
        return new SpreadSession(
                stores.stream().map(store -> store.session(buffer, access)).toArray(Session[]::new), buffer.key());
    }

    @Override
    public void sync() {
        stores.forEach(Engine::sync);
    }

    @Override
    public void settle() throws InterruptedException {
        for (Engine store : stores) {
            store.settle();
        }
    }

    @Override
    public void retune(int distance) {
        stores.forEach(store -> store.retune(distance));
    }

    @Override
    public List<Change> changes() {
        return stores.stream().flatMap(store -> store.changes().stream()).toList();
    }

    @Override
    public String describe() {
        return "one of " + stores.size() + " stores:\n" + stores.getFirst().describe();
    }

    /** Closes all of them, also when one fails. */
    @Override
    public void close() throws IOException {
        List<AutoCloseable> all = new ArrayList<>(stores);
        all.add(shared);
        EngineException failure = null;
        for (AutoCloseable each : all) {
            try {
                each.close();
            } catch (Exception e) {
                if (failure == null) {
                    failure = new EngineException("close", e);
                } else {
                    failure.addSuppressed(e);
                }
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    /** A session of each store, and the key that says which is meant. */
    private record SpreadSession(Session[] sessions, MemorySegment key) implements Session {
        private Session chosen() {
            long hash = SeededRandom.mix(key.get(JAVA_LONG_UNALIGNED, key.byteSize() - Long.BYTES));
            return sessions[(int) Math.unsignedMultiplyHigh(hash, sessions.length)];
        }

        @Override
        public void put() {
            chosen().put();
        }

        @Override
        public int get() {
            return chosen().get();
        }

        @Override
        public void delete() {
            chosen().delete();
        }

        @Override
        public int scan(int records, ScanVisitor visitor) {
            throw new UnsupportedOperationException("a scan of several stores");
        }

        @Override
        public void close() {
            for (Session session : sessions) {
                session.close();
            }
        }
    }
}
