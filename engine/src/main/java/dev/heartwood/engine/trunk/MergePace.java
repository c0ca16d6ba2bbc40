package dev.heartwood.engine.trunk;

import java.util.ArrayList;
import java.util.List;

/**
 * When merges are due. A flush moves much at once, and the next one of its kind comes when as much again has come into the tree. So what a
 * flush brings is due evenly until then: who writes is slowed for what is late, and merges go on beside the writes instead of between
 * them. Guarded by the trunk's structure lock.
 */
final class MergePace {
    private final List<Flush> flushes = new ArrayList<>();
    private long arrivedBytes;

    private record Flush(long bytes, long arrivedThen) {
        long notDueBytes(long arrivedNow) {
            return Math.max(0, bytes - (arrivedNow - arrivedThen));
        }
    }

    /** Notes a memtable that came into the tree. */
    void arrived(long bytes) {
        arrivedBytes += bytes;
        flushes.removeIf(flush -> flush.notDueBytes(arrivedBytes) == 0);
    }

    /** Notes what flushes have just moved and is to be merged now. */
    void flushed(long bytes) {
        if (bytes > 0) {
            flushes.add(new Flush(bytes, arrivedBytes));
        }
    }

    /** Forgets what was noted: what is to be merged is due as if it had just been moved. */
    void restart(long bytes) {
        flushes.clear();
        flushed(bytes);
    }

    /** Bytes of what is to be merged that may still wait. Takes nothing of the Java heap. */
    long notDueBytes() {
        long sum = 0;
        for (int i = 0; i < flushes.size(); i++) {
            sum += flushes.get(i).notDueBytes(arrivedBytes);
        }
        return sum;
    }
}
