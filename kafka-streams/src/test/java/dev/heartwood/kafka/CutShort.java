package dev.heartwood.kafka;

import dev.heartwood.KeyValueStore;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

/** Stores whose process comes to its end between two writes. */
final class CutShort {
    private static final Set<String> WRITES = Set.of("write", "put", "delete");

    /** What the write after the last one throws. */
    static final class End extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    private CutShort() {}

    /** The store, of which so many writes are made. */
    static KeyValueStore after(int writes, KeyValueStore store) {
        AtomicInteger left = new AtomicInteger(writes);
        return (KeyValueStore) Proxy.newProxyInstance(
                KeyValueStore.class.getClassLoader(), new Class<?>[] {KeyValueStore.class}, (proxy, method, arguments) -> {
                    if (WRITES.contains(method.getName()) && left.getAndDecrement() == 0) {
                        throw new End();
                    }
                    try {
                        return method.invoke(store, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }
}
