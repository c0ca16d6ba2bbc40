package dev.heartwood.engine.filter;

import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import java.util.List;

/**
 * Merges sorted entries; what has one fingerprint becomes one, with all its values. Closes its sources. For one thread.
 *
 * <p>Takes 8 KiB of native memory for each source, and as much once or twice for what is merged of them, rounded up to powers of two.
 */
final class EntryMerge implements AutoCloseable {
    /*
     * Hashes of several sources follow each other in no order, so that a processor guesses half of all comparisons wrong. So entries are
     * merged a thousand at a time by loops without branches, two sources and then two results at once. A round takes of each source what
     * lies below the least of the last fingerprints that were read: of these all entries are there, and of no other all.
     */
    private static final int READ_ENTRIES = 1024;
    private static final int READ_BYTES = READ_ENTRIES * Entry.BYTES;
    private static final long ALL = Long.MAX_VALUE;

    private final MemoryPool pool;
    private final EntrySource[] sources;
    private final long[] buffers;
    /** What was read of each source and not taken yet. */
    private final long[] from;

    private final long[] to;
    private final boolean[] ended;

    /** What a round merges. */
    private final long[] sliceFrom;

    private final long[] sliceTo;
    private final long mergedBytes;
    private long merged;
    private long mergedBefore;

    /** What is left of what the last round has merged. */
    private long at;

    private long behind;

    private long fingerprint;
    private long values;

    /**
     * A merge before its first entry.
     *
     * @param sources before their first entries; closed with this, and when it cannot be made
     * @throws InsufficientMemoryException when {@code pool} is exhausted
     */
    EntryMerge(MemoryPool pool, List<EntrySource> sources) {
        int count = sources.size();
        this.pool = pool;
        this.sources = sources.toArray(EntrySource[]::new);
        this.buffers = new long[count];
        this.from = new long[count];
        this.to = new long[count];
        this.ended = new boolean[count];
        this.sliceFrom = new long[count];
        this.sliceTo = new long[count];
        this.mergedBytes = count > 1 ? (long) count * READ_BYTES : 0;
        try {
            for (int i = 0; i < count; i++) {
                from[i] = to[i] = buffers[i] = allocate(READ_BYTES);
            }
            if (count > 1) {
                merged = allocate(mergedBytes);
            }
            if (count > 2) {
                mergedBefore = allocate(mergedBytes);
            }
        } catch (RuntimeException | Error e) {
            close();
            throw e;
        }
    }

    /** The memory that a merge of so many sources takes of its pool, in bytes. */
    static long memoryBytes(int sources) {
        int results = Math.clamp(sources - 1, 0, 2);
        return (long) sources * READ_BYTES + results * MemoryPool.blockBytes((long) sources * READ_BYTES);
    }

    /**
     * Goes to the next fingerprint; false behind the last.
     *
     * @throws dev.heartwood.CorruptionException when a source is damaged
     */
    boolean next() {
        if (at == behind && !mergeNext()) {
            return false;
        }
        long entry = Memory.getLong(at);
        long found = Entry.fingerprint(entry);
        long all = 1L << entry;
        at += Entry.BYTES;
        while (at != behind) {
            entry = Memory.getLong(at);
            if (Entry.fingerprint(entry) != found) {
                break;
            }
            all |= 1L << entry;
            at += Entry.BYTES;
        }
        fingerprint = found;
        values = all;
        return true;
    }

    long fingerprint() {
        return fingerprint;
    }

    /** The values of the fingerprint, as a bitmap. */
    long values() {
        return values;
    }

    @Override
    public void close() {
        for (EntrySource source : sources) {
            source.close();
        }
        for (int i = 0; i < buffers.length; i++) {
            buffers[i] = free(buffers[i], READ_BYTES);
        }
        merged = free(merged, mergedBytes);
        mergedBefore = free(mergedBefore, mergedBytes);
    }

    /** Merges what comes next, all entries of some fingerprints; false at the end. */
    private boolean mergeNext() {
        while (true) {
            long limit = ALL;
            boolean any = false;
            for (int i = 0; i < sources.length; i++) {
                fill(i);
                any |= from[i] != to[i];
                if (!ended[i]) {
                    limit = Math.min(limit, Entry.fingerprint(last(i)));
                }
            }
            if (!any) {
                return false;
            }
            int slices = takeBelow(limit);
            if (slices > 0) {
                merge(slices);
                return true;
            }
            collapse(limit);
        }
    }

