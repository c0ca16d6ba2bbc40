package dev.heartwood.engine.memtable;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.EntryCursor;
import dev.heartwood.engine.os.MemoryPool;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** That memtables are put in order in the arrays of those before, and in no others' that are still looked at. */
class SortArraysTest {
    private static final int RECORDS = 30_000;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final MemoryPool pool = MemoryPool.open(64L << 20);
    private final MemoryPool scratch = MemoryPool.open(4L << 20);
    private final SortArrays arrays = new SortArrays();
    private final Random random = new Random(1);

    @AfterEach
    void close() {
        pool.close();
        scratch.close();
    }

    private MemtableFixture filled(int records) {
        MemtableFixture fixture = new MemtableFixture(new Memtable(pool, arrays, 1, 1, 32 << 20), scratch);
        add(fixture, records);
        return fixture;
    }

    private void add(MemtableFixture fixture, int records) {
        for (int i = 0; i < records; i++) {
            assertTrue(fixture.put(0, key(random.nextInt()), i, new byte[8]));
        }
    }

    private static byte[] key(int number) {
        return String.format("%08x", number).getBytes(StandardCharsets.US_ASCII);
    }

    private static void assertInOrder(EntryCursor cursor, int records) {
        List<String> keys = new ArrayList<>();
        for (cursor.seekFirst(); cursor.valid(); cursor.next()) {
            keys.add(new String(MemtableFixture.entry(cursor).key(), StandardCharsets.US_ASCII));
        }
        assertEquals(keys.stream().sorted().toList(), keys);
        assertTrue(keys.size() > 0.99 * records, keys.size() + " keys of " + records + " at random");
    }

    @Test
    void aMemtableTakesTheArraysOfTheOneBefore() {
        for (int round = 0; round < 5; round++) {
            int records = RECORDS + random.nextInt(RECORDS / 16);
            try (MemtableFixture fixture = filled(records)) {
                fixture.memtable.seal();
                long before = THREADS.getCurrentThreadAllocatedBytes();
                EntryCursor cursor = fixture.memtable.sealedCursor();
                long allocated = THREADS.getCurrentThreadAllocatedBytes() - before;
                assertInOrder(cursor, records);
                assertTrue(round == 0 || allocated < RECORDS, allocated + " bytes allocated to put " + records + " in order");
                fixture.memtable.release();
            }
        }
    }

    @Test
    void whatACursorLooksAtIsNobodyElses() {
        try (MemtableFixture open = filled(RECORDS)) {
            EntryCursor early = open.memtable.cursor(Entries.NEWEST);
            add(open, RECORDS / 4);
            EntryCursor late = open.memtable.cursor(Entries.NEWEST);
            for (int i = 0; i < 3; i++) {
                try (MemtableFixture other = filled(RECORDS)) {
                    other.memtable.seal();
                    assertInOrder(other.memtable.sealedCursor(), RECORDS);
                    other.memtable.release();
                }
            }
            assertInOrder(early, RECORDS);
            assertInOrder(late, RECORDS + RECORDS / 4);
            open.memtable.release();
            open.memtable.release();
            Set<long[]> taken = Collections.newSetFromMap(new IdentityHashMap<>());
            for (int i = 0; i < 20; i++) {
                assertTrue(taken.add(arrays.take(RECORDS)), "given back twice");
            }
        }
    }

    @Test
    void anArrayIsTakenForAboutItsLengthOnly() {
        long[] array = arrays.take(10_000);
        arrays.giveBack(array);
        assertNotSame(array, arrays.take(array.length + 1));
        assertNotSame(array, arrays.take(array.length / 5));
        assertSame(array, arrays.take(array.length - 1));
        assertNotSame(array, arrays.take(array.length - 1));
    }
}
