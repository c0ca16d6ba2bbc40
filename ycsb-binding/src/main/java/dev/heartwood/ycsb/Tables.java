package dev.heartwood.ycsb;

import dev.heartwood.KeyValueStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

/**
 * The stores of one directory, one per table, shared by all client threads. Thread-safe.
 *
 * <p>Access: {@code stores} is changed under this object's monitor and read without it. Lock order: a key's lock before the monitor.
 */
final class Tables implements AutoCloseable {
    private static final int KEY_LOCKS = 1 << 10;

    private final Function<String, KeyValueStore> opener;
    private final Runnable afterwards;
    private final Map<String, KeyValueStore> stores = new ConcurrentHashMap<>();
    private final Lock[] keyLocks = new Lock[KEY_LOCKS];

    /** Tables that {@code opener} opens by name; {@code afterwards} runs once they are closed. */
    Tables(Function<String, KeyValueStore> opener, Runnable afterwards) {
        this.opener = opener;
        this.afterwards = afterwards;
        for (int i = 0; i < KEY_LOCKS; i++) {
            keyLocks[i] = new ReentrantLock();
        }
    }

    /** The store of a table. */
    KeyValueStore table(String name) {
        KeyValueStore known = stores.get(name);
        return known != null ? known : open(name);
    }

    private synchronized KeyValueStore open(String name) {
        return stores.computeIfAbsent(name, opener);
    }

    /** The lock that changes of a key are made under. */
    Lock lock(String table, String key) {
        int hash = (31 * table.hashCode() + key.hashCode()) * 0x9e3779b9;
        return keyLocks[hash >>> Integer.SIZE - Integer.numberOfTrailingZeros(KEY_LOCKS)];
    }

    @Override
    public synchronized void close() {
        List<Runnable> closings = new ArrayList<>();
        stores.values().forEach(store -> closings.add(store::close));
        closings.add(afterwards);
        stores.clear();
        RuntimeException failure = null;
        for (Runnable closing : closings) {
            try {
                closing.run();
            } catch (RuntimeException e) {
                failure = failure == null ? e : failure;
            }
        }
        if (failure != null) {
            throw failure;
        }
    }
}
