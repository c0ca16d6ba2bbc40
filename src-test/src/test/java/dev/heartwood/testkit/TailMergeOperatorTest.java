package dev.heartwood.testkit;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class TailMergeOperatorTest {
    private final TailMergeOperator operator = new TailMergeOperator();

    @Test
    void itDoesNotMatterHowOperandsAreGrouped() {
        KeySpace space = new KeySpace(1, 10, 100, 100);
        Campaign.run(getClass(), 2000, seed -> {
            SplittableRandom random = new SplittableRandom(seed);
            List<byte[]> operands = new ArrayList<>();
            int count = 2 + random.nextInt(20);
            for (int i = 0; i < count; i++) {
                operands.add(space.operand(random));
            }
            byte[] existing = random.nextBoolean() ? null : space.value(random);
            byte[] oneByOne = existing;
            for (byte[] operand : operands) {
                oneByOne = operator.merge(null, oneByOne, List.of(operand));
            }
            int from = random.nextInt(count - 1);
            int to = from + 2 + random.nextInt(count - from - 1);
            List<byte[]> grouped = new ArrayList<>(operands.subList(0, from));
            grouped.add(operator.combine(null, operands.subList(from, to)));
            grouped.addAll(operands.subList(to, count));
            assertArrayEquals(oneByOne, operator.merge(null, existing, grouped));
            assertArrayEquals(oneByOne, operator.merge(null, existing, operands));
        });
    }
}
