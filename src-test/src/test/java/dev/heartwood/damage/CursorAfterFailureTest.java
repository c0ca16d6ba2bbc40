package dev.heartwood.damage;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.CorruptionException;
import dev.heartwood.Cursor;
import dev.heartwood.KeyValueStore;
import dev.heartwood.engine.page.PageType;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SimulatedStoreHost;
import org.junit.jupiter.api.Test;

/** A move of a cursor that fails half way must not look like the end of the range, now or at the next call. */
class CursorAfterFailureTest {
    private final Specimen specimen = Specimen.of(8);

    @Test
    void aMoveThatFailedIsNotAnEnd() {
        int failures = 0;
        for (long page : specimen.pages(PageType.BRANCH_LEAF)) {
            SimulatedMachine machine = specimen.copy();
            machine.flip(Specimen.DIRECTORY, Specimen.DATA, page * Specimen.PAGE_BYTES + 100, 1);
            try (KeyValueStore store = SimulatedStoreHost.open(machine, Specimen.options());
                    Cursor cursor = store.cursor()) {
                failures += walkToFailure(cursor, true) ? 1 : 0;
                failures += walkToFailure(cursor, false) ? 1 : 0;
            }
        }
        assertTrue(failures > 10, failures + " moves failed");
    }

    /** Whether a walk met the damage; the cursor is then of use again after a seek. */
    private boolean walkToFailure(Cursor cursor, boolean forward) {
        try {
            boolean on = forward ? cursor.first() : cursor.last();
            while (on) {
                on = forward ? cursor.next() : cursor.previous();
            }
            return false;
        } catch (CorruptionException damage) {
            assertFalse(cursor.valid());
            assertThrows(IllegalStateException.class, cursor::next);
            assertThrows(IllegalStateException.class, cursor::previous);
            assertThrows(IllegalStateException.class, cursor::key);
            assertWorksAfterSeek(cursor);
            return true;
        }
    }

    private void assertWorksAfterSeek(Cursor cursor) {
        int found = 0;
        for (byte[] key : specimen.contents().keySet()) {
            try {
                if (cursor.seek(key)) {
                    assertArrayEquals(key, cursor.key());
                    found++;
                }
            } catch (CorruptionException damage) {
                assertFalse(cursor.valid());
            }
        }
        assertTrue(found > specimen.contents().size() / 2, "only " + found + " keys can be sought");
    }
}
