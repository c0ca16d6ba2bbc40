package dev.heartwood.ycsb;

import dev.heartwood.ClosedException;
import dev.heartwood.Cursor;
import dev.heartwood.KeyRange;
import dev.heartwood.KeyValueStore;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.Iterator;
import java.util.Map;
import java.util.NavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicReference;

/** A store in memory that knows the calls the binding makes, with arrays as keys and values. Thread-safe. */
final class FakeStore {
    private final NavigableMap<byte[], byte[]> map = new ConcurrentSkipListMap<>(Arrays::compareUnsigned);
    private volatile RuntimeException failure;

    /** The store as the binding sees it. */
    KeyValueStore store() {
        return (KeyValueStore) Proxy.newProxyInstance(
                FakeStore.class.getClassLoader(), new Class<?>[] {KeyValueStore.class}, this::call);
    }

    /** Every call fails from now on. */
    void failWith(RuntimeException exception) {
        failure = exception;
    }

    private Object call(Object proxy, Method method, Object[] arguments) {
        if (failure != null) {
            throw failure;
        }
        return switch (method.getName()) {
            case "put" -> {
                map.put((byte[]) arguments[0], (byte[]) arguments[1]);
                yield null;
            }
            case "get" -> map.get((byte[]) arguments[0]);
            case "contains" -> map.containsKey((byte[]) arguments[0]);
            case "delete" -> {
                map.remove((byte[]) arguments[0]);
                yield null;
            }
            case "cursor" -> cursor((KeyRange) arguments[0]);
            case "close" -> {
                failure = new ClosedException("the fake store is closed");
                yield null;
            }
            default -> throw new AssertionError("the binding called " + method);
        };
    }

    private Cursor cursor(KeyRange range) {
        Iterator<Map.Entry<byte[], byte[]>> entries = map.tailMap(range.from()).entrySet().iterator();
        AtomicReference<Map.Entry<byte[], byte[]>> current = new AtomicReference<>();
        return (Cursor) Proxy.newProxyInstance(
                FakeStore.class.getClassLoader(),
                new Class<?>[] {Cursor.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "next" -> {
                        current.set(entries.hasNext() ? entries.next() : null);
                        yield current.get() != null;
                    }
                    case "key" -> current.get().getKey();
                    case "value" -> current.get().getValue();
                    case "close" -> null;
                    default -> throw new AssertionError("the binding called " + method);
                });
    }

    /** What the store holds. */
    Map<byte[], byte[]> contents() {
        return map;
    }
}
