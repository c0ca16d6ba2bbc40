package dev.heartwood.testkit;

import dev.heartwood.Durability;
import dev.heartwood.KeyValueStore;
import dev.heartwood.WriteBatch;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.random.RandomGenerator;

/** Gives a write to a store through any of the calls that can take it. */
final class Writes {
    private Writes() {}

    /** Writes with a level, or with the store's own when it is null. */
    static void apply(KeyValueStore store, Write write, Durability level, RandomGenerator random, Arena arena) {
        if (random.nextBoolean()) {
            applyArrays(store, write, level);
            return;
        }
        MemorySegment key = DifferentialRun.segment(write.key(), random, arena);
        MemorySegment value = write.value() == null ? null : DifferentialRun.segment(write.value(), random, arena);
        switch (write.kind()) {
            case PUT -> {
                if (level == null) {
                    store.put(key, value);
                } else {
                    store.put(key, value, level);
                }
            }
            case DELETE -> {
                if (level == null) {
                    store.delete(key);
                } else {
                    store.delete(key, level);
                }
            }
            case MERGE -> {
                if (level == null) {
                    store.merge(key, value);
                } else {
                    store.merge(key, value, level);
                }
            }
        }
    }

    private static void applyArrays(KeyValueStore store, Write write, Durability level) {
        switch (write.kind()) {
            case PUT -> {
                if (level == null) {
                    store.put(write.key(), write.value());
                } else {
                    store.put(write.key(), write.value(), level);
                }
            }
            case DELETE -> {
                if (level == null) {
                    store.delete(write.key());
                } else {
                    store.delete(write.key(), level);
                }
            }
            case MERGE -> {
                if (level == null) {
                    store.merge(write.key(), write.value());
                } else {
                    store.merge(write.key(), write.value(), level);
                }
            }
        }
    }

    static void add(WriteBatch batch, Write write, RandomGenerator random, Arena arena) {
        boolean arrays = random.nextBoolean();
        MemorySegment key = arrays ? null : DifferentialRun.segment(write.key(), random, arena);
        MemorySegment value =
                arrays || write.value() == null ? null : DifferentialRun.segment(write.value(), random, arena);
        switch (write.kind()) {
            case PUT -> {
                if (arrays) {
                    batch.put(write.key(), write.value());
                } else {
                    batch.put(key, value);
                }
            }
            case DELETE -> {
                if (arrays) {
                    batch.delete(write.key());
                } else {
                    batch.delete(key);
                }
            }
            case MERGE -> {
                if (arrays) {
                    batch.merge(write.key(), write.value());
                } else {
                    batch.merge(key, value);
                }
            }
        }
    }
}
