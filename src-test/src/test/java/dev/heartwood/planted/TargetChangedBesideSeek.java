package dev.heartwood.planted;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.Cursor;
import dev.heartwood.Environment;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.testkit.EngineAccess;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SimulatedStoreHost;
import java.util.function.Consumer;

/**
 * Seeks of which the target is changed while they look it up, as by another thread that reuses its array; runs in the engine that
 * {@link ChangedTargetTest} has loaded, which calls {@link #begins} and {@link #looksUp} there.
 */
public final class TargetChangedBesideSeek implements Runnable {
    private static final EnvironmentOptions ENVIRONMENT =
            EnvironmentOptions.builder().memory(EnvironmentOptions.MEMORY_MIN).build();
    private static final ThreadLocal<TargetChangedBesideSeek> SEEK = new ThreadLocal<>();
    private static final int DELETED = 200;

    private byte[] target;
    private boolean isEarly;
    private int changes;

    /** A seek is about to copy its target for the look-up. */
    public static void begins() {
        change(true);
    }

    /** A seek has copied its target, and is about to look it up. */
    public static void looksUp() {
        change(false);
    }

    private static void change(boolean early) {
        TargetChangedBesideSeek seek = SEEK.get();
        if (seek != null && seek.target != null && seek.isEarly == early) {
            seek.target[0] = (byte) (early ? 'm' : 'a');
            seek.target = null;
            seek.changes++;
        }
    }

    @Override
    public void run() {
        SEEK.set(this);
        isEarly = true;
        seek();
        isEarly = false;
        seek();
        assertEquals(4, changes);
    }

    /** A seek comes over many deleted keys, but not over the key before them, whichever of its targets it takes to have begun at. */
    private void seek() {
        try (Environment environment = EngineAccess.open(ENVIRONMENT, new SimulatedMachine(1));
                KeyValueStore store = environment.open(SimulatedStoreHost.DIRECTORY, StoreOptions.defaults())) {
            store.put(new byte[] {'b'}, new byte[1]);
            store.put(new byte[] {'z'}, new byte[1]);
            store.delete(new byte[] {'a', 1});
            for (int i = 0; i < DELETED; i++) {
                store.delete(new byte[] {'m', (byte) i});
            }
            for (int round = 0; round < 2; round++) {
                // Such keys are watched first, and known to be dead by who walks over them then.
                find(store, cursor -> {
                    target = new byte[] {(byte) (isEarly ? 'a' : 'm')};
                    cursor.seek(target);
                });
            }
            find(store, cursor -> {
                assertTrue(cursor.seek(new byte[] {'a'}));
                assertArrayEquals(new byte[] {'b'}, cursor.key());
            });
        }
    }

    private static void find(KeyValueStore store, Consumer<Cursor> seek) {
        try (Cursor cursor = store.cursor()) {
            seek.accept(cursor);
        }
    }
}
