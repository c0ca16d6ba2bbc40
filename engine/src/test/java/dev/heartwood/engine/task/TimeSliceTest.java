package dev.heartwood.engine.task;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class TimeSliceTest {
    private long now = Long.MAX_VALUE - TimeSlice.SLICE_NANOS / 2;
    private int given;

    @Test
    void givesWayOncePerSliceAlsoWhereTheClockOverflows() {
        TimeSlice slice = new TimeSlice(() -> now, () -> given++);
        slice.check();
        now += TimeSlice.SLICE_NANOS - 1;
        slice.check();
        assertEquals(0, given);
        now++;
        slice.check();
        slice.check();
        assertEquals(1, given);
        now += TimeSlice.SLICE_NANOS;
        slice.check();
        assertEquals(2, given);
    }

    @Test
    void theNextSliceBeginsWhenItsThreadRunsAgain() {
        TimeSlice slice = new TimeSlice(() -> now, () -> {
            given++;
            now += 10 * TimeSlice.SLICE_NANOS;
        });
        now += TimeSlice.SLICE_NANOS;
        slice.check();
        slice.check();
        assertEquals(1, given);
    }
}
