package dev.heartwood.engine.branch;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.FullHeap;
import dev.heartwood.engine.branch.BranchFixture.Entry;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Branches are written while the Java heap is full: what was taken is given back, while it still is. */
class FullHeapBranchTest {
    private static final int ATTEMPTS = 60;

    @Test
    void nothingIsLost() {
        FullHeap.run(Process.class);
    }

    /** What runs in the process with the full heap. */
    static final class Process {
        private static final byte[] LARGE = new byte[5000];

        private final BranchFixture fixture = new BranchFixture(32 << 20);
        private final BranchWriter[] writers = new BranchWriter[ATTEMPTS];
        private Branch shared;

        /** No arguments. */
        public static void main(String[] args) {
            Process process = new Process();
            process.firstLargeValue();
            process.sharedValue();
            process.newWriter();
            process.fixture.close();
        }

        /** Writers that have written more than an extent. */
        private void begin(int count) {
            List<Entry> entries = BranchFixture.entries(150, 1000);
            for (int i = 0; i < count; i++) {
                writers[i] = new BranchWriter(fixture.storage, fixture.newId(), WriteMode.CACHED);
                for (Entry entry : entries) {
                    fixture.add(writers[i], entry);
                }
            }
        }

        /** Adds an entry to one writer after the other, until there is room for it, and aborts them all; returns how many had none. */
        private int addAndAbort(FullHeap.Attempt add) {
            begin(1);
            add.run(0);
            writers[0].abort();
            begin(ATTEMPTS);
            int failed = FullHeap.untilDone(ATTEMPTS, 1, add);
            FullHeap.whileFull(this::abortAll);
            return failed;
        }

        /** A writer gave back nothing when the list of groups had no room for its own. */
        private void firstLargeValue() {
            require(addAndAbort(this::addLarge) > 5, "each part of it finds the heap full");
            require(fixture.extents.allocatedCount() == 0, "all extents are given back");
        }

        private void addLarge(int number) {
            writers[number].add(fixture.scratch, 200, 1, Entries.PUT, LARGE);
        }

        /** A reference to a shared group was lost when the list of groups had no room for it. */
        private void sharedValue() {
            shared = fixture.write(List.of(new Entry(new byte[] {1}, 1, Entries.PUT, LARGE)));
            require(addAndAbort(this::addShared) > 2, "each part of it finds the heap full");
            shared.release();
            require(fixture.extents.allocatedCount() == 0, "all extents are given back");
        }

        private void addShared(int number) {
            writers[number].addLarge(fixture.scratch, 200, 1, Entries.PUT, shared.overflowGroups()[0], 0, LARGE.length);
        }

        /** The memory of a writer was lost where there was no room for what lays pages out in it. */
        private void newWriter() {
            begin(1);
            writers[0].abort();
            long allocated = fixture.pool.allocated();
            int failed = FullHeap.closeToDone(20, () -> new BranchWriter(fixture.storage, 1000, WriteMode.CACHED).abort());
            require(failed > 0, "it finds the heap full");
            require(fixture.pool.allocated() == allocated, "all memory is given back");
        }

        private void abortAll() {
            for (BranchWriter writer : writers) {
                writer.abort();
            }
        }

        private static void require(boolean isSo, String what) {
            if (!isSo) {
                throw new AssertionError("it is not so that " + what);
            }
        }
    }
}
