package dev.heartwood.fuzz;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.page.PageType;
import dev.heartwood.testkit.Campaign;
import dev.heartwood.testkit.HostileStore;
import java.util.HexFormat;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Random hostile bytes, under right checksums, in pages of every type and in log records. */
class HostilePageTest {
    private static final int INPUTS = 80;
    private static final HostileStore STORE = new HostileStore();

    @Test
    void theStoreHasSomethingOfEveryKind() {
        assertEquals(Set.of(PageType.values()), Set.copyOf(STORE.types()));
        assertTrue(STORE.records() > 10, STORE.records() + " records");
    }

    @ParameterizedTest
    @EnumSource(PageType.class)
    void aHostilePageIsRefusedOrBelieved(PageType type) {
        Campaign.run(getClass(), 1, seed -> attack(seed + type.code() * 1000L, input -> STORE.attackPage(type, input)));
    }

    @Test
    void aHostileRecordIsRefusedOrBelieved() {
        Campaign.run(getClass(), 1, seed -> attack(seed, STORE::attackRecord));
    }

    private static void attack(long seed, Consumer<byte[]> target) {
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < Campaign.operations(INPUTS); i++) {
            byte[] input = new byte[2 + 4 * (1 + random.nextInt(random.nextInt(3) == 0 ? 12 : 3))];
            random.nextBytes(input);
            for (int edit = 2; edit < input.length; edit += 4) {
                if (random.nextBoolean()) {
                    // Most of what decides about the rest stands at the beginning.
                    input[edit] = 0;
                    input[edit + 1] = (byte) random.nextInt(24, 160);
                }
            }
            try {
                target.accept(input);
            } catch (Throwable failure) {
                throw new AssertionError("input " + HexFormat.of().formatHex(input) + ": " + failure, failure);
            }
        }
    }
}
