package dev.heartwood.kafka;

import dev.heartwood.Environment;
import dev.heartwood.Heartwood;
import dev.heartwood.MemoryStats;
import java.util.IdentityHashMap;
import java.util.Map;

/**
 * The environment of one KafkaStreams instance: one memory budget, one page cache and one set of workers for all its stores. It
 * opens with the first store and closes with the last. Thread-safe.
 */
final class SharedEnvironment {
    /** Of the memory, what {@link UndoneKeys} take beside it. */
    private static final int UNDONE_KEYS_SHARE = 4;

    /*
     * Kafka Streams has no hook for things that live as long as an instance, but it has one metrics registry for each
     * instance, which every context of every task hands out. So environments are found by the identity of that object.
     * An entry is there only while stores are open; then it goes, and with it the reference to the registry.
     *
     * All fields are guarded by the lock of OPEN.
     */
    private static final Map<Object, SharedEnvironment> OPEN = new IdentityHashMap<>();

    private final Object instance;
    private final Environment environment;
    private final long undoneKeysBytes;
    private UndoneKeys undoneKeys;
    private int stores;

    private SharedEnvironment(Object instance, HeartwoodStoreConfig config, Environment environment) {
        this.instance = instance;
        this.undoneKeysBytes = config.environment().memory().bytes() / UNDONE_KEYS_SHARE;
        this.environment = environment;
    }

    /** Makes an environment that of an instance that has none; it is closed with the last store. */
    static void share(Object instance, HeartwoodStoreConfig config, Environment environment) {
        synchronized (OPEN) {
            OPEN.put(instance, new SharedEnvironment(instance, config, environment));
        }
    }

    /** The environment of {@code instance}, made when it has none, held until {@link #release}. */
    static SharedEnvironment acquire(Object instance, HeartwoodStoreConfig config) {
        synchronized (OPEN) {
            if (!OPEN.containsKey(instance)) {
                share(instance, config, Heartwood.openEnvironment(config.environment()));
            }
            SharedEnvironment shared = OPEN.get(instance);
            shared.stores++;
            return shared;
        }
    }

    /** Gives up what {@link #acquire} gave; the last one closes the environment. */
    void release() {
        synchronized (OPEN) {
            if (--stores == 0) {
                OPEN.remove(instance);
                environment.close();
            }
        }
    }

    /** The environments that are open in this process. */
    static int openCount() {
        synchronized (OPEN) {
            return OPEN.size();
        }
    }

    /** What the tables that undo share; made when the first asks for it. */
    UndoneKeys undoneKeys() {
        synchronized (OPEN) {
            if (undoneKeys == null) {
                undoneKeys = new UndoneKeys(undoneKeysBytes);
            }
            return undoneKeys;
        }
    }

    Environment environment() {
        return environment;
    }

    MemoryStats memoryStats() {
        return environment.memoryStats();
    }
}
