package dev.heartwood.engine.read;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which of the open views is the oldest, and who is told when it goes. */
class LiveSnapshotsTest {
    private final LiveSnapshots live = new LiveSnapshots();
    private final List<Long> told = new ArrayList<>();

    @Test
    void onlyTheLastOfTheOldestIsTold() {
        live.whenOldestGoes(told::add);
        // Numbers beyond those of which the JVM keeps one object each.
        Long first = live.open(() -> 1_000);
        Long again = live.open(() -> 1_000);
        Long second = live.open(() -> 2_000);
        Long third = live.open(() -> 3_000);
        live.close(second);
        live.close(first);
        assertEquals(List.of(), told);
        live.close(again);
        assertEquals(List.of(3_000L), told);
        assertArrayEquals(new long[] {3_000}, live.sequences());
        live.close(third);
        assertEquals(List.of(3_000L, Long.MAX_VALUE), told);
        assertEquals(0, live.count());
    }
}
