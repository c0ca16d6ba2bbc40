package dev.heartwood.concurrency;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.Durability;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.KeyOrder;
import dev.heartwood.KeyValueStore;
import dev.heartwood.Snapshot;
import dev.heartwood.StoreOptions;
import dev.heartwood.WriteBatch;
import dev.heartwood.testkit.Campaign;
import dev.heartwood.testkit.CrashKind;
import dev.heartwood.testkit.RegisterHistory;
import dev.heartwood.testkit.RegisterHistory.Kind;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SimulatedStoreHost;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/**
 * Threads get, put, delete, batch and take snapshots of a few keys, and retune the store; for each key some order of the operations
 * explains all answers, also those after a kill in the middle, where what was under way may have happened or not. Keys of a pair are
 * written by batches only: whoever sees one sees the other.
 */
class LinearizabilityTest {
    private static final int THREADS = 4;
    private static final int CALLS = 1500;
    private static final int KEYS = 12;
    private static final int PAIRS = 3;

    /** An operation on one key; value 0 is no value. */
    private record Event(int key, Kind kind, long value, long called, long returned) {}

    /** A kill: the image, and the times before and after it was taken. */
    private record Kill(SimulatedMachine image, long before, long after) {}

    private final StoreOptions options = StoreOptions.builder()
            .memory(EnvironmentOptions.MEMORY_MIN)
            .memtable(ByteSize.kib(64))
            .fanout(4)
            .checkpointDistance(2)
            .build();

    @Test
    void everyKeyIsARegisterAlsoAcrossAKill() {
        Campaign.run(getClass(), 6, seed -> run(seed, options));
    }

    @Test
    void everyKeyIsARegisterWhereKeysAreHashed() {
        StoreOptions hashed = options.toBuilder().keyOrder(KeyOrder.HASHED).build();
        Campaign.run(getClass(), 2, seed -> run(seed, hashed));
    }

    private void run(long seed, StoreOptions options) {
        SimulatedMachine machine = new SimulatedMachine(seed);
        machine.faults().latency(20_000);
        AtomicLong clock = new AtomicLong();
        AtomicLong values = new AtomicLong();
        AtomicInteger calls = new AtomicInteger();
        AtomicBoolean killing = new AtomicBoolean();
        int killAfter = new SplittableRandom(seed).nextInt(THREADS * CALLS);
        List<List<Event>> events = new ArrayList<>();
        List<Kill> kills = new ArrayList<>();
        try (KeyValueStore store = SimulatedStoreHost.open(machine, options)) {
            List<Threads.Body> bodies = new ArrayList<>();
            for (int t = 0; t < THREADS; t++) {
                List<Event> mine = new ArrayList<>();
                events.add(mine);
                SplittableRandom random = new SplittableRandom(seed * 31 + t);
                bodies.add(() -> {
                    for (int i = 0; i < CALLS; i++) {
                        while (killing.get()) {
                            Thread.onSpinWait();
                        }
                        call(store, random, clock, values, mine);
                        if (calls.incrementAndGet() == killAfter) {
                            kills.add(machine.exclusively(() -> kill(machine, clock, killing, random)));
                        }
                    }
                });
            }
            Threads.run(bodies);
        }
        List<Event> all = events.stream().flatMap(List::stream).toList();
        check(all, "while it ran");
        for (Kill kill : kills) {
            check(acrossKill(all, kill, options), "across a kill");
        }
        Campaign.report(getClass(), all.size(), "operations on " + KEYS + " keys");
    }

    /**
     * A kill stops all threads at one moment, but an image is taken piece by piece while stores into the log need no lock. So no call
     * begins meanwhile, those under way end or wait for the machine, and the image is taken again until nothing changes.
     */
    private static Kill kill(
            SimulatedMachine machine, AtomicLong clock, AtomicBoolean killing, SplittableRandom random) {
        long before = clock.incrementAndGet();
        killing.set(true);
        SimulatedMachine image;
        long now = machine.fingerprint();
        long then;
        do {
            then = now;
            image = machine.crash(CrashKind.KILL, random);
            now = machine.fingerprint();
        } while (now != then);
        killing.set(false);
        return new Kill(image, before, clock.incrementAndGet());
    }

