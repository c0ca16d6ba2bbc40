package dev.heartwood.engine.memtable;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.EntryCursor;
import dev.heartwood.engine.os.Memory;

/**
 * Walks the entries of an ordered view that one snapshot sees. What is committed after the cursor was made stays unseen.
 */
final class MemtableCursor implements EntryCursor {
    /*
     * Every run has a position. Walking forward, it is the run's first visible record that is not before the current entry
     * (the current one's own run stands on it); backward it is the last one that is not behind it. Turning round moves the
     * positions of all runs by one, past the records between.
     *
     * The records of a run lie scattered in memory. So whenever a walk enters another TOUCHED_COUNT of them, the cache lines
     * of the next ones are read together, which overlaps their misses.
     */
    private static final int TOUCHED_COUNT = 16;

    private final SortedRun[] runs;
    private final int[] positions;
    private final long snapshot;
    private int current;
    private boolean isBackward;
    private long record;
    private long meta;
    private long touched;

    MemtableCursor(OrderedViews.View view, long snapshot) {
        this.runs = view.runs();
        this.positions = new int[runs.length];
        this.snapshot = snapshot;
    }

    @Override
    public boolean valid() {
        return record != 0;
    }

    @Override
    public void seekFirst() {
        for (int i = 0; i < runs.length; i++) {
            positions[i] = 0;
        }
        settleForward();
    }

    @Override
    public void seekLast() {
        for (int i = 0; i < runs.length; i++) {
            positions[i] = runs[i].count() - 1;
        }
        settleBackward();
    }

    @Override
    public void seek(long keyAddress, int keyLength) {
        for (int i = 0; i < runs.length; i++) {
            positions[i] = runs[i].lowerBound(keyAddress, keyLength);
        }
        settleForward();
    }

    @Override
    public void seekBefore(long keyAddress, int keyLength) {
        for (int i = 0; i < runs.length; i++) {
            positions[i] = runs[i].lowerBound(keyAddress, keyLength) - 1;
        }
        settleBackward();
    }

    @Override
    public void next() {
        assert valid();
        if (isBackward) {
            for (int i = 0; i < runs.length; i++) {
                positions[i]++;
            }
            settleForward();
            return;
        }
        int position = ++positions[current];
        if ((position & TOUCHED_COUNT - 1) == 0) {
            touched += runs[current].touch(position, position + TOUCHED_COUNT);
        }
        skipForward(current);
        chooseFirst();
    }

    @Override
    public void previous() {
        assert valid();
        if (!isBackward) {
            for (int i = 0; i < runs.length; i++) {
                positions[i]--;
            }
            settleBackward();
            return;
        }
        int position = --positions[current];
        if ((position + 1 & TOUCHED_COUNT - 1) == 0) {
            touched += runs[current].touch(Math.max(0, position + 1 - TOUCHED_COUNT), position + 1);
        }
        skipBackward(current);
        chooseLast();
    }

    private void settleForward() {
        isBackward = false;
        for (int i = 0; i < runs.length; i++) {
            skipForward(i);
        }
        chooseFirst();
    }

    private void settleBackward() {
        isBackward = true;
        for (int i = 0; i < runs.length; i++) {
            skipBackward(i);
        }
        chooseLast();
    }

    private void skipForward(int i) {
        if (snapshot != Entries.NEWEST) {
            SortedRun run = runs[i];
            while (positions[i] < run.count() && Records.sequence(run.record(positions[i])) > snapshot) {
                positions[i]++;
            }
        }
    }

    private void skipBackward(int i) {
        if (snapshot != Entries.NEWEST) {
            SortedRun run = runs[i];
            while (positions[i] >= 0 && Records.sequence(run.record(positions[i])) > snapshot) {
                positions[i]--;
            }
        }
    }

    /** Stands on the first of the runs' records; of equal ones on the youngest run's. */
    private void chooseFirst() {
        int first = -1;
        for (int i = 0; i < runs.length; i++) {
            if (positions[i] < runs[i].count()
                    && (first < 0 || SortedRun.compare(runs[i], positions[i], runs[first], positions[first]) <= 0)) {
                first = i;
            }
        }
        standOn(first);
    }

    /** Stands on the last of the runs' records; of equal ones on the oldest run's. */
    private void chooseLast() {
        int last = -1;
        for (int i = 0; i < runs.length; i++) {
            if (positions[i] >= 0
                    && (last < 0 || SortedRun.compare(runs[i], positions[i], runs[last], positions[last]) > 0)) {
                last = i;
            }
        }
        standOn(last);
    }

    private void standOn(int run) {
        current = run;
        record = run < 0 ? 0 : runs[run].record(positions[run]);
        meta = run < 0 ? 0 : Records.meta(record);
    }

    @Override
    public long keyAddress() {
        return record + Records.keyOffset(meta);
    }

    @Override
    public int keyLength() {
        return Records.keyLength(meta);
    }

    @Override
    public long sequence() {
        return Records.sequence(record);
    }

    @Override
    public byte kind() {
        return (byte) Records.kind(meta);
    }

    @Override
    public long valueAddress() {
        return valueLength() == 0 ? 0 : record + Records.keyOffset(meta) + Records.keyLength(meta);
    }

    @Override
    public void copyValue(byte[] to) {
        Memory.copyTo(valueAddress(), to, 0, valueLength());
    }

    @Override
    public int valueLength() {
        return Records.valueLength(meta);
    }

    @Override
    public void close() {
        record = 0;
    }
}
