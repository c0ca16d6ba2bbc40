package dev.heartwood.differential;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.heartwood.Cursor;
import dev.heartwood.Durability;
import dev.heartwood.KeyOrder;
import dev.heartwood.KeyRange;
import dev.heartwood.KeyValueStore;
import dev.heartwood.Snapshot;
import dev.heartwood.StoreOptions;
import dev.heartwood.testkit.Campaign;
import dev.heartwood.testkit.History;
import dev.heartwood.testkit.OptionMatrix;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SimulatedStoreHost;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** The same operations give the same answers whatever the options say of memory, shape, policy, durability and workers. */
class MetamorphicTest {
    private static final int STEPS = 2500;
    private static final int VARIANTS = 8;

    @Test
    void optionsChangeNoAnswer() {
        Campaign.run(getClass(), 2, seed -> {
            List<String> first = transcript(seed, 0);
            for (int variant = 1; variant < VARIANTS; variant++) {
                assertEquals(first, transcript(seed, variant), "variant " + variant);
            }
        });
    }

    /** Everything that a history's reads return. */
    private static List<String> transcript(long seed, int variant) {
        StoreOptions options = new OptionMatrix(seed * VARIANTS + variant)
                .next(new SplittableRandom(variant)).toBuilder().keyOrder(KeyOrder.SORTED).build();
        int steps = Campaign.operations(STEPS);
        History history = new History(seed, steps, Durability.values());
        SplittableRandom random = new SplittableRandom(seed);
        List<String> transcript = new ArrayList<>();
        SimulatedMachine machine = new SimulatedMachine(seed);
        Snapshot snapshot = null;
        KeyValueStore store = SimulatedStoreHost.open(machine, options);
        try {
            for (int i = 0; i < steps; i++) {
                history.advance(store);
                transcript.add(Arrays.hashCode(store.get(History.key(random))) + "");
                if (i % 100 == 0) {
                    snapshot = another(snapshot, store, transcript);
                    transcript.add(scan(store, History.key(random), random.nextBoolean()));
                }
                if (i % 700 == 699) {
                    store.settle();
                    snapshot.close();
                    snapshot = null;
                    store.close();
                    store = SimulatedStoreHost.open(machine, options);
                }
            }
            transcript.add(History.contents(store).size() + " keys");
        } finally {
            if (snapshot != null) {
                snapshot.close();
            }
            store.close();
        }
        return transcript;
    }

    /** Reads the old snapshot, closes it, and takes a new one. */
    private static Snapshot another(Snapshot old, KeyValueStore store, List<String> transcript) {
        if (old != null) {
            try (Cursor cursor = old.cursor(KeyRange.all())) {
                transcript.add("snapshot " + hash(cursor, true));
            }
            old.close();
        }
        return store.snapshot();
    }

    private static String scan(KeyValueStore store, byte[] from, boolean forwards) {
        try (Cursor cursor = store.cursor(forwards ? KeyRange.from(from) : KeyRange.before(from))) {
            return (forwards ? "forwards " : "backwards ") + hash(cursor, forwards);
        }
    }

    private static int hash(Cursor cursor, boolean forwards) {
        int hash = 0;
        for (boolean on = forwards ? cursor.first() : cursor.last(); on; on = forwards ? cursor.next() : cursor.previous()) {
            hash = hash * 31 + Arrays.hashCode(cursor.key());
            hash = hash * 31 + Arrays.hashCode(cursor.value());
        }
        return hash;
    }
}