    private static void call(
            KeyValueStore store, SplittableRandom random, AtomicLong clock, AtomicLong values, List<Event> events) {
        if (random.nextInt(50) == 0) {
            store.tune(store.tuning().withCheckpointDistance(1 << random.nextInt(6)));
        }
        int key = random.nextInt(KEYS);
        int pair = random.nextInt(PAIRS);
        long called = clock.incrementAndGet();
        switch (random.nextInt(8)) {
            case 0, 1 -> {
                key = 2 * PAIRS + random.nextInt(KEYS - 2 * PAIRS);
                long value = values.incrementAndGet();
                store.put(key(key), value(value), random.nextInt(30) == 0 ? Durability.SYNC : Durability.BUFFERED);
                events.add(new Event(key, Kind.WRITE, value, called, clock.incrementAndGet()));
            }
            case 2 -> {
                key = 2 * PAIRS + random.nextInt(KEYS - 2 * PAIRS);
                store.delete(key(key));
                events.add(new Event(key, Kind.WRITE, 0, called, clock.incrementAndGet()));
            }
            case 3 -> {
                long value = values.incrementAndGet();
                try (WriteBatch batch = store.newBatch()) {
                    batch.put(key(2 * pair), value(value));
                    batch.put(key(2 * pair + 1), value(value));
                    store.write(batch);
                }
                long returned = clock.incrementAndGet();
                events.add(new Event(2 * pair, Kind.WRITE, value, called, returned));
                events.add(new Event(2 * pair + 1, Kind.WRITE, value, called, returned));
            }
            case 4 -> {
                try (Snapshot snapshot = store.snapshot()) {
                    long returned = clock.incrementAndGet();
                    long one = number(snapshot.get(key(2 * pair)));
                    assertEquals(one, number(snapshot.get(key(2 * pair + 1))), "half of a batch");
                    events.add(new Event(2 * pair, Kind.READ, one, called, returned));
                    events.add(new Event(key, Kind.READ, number(snapshot.get(key(key))), called, returned));
                }
            }
            default -> {
                long value = number(store.get(key(key)));
                events.add(new Event(key, Kind.READ, value, called, clock.incrementAndGet()));
            }
        }
    }

    /** What a process that was killed would have known, and what the next one reads. */
    private List<Event> acrossKill(List<Event> all, Kill kill, StoreOptions options) {
        List<Event> known = new ArrayList<>();
        for (Event event : all) {
            if (event.returned < kill.before) {
                known.add(event);
            } else if (event.called < kill.after && event.kind == Kind.WRITE) {
                known.add(new Event(event.key, event.kind, event.value, event.called, RegisterHistory.NEVER));
            }
        }
        try (KeyValueStore store = SimulatedStoreHost.open(kill.image, options)) {
            for (int pair = 0; pair < PAIRS; pair++) {
                assertEquals(
                        number(store.get(key(2 * pair))), number(store.get(key(2 * pair + 1))), "half of a batch survived");
            }
            for (int key = 0; key < KEYS; key++) {
                long value = number(store.get(key(key)));
                known.add(new Event(key, Kind.READ, value, kill.after + 1, kill.after + 2));
            }
        }
        SimulatedStoreHost.verify(kill.image);
        return known;
    }

    private static void check(List<Event> events, String when) {
        for (int key = 0; key < KEYS; key++) {
            RegisterHistory history = new RegisterHistory();
            for (Event event : events) {
                if (event.key == key) {
                    history.add(event.kind, event.value, event.called, event.returned);
                }
            }
            int k = key;
            assertTrue(history.isLinearizable(), () -> when + " no order explains key " + k + ":" + history);
        }
    }

    private static byte[] key(int key) {
        return ("key" + key).getBytes();
    }

    private static byte[] value(long number) {
        return ByteBuffer.allocate(40).putLong(number).array();
    }

    private static long number(byte[] value) {
        return value == null ? 0 : ByteBuffer.wrap(value).getLong();
    }
}
