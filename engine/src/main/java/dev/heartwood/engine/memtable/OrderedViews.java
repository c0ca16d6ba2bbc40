package dev.heartwood.engine.memtable;

import dev.heartwood.engine.os.Memory;
import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The sorted runs over one memtable's records, extended on demand. Thread-safe.
 */
final class OrderedViews {
    /*
     * Who wants an order that covers more than the current view takes the lock, walks every lane from where the last walk
     * stopped to the published tail, sorts what it met into a new run and merges runs until each is RUN_RATIO times the next
     * younger one, and no more than RUNS_MAX are left. The result is a new immutable view, published by one volatile store.
     *
     * A lane's tail is published with a batch's records before the batch's commit cell is set. A walk that meets the cell
     * still pending stops there: the batch is the last thing in its lane, and the next walk goes on from the cell. So a view
     * has all of a batch or nothing, and a batch that is committed before a walk begins is in its view.
     *
     * Records are gathered from the youngest to the oldest of a lane and the sort is stable, so of two records of a batch with
     * one key and one sequence the later one comes first.
     *
     * All runs of a view have heads of one making, which is chosen by a sample of all records. Whenever there are an eighth more of
     * them it is looked at, and chosen anew when they have doubled since, or when an eighth of them have none of the prefixes that
     * heads lie behind. New heads touch every record, so a record pays for eight at most.
     */
    private static final int RUN_RATIO = 8;
    private static final int RUNS_MAX = 4;
    private static final int OUTLIER_RATIO = 8;
    private static final int SAMPLE_COUNT = 64;

    /**
     * An immutable order over all records before these positions of the lanes, which lie in these chunks. Runs are oldest first and never
     * empty.
     */
    record View(SortedRun[] runs, long[] covered, long[] chunks) {}

    private final Lane[] lanes;
    private final SortArrays arrays;
    private final ReentrantLock lock = new ReentrantLock();
    /** Made once, so that giving a memtable back takes nothing of the Java heap. */
    private final View empty;

    private volatile View view;

    // Guarded by lock: what the last walk gathered. A walk that finds the Java heap full leaves the view and where it ends as they were.
    private long[] gathered = new long[16];
    private int gatheredCount;
    // Guarded by lock: how the heads of the current view are made, how many records there were when it was chosen, and how many
    // there will be when it is looked at again.
    private KeyHeads keyHeads = KeyHeads.WHOLE;
    private long chosenCount;
    private long lookCount;

    OrderedViews(Lane[] lanes, SortArrays arrays) {
        this.lanes = lanes;
        this.arrays = arrays;
        this.empty = new View(new SortedRun[0], new long[lanes.length], new long[lanes.length]);
        this.view = empty;
    }

    /** A view of everything that was committed before the call. */
    View current() {
        View seen = view;
        if (isCurrent(seen)) {
            return seen;
        }
        lock.lock();
        try {
            seen = view;
            if (!isCurrent(seen)) {
                seen = extend(seen);
                view = seen;
            }
            return seen;
        } finally {
            lock.unlock();
        }
    }

    /** As {@link #current}, in a single run. */
    View single() {
        lock.lock();
        try {
            View seen = current();
            SortedRun[] runs = seen.runs();
            if (runs.length > 1) {
                SortedRun merged = runs[runs.length - 1];
                for (int i = runs.length - 2; i >= 0; i--) {
                    merged = SortedRun.merge(runs[i], merged);
                }
                seen = new View(new SortedRun[] {merged}, seen.covered(), seen.chunks());
                view = seen;
            }
            return seen;
        } finally {
            lock.unlock();
        }
    }

    /** Gives the arrays of the current view to others: nobody looks at a view any more. Idempotent. */
    void release() {
        lock.lock();
        try {
            // First: what is given back once must not be found here again.
            SortedRun[] runs = view.runs();
            view = empty;
            for (SortedRun run : runs) {
                run.giveBack(arrays);
            }
            arrays.giveBack(gathered);
            gathered = null;
        } finally {
            lock.unlock();
        }
    }

    /** Bytes of the current view on the Java heap. */
    long heapBytes() {
        long bytes = 0;
        for (SortedRun run : view.runs()) {
            bytes += run.heapBytes();
        }
        return bytes;
    }

    private boolean isCurrent(View seen) {
        for (int i = 0; i < lanes.length; i++) {
            if (seen.covered()[i] != lanes[i].published()) {
                return false;
            }
        }
        return true;
    }