    /** Reads more of a source, unless it has ended or has much left; afterwards it has ended or has something. */
    private void fill(int source) {
        int left = (int) (to[source] - from[source]) / Entry.BYTES;
        if (ended[source] || READ_ENTRIES - left < EntrySource.ROOM_MIN) {
            return;
        }
        long buffer = buffers[source];
        Memory.copy(from[source], buffer, (long) left * Entry.BYTES);
        from[source] = buffer;
        to[source] = buffer + (long) left * Entry.BYTES;
        int read = sources[source].read(to[source], READ_ENTRIES - left);
        to[source] += (long) read * Entry.BYTES;
        ended[source] = read == 0;
    }

    private long last(int source) {
        return Memory.getLong(to[source] - Entry.BYTES);
    }

    /** Takes the entries with fingerprints below {@code limit} of all sources; returns of how many there are some. */
    private int takeBelow(long limit) {
        int slices = 0;
        for (int i = 0; i < sources.length; i++) {
            long end = limit == ALL ? to[i] : firstFrom(Entry.of(limit, 0), from[i], to[i]);
            if (end != from[i]) {
                sliceFrom[slices] = from[i];
                sliceTo[slices++] = end;
                from[i] = end;
            }
        }
        return slices;
    }

    /** Where in [low, high) the first entry stands that is {@code least} or more. */
    private static long firstFrom(long least, long low, long high) {
        while (low != high) {
            long middle = low + ((high - low) / 2 & -Entry.BYTES);
            if (Memory.getLong(middle) < least) {
                low = middle + Entry.BYTES;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /** Where a source has nothing but one fingerprint, as when hashes crowd together: keeps each of its values once. */
    private void collapse(long one) {
        for (int i = 0; i < sources.length; i++) {
            if (!ended[i] && Entry.fingerprint(last(i)) == one) {
                long all = 0;
                for (long entry = from[i]; entry != to[i]; entry += Entry.BYTES) {
                    all |= 1L << Memory.getLong(entry);
                }
                to[i] = from[i];
                for (; all != 0; all &= all - 1) {
                    Memory.putLong(to[i], Entry.of(one, Long.numberOfTrailingZeros(all)));
                    to[i] += Entry.BYTES;
                }
            }
        }
    }

    private void merge(int slices) {
        long result = merged;
        long other = mergedBefore;
        while (slices > 1) {
            long end = result;
            int results = 0;
            for (int i = 0; i < slices; i += 2) {
                long begin = end;
                end = i + 1 < slices
                        ? merge(sliceFrom[i], sliceTo[i], sliceFrom[i + 1], sliceTo[i + 1], begin)
                        : copy(sliceFrom[i], sliceTo[i], begin);
                sliceFrom[results] = begin;
                sliceTo[results++] = end;
            }
            slices = results;
            long swapped = result;
            result = other;
            other = swapped;
        }
        at = sliceFrom[0];
        behind = sliceTo[0];
    }

    /** Merges two slices to an address; returns the end of the result. */
    private static long merge(long first, long firstEnd, long second, long secondEnd, long result) {
        while (first != firstEnd && second != secondEnd) {
            long one = Memory.getLong(first);
            long other = Memory.getLong(second);
            // All ones when the other is less.
            long takeOther = other - one >> Long.SIZE - 1;
            Memory.putLong(result, one ^ (one ^ other) & takeOther);
            result += Entry.BYTES;
            second += takeOther & Entry.BYTES;
            first += ~takeOther & Entry.BYTES;
        }
        return copy(second, secondEnd, copy(first, firstEnd, result));
    }

    /** Copies a slice to an address; returns the end of the copy. */
    private static long copy(long first, long end, long result) {
        Memory.copy(first, result, end - first);
        return result + end - first;
    }

    private long allocate(long bytes) {
        long block = pool.allocate(bytes);
        if (block == 0) {
            throw new InsufficientMemoryException(
                    "the memory budget has no room for " + bytes + " bytes to merge the entries of a maplet");
        }
        return block;
    }

    private long free(long block, long bytes) {
        if (block != 0) {
            pool.free(block, bytes);
        }
        return 0;
    }
}
