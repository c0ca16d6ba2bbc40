package dev.heartwood.ycsb;

import dev.heartwood.ClosedException;
import dev.heartwood.Cursor;
import dev.heartwood.KeyRange;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreException;
import dev.heartwood.TooLargeException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.Vector;
import java.util.concurrent.locks.Lock;
import java.util.function.Supplier;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;

/**
 * Heartwood as YCSB sees it. YCSB makes one per thread; all of them share their stores. Properties: see the
 * package.
 *
 * <p>Reads, updates and deletes of an absent key are {@code NOT_FOUND}; an insert writes the record whether
 * there was one or not. Keys and values that are too long are a {@code BAD_REQUEST}, use after the end is
 * {@code SERVICE_UNAVAILABLE}, and any other failure an {@code ERROR}. All these three are counted, and the first of a
 * client is printed. Counted apart are reads and updates of an absent key and scans from one, which find the records after it.
 */
public final class HeartwoodClient extends DB {
    private Tables tables;
    private boolean shared;
    private boolean reported;

    /** For YCSB, which calls {@link #init} next. */
    public HeartwoodClient() {}

    /** A client of tables that the caller owns. */
    HeartwoodClient(Tables tables) {
        this.tables = tables;
    }

    @Override
    public void init() throws DBException {
        if (tables != null) {
            return;
        }
        try {
            tables = SharedTables.acquire(getProperties());
            shared = true;
        } catch (StoreException | IllegalArgumentException | IllegalStateException e) {
            Failures.ofClient();
            throw new DBException(e);
        }
    }

    @Override
    public void cleanup() throws DBException {
        if (!shared) {
            return;
        }
        shared = false;
        try {
            SharedTables.release(getProperties());
        } catch (StoreException e) {
            Failures.ofClient();
            throw new DBException(e);
        }
    }

    @Override
    public Status read(String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
        return guarded(() -> {
            byte[] value = tables.table(table).get(bytes(key));
            if (value == null) {
                Failures.ofAbsentRecord();
                return Status.NOT_FOUND;
            }
            FieldCodec.decode(value, fields, result);
            return Status.OK;
        });
    }

    @Override
    public Status scan(
            String table,
            String startKey,
            int recordCount,
            Set<String> fields,
            Vector<HashMap<String, ByteIterator>> result) {
        return guarded(() -> {
            byte[] start = bytes(startKey);
            try (Cursor cursor = tables.table(table).cursor(KeyRange.from(start))) {
                boolean isThere = false;
                for (int i = 0; i < recordCount && cursor.next(); i++) {
                    isThere |= i == 0 && Arrays.equals(cursor.key(), start);
                    HashMap<String, ByteIterator> row = new HashMap<>();
                    FieldCodec.decode(cursor.value(), fields, row);
                    result.add(row);
                }
                if (!isThere) {
                    Failures.ofAbsentRecord();
                }
            }
            return Status.OK;
        });
    }

    @Override
    public Status insert(String table, String key, Map<String, ByteIterator> values) {
        return locked(table, key, store -> {
            store.put(bytes(key), FieldCodec.encode(drained(values, new LinkedHashMap<>())));
            return Status.OK;
        });
    }

    @Override
    public Status update(String table, String key, Map<String, ByteIterator> values) {
        return locked(table, key, store -> {
            byte[] name = bytes(key);
            byte[] before = store.get(name);
            if (before == null) {
                Failures.ofAbsentRecord();
                return Status.NOT_FOUND;
            }
            store.put(name, FieldCodec.encode(drained(values, FieldCodec.decode(before))));
            return Status.OK;
        });
    }

    @Override
    public Status delete(String table, String key) {
        return locked(table, key, store -> {
            byte[] name = bytes(key);
            if (!store.contains(name)) {
                return Status.NOT_FOUND;
            }
            store.delete(name);
            return Status.OK;
        });
    }

    /** One operation on a table. */
    @FunctionalInterface
    private interface Operation {
        Status on(KeyValueStore store);
    }

    private Status locked(String table, String key, Operation operation) {
        return guarded(() -> {
            KeyValueStore store = tables.table(table);
            Lock lock = tables.lock(table, key);
            lock.lock();
            try {
                return operation.on(store);
            } finally {
                lock.unlock();
            }
        });
    }

    private Status guarded(Supplier<Status> operation) {
        Failures.call();
        try {
            return operation.get();
        } catch (TooLargeException e) {
            return failed(e, Status.BAD_REQUEST);
        } catch (ClosedException e) {
            return failed(e, Status.SERVICE_UNAVAILABLE);
        } catch (RuntimeException e) {
            // YCSB's client would end the process, with exit code 0.
            return failed(e, Status.ERROR);
        }
    }

    private Status failed(RuntimeException failure, Status status) {
        Failures.ofOperation();
        if (!reported) {
            reported = true;
            System.err.println("Heartwood: " + failure);
        }
        return status;
    }

    private static Map<String, byte[]> drained(Map<String, ByteIterator> values, Map<String, byte[]> into) {
        values.forEach((name, value) -> into.put(name, value.toArray()));
        return into;
    }

    private static byte[] bytes(String key) {
        return key.getBytes(StandardCharsets.UTF_8);
    }
}