    private View extend(View old) {
        long[] covered = old.covered().clone();
        long[] chunks = old.chunks().clone();
        gatheredCount = 0;
        makeRoom(old.runs());
        for (int i = 0; i < lanes.length; i++) {
            gather(i, covered, chunks);
        }
        if (gatheredCount == 0) {
            return new View(old.runs(), covered, chunks);
        }
        chooseHeads(old.runs());
        SortedRun[] runs = Arrays.copyOf(old.runs(), old.runs().length + 1);
        for (int i = 0; i < runs.length - 1; i++) {
            runs[i] = runs[i].with(keyHeads);
        }
        long[] records = gathered;
        if (gatheredCount > records.length / 2) {
            gathered = new long[16]; // the run keeps the array
        } else {
            records = Arrays.copyOf(gathered, gatheredCount);
        }
        reverse(records, gatheredCount);
        runs[runs.length - 1] = RunSorter.sort(records, gatheredCount, keyHeads, arrays);
        return new View(mergeSmall(runs), covered, chunks);
    }

    /** Chooses the making of heads anew, when it is time to, for the runs and what was gathered. */
    private void chooseHeads(SortedRun[] runs) {
        long count = gatheredCount;
        for (SortedRun run : runs) {
            count += run.count();
        }
        if (count < lookCount) {
            return;
        }
        lookCount = count + count / OUTLIER_RATIO;
        if (count >= 2 * chosenCount || outliers(runs) * OUTLIER_RATIO > count) {
            chosenCount = count;
            KeyHeads chosen = chosenFrom(runs, count);
            if (!chosen.isSame(keyHeads)) {
                keyHeads = chosen;
            }
        }
    }

    private static long outliers(SortedRun[] runs) {
        long outliers = 0;
        for (SortedRun run : runs) {
            outliers += run.outliers();
        }
        return outliers;
    }

    private KeyHeads chosenFrom(SortedRun[] runs, long count) {
        long[] sample = new long[(int) Math.min(SAMPLE_COUNT, count)];
        int run = 0;
        long runBegin = 0;
        for (int i = 0; i < sample.length; i++) {
            long position = i * count / sample.length;
            while (run < runs.length && position - runBegin >= runs[run].count()) {
                runBegin += runs[run++].count();
            }
            int within = (int) (position - runBegin);
            sample[i] = run < runs.length ? runs[run].record(within) : gathered[within];
        }
        return KeyHeads.choose(sample, sample.length);
    }

    private static SortedRun[] mergeSmall(SortedRun[] runs) {
        int count = runs.length;
        while (count > 1
                && (count > RUNS_MAX || runs[count - 2].count() < (long) RUN_RATIO * runs[count - 1].count())) {
            runs[count - 2] = SortedRun.merge(runs[count - 2], runs[count - 1]);
            count--;
        }
        return Arrays.copyOf(runs, count);
    }

    /** Gathers a lane's entries from where it is covered on, 0 for the first; notes where it stopped. */
    private void gather(int laneNumber, long[] covered, long[] chunks) {
        Lane lane = lanes[laneNumber];
        long end = lane.published();
        if (end == 0) {
            return;
        }
        long position = covered[laneNumber];
        long chunk = position == 0 ? lane.firstChunk() : chunks[laneNumber];
        long record = position == 0 ? lane.firstRecord() : position;
        while (record != end) {
            if (record == Lane.recordsEnd(chunk)) {
                chunk = Lane.nextChunk(chunk);
                record = chunk + Lane.CHUNK_HEADER_BYTES;
                continue;
            }
            long meta = Records.meta(record);
            if (Records.kind(meta) != Records.INTERNAL) {
                add(record);
            } else if (Memory.getLongAcquire(record) == Records.PENDING) {
                break;
            }
            record += Records.bytes(meta);
        }
        chunks[laneNumber] = chunk;
        covered[laneNumber] = record;
    }

    /** Has room for all records that the runs do not hold, or nearly all: writers may be adding some. */
    private void makeRoom(SortedRun[] runs) {
        long count = 0;
        for (Lane lane : lanes) {
            count += lane.entries();
        }
        for (SortedRun run : runs) {
            count -= run.count();
        }
        if (count > gathered.length) {
            long[] larger = arrays.take(Math.toIntExact(count));
            arrays.giveBack(gathered);
            gathered = larger;
        }
    }

    private void add(long record) {
        if (gatheredCount == gathered.length) {
            gathered = Arrays.copyOf(gathered, 2 * gatheredCount);
        }
        gathered[gatheredCount++] = record;
    }

    private static void reverse(long[] array, int count) {
        for (int i = 0, j = count - 1; i < j; i++, j--) {
            long swapped = array[i];
            array[i] = array[j];
            array[j] = swapped;
        }
    }
}
