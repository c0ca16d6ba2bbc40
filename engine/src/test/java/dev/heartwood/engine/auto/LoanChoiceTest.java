package dev.heartwood.engine.auto;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** Who has memory that is lent, second by second. */
class LoanChoiceTest {
    private static final long RECORD_BYTES = 80 << 20;
    private static final long PAGE_BYTES = 20 << 20;

    private final LoanChoice choice = new LoanChoice();

    /** Seconds of so many in which records have it. */
    private int forRecords(int seconds, long recordsFound, long pagesFound) {
        int of = 0;
        for (int i = 0; i < seconds; i++) {
            of += choice.isForRecords(recordsFound, RECORD_BYTES, pagesFound, PAGE_BYTES) ? 1 : 0;
        }
        return of;
    }

    @Test
    void recordsHaveItUntilMoreIsFoundOfPages() {
        assertEquals(60, forRecords(60, 0, 0));
        assertEquals(60, forRecords(60, 40_000, 10_000), "as many in each byte");
        assertEquals(60, forRecords(60, 40_000, 19_000), "not twice as many");
        assertEquals(1, forRecords(60, 40_000, 21_000));
        assertEquals(0, forRecords(60, 40_000, 10_000));
        assertEquals(0, forRecords(60, 70_000, 10_000));
        assertEquals(1, 60 - forRecords(60, 90_000, 10_000));
    }

    @Test
    void fewSayNothing() {
        assertEquals(60, forRecords(60, 0, 99));
        assertEquals(1, forRecords(60, 0, 100));
        assertEquals(0, forRecords(60, 99, 0));
        assertTrue(forRecords(60, 100, 0) > 0);
    }

    @Test
    void whileNothingIsLentForPagesRecordsKeepIt() {
        for (int i = 0; i < 60; i++) {
            assertTrue(choice.isForRecords(0, RECORD_BYTES, 0, 0));
            assertTrue(choice.isForRecords(50_000, RECORD_BYTES, 0, 0));
        }
    }

    /** Whoever reads in another way every few seconds has it moved now and then only. */
    @Test
    void itDoesNotOscillate() {
        int changes = 0;
        boolean before = true;
        for (int i = 0; i < 3600; i++) {
            boolean isSkewed = i / 5 % 2 == 0;
            boolean now = choice.isForRecords(isSkewed ? 100_000 : 0, RECORD_BYTES, isSkewed ? 0 : 100_000, PAGE_BYTES);
            changes += now == before ? 0 : 1;
            before = now;
        }
        assertTrue(changes > 0 && changes < 30, changes + " changes");
        assertFalse(forRecords(600, 0, 100_000) == 600, "but a lasting change is followed");
    }
}
