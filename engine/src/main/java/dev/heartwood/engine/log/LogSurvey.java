package dev.heartwood.engine.log;

import dev.heartwood.CorruptionException;
import dev.heartwood.engine.device.Storage;
import java.util.ArrayList;
import java.util.List;

/**
 * Decides how far a log is to be replayed, or that it is damaged. Reads everything, changes nothing, so that it decides the same
 * however often recovery is interrupted. One thread.
 */
final class LogSurvey {
    /*
     * LSNs are dense, so what is missing is known by number. Life by life:
     *
     * A life that a later life followed was judged by the recovery between them, which left its verdict in the later life's
     * headers: records from firstLsn on are void, and so many LSNs below are missing. If as many are missing now, all is as it
     * was. If not, and the difference can be no loss of power, it is damage; else the later lives had not yet made the earlier
     * one durable, promised nothing, and the log ends at the first gap.
     *
     * The last life, when the system still runs: only appends under way when the process died can be missing, one a lane, in
     * the last generation, nothing behind them. Everything present is replayed.
     *
     * The last life, when the system has restarted: the log ends at the first gap.
     *
     * A life that ended the log before the beginning of some earlier lives made those void as a whole.
     *
     * In every case an LSN that some record, header or claim calls durable must not be missing.
     */
    /** A generation to replay up to, not including, an LSN. */
    record Part(LoggedGeneration generation, long lsnLimit) {}

    private final Storage storage;
    private final LogScan scan;
    private final long checkpointGeneration;
    private final List<Part> parts = new ArrayList<>();
    private long durableLsn;
    private long nextLsn;
    private long lost;
    private boolean isCut;
    private long bytesFound;

    LogSurvey(Storage storage, LogScan scan, long checkpointGeneration) {
        this.storage = storage;
        this.scan = scan;
        this.checkpointGeneration = checkpointGeneration;
    }

    void run() {
        List<LoggedGeneration> all = withoutVoidLives(scan.generations());
        nextLsn = scan.lsnBeyondNewest();
        durableLsn = scan.syncedLsn();
        int from = 0;
        while (from < all.size() && !isCut) {
            LogLife life = all.get(from).header().life();
            int to = from + 1;
            while (to < all.size() && all.get(to).header().life().equals(life)) {
                to++;
            }
            LsnGaps gaps = new LsnGaps(from == 0 ? start(all.getFirst()) : life.firstLsn());
            new LifeSurvey(all.subList(from, to), all.subList(to, all.size()), gaps).run();
            from = to;
        }
        if (!all.isEmpty() && (isCut || !scan.isRunning(all.getLast().header().life()))) {
            durableLsn = nextLsn - 1;
        }
    }

    private static List<LoggedGeneration> withoutVoidLives(List<LoggedGeneration> all) {
        List<LoggedGeneration> kept = new ArrayList<>();
        long begun = Long.MAX_VALUE;
        for (LoggedGeneration generation : all.reversed()) {
            long firstLsn = generation.header().life().firstLsn();
            if (firstLsn <= begun) {
                begun = firstLsn;
                kept.addFirst(generation);
            }
        }
        return kept;
    }

    /** The first LSN that must be there: one too low when a generation before the first is missing. */
    private long start(LoggedGeneration first) {
        LogGeneration header = first.header();
        boolean missing = header.previousNumber() > checkpointGeneration;
        return missing ? Math.max(1, header.firstLsn() - 1) : header.firstLsn();
    }

    List<Part> parts() {
        return parts;
    }

    /** The LSN at which the next life begins. */
    long nextLsn() {
        return nextLsn;
    }

    /** What the next life states as lost. */
    long lost() {
        return lost;
    }

    /** Whether something behind the end was given up after a loss of power. */
    boolean isCut() {
        return isCut;
    }

    /** Bytes of all records before the end of each life, also behind a gap. */
    long bytesFound() {
        return bytesFound;
    }

    /** Everything below or at this LSN is known to be durable. */
    long durableLsn() {
        return durableLsn;
    }

    /** The generations of one life. */
    private final class LifeSurvey {
        private final List<LoggedGeneration> generations;
        private final List<LoggedGeneration> later;
        private final LogLife life;
        private final LogLife successor;
        private final LsnGaps gaps;
        private final boolean isRunning;
        private final List<LaneReader> ends = new ArrayList<>();
        private final List<TailSearch> tails = new ArrayList<>();

        LifeSurvey(List<LoggedGeneration> generations, List<LoggedGeneration> later, LsnGaps gaps) {
            this.generations = generations;
            this.later = later;
            this.life = generations.getFirst().header().life();
            this.successor = later.isEmpty() ? null : later.getFirst().header().life();
            this.gaps = gaps;
            LoggedGeneration last = later.isEmpty() ? generations.getLast() : later.getLast();
            this.isRunning = scan.isRunning(last.header().life());
        }

        void run() {
            long limit = successor == null ? Long.MAX_VALUE : successor.firstLsn();
            for (int i = 0; i < generations.size(); i++) {
                boolean isLast = i + 1 == generations.size();
                long end = isLast ? limit : generations.get(i + 1).header().firstLsn();
                count(generations.get(i), Math.min(end, limit), end <= limit && !isLast);
            }
            if (successor != null) {
                gaps.reach(limit);
                judgeFollowed();
            } else if (isRunning) {
                judgeKilled();
            } else {
                judgePowerLost();
            }
        }

        private void count(LoggedGeneration generation, long limit, boolean isWhole) {
            try (LaneMerge merge = new LaneMerge(storage, generation, LaneMerge.Order.LSN)) {
                for (LaneReader lane = merge.next(limit); lane != null; lane = merge.next(limit)) {
                    if (lane.lsn() < gaps.expected()) {
                        throw LogScan.damaged(
                                storage, lane.file(), lane.offset(), "an LSN from " + gaps.expected(), "LSN " + lane.lsn());
                    }
                    gaps.take(lane.lsn());
                    bytesFound += lane.recordBytes();
                }
                for (LaneReader lane : merge.lanes()) {
                    durableLsn = Math.max(durableLsn, lane.durableLsn());
                    if (lane.lsn() >= limit && isWhole) {
                        throw LogScan.damaged(storage, lane.file(), lane.offset(), "an LSN below " + limit, "LSN " + lane.lsn());
                    }
                    if (lane.lsn() < limit) {
                        TailSearch tail = lane.searchBehindEnd();
                        durableLsn = Math.max(durableLsn, tail.durableLsn());
                        ends.add(lane);
                        tails.add(tail);
                    }
                }
            }
            if (isWhole) {
                if (gaps.expected() > limit) {
                    throw LogScan.damaged(storage, generation.anyFile(), 0, "generations in order", generation.header().toString());
                }
                gaps.reach(limit);
            }
        }

        private void judgeFollowed() {
            if (gaps.count() == successor.lost()) {
                deliver(successor.firstLsn());
                nextLsn = successor.firstLsn();
                return;
            }
            if (isRunning || gaps.count() == 0) {
                throw missing();
            }
            for (LoggedGeneration generation : later) {
                claim(generation);
            }
            cut();
        }

        /** Takes what a generation says of durability. */
        private void claim(LoggedGeneration generation) {
            try (LaneMerge lanes = new LaneMerge(storage, generation, LaneMerge.Order.LSN)) {
                while (lanes.next(Long.MAX_VALUE) != null) {
                    // each lane is walked to its end
                }
                for (LaneReader lane : lanes.lanes()) {
                    long behind = lane.searchBehindEnd().durableLsn();
                    durableLsn = Math.max(durableLsn, Math.max(lane.durableLsn(), behind));
                }
            }
        }

        private void judgeKilled() {
            for (int i = 0; i < ends.size(); i++) {
                if (ends.get(i).isCutShort() || tails.get(i).isFound()) {
                    throw missing();
                }
            }
            boolean isInOlder = gaps.first() < generations.getLast().header().firstLsn();
            if (gaps.count() > 0 && isInOlder || gaps.count() > life.laneCount() || gaps.first() <= durableLsn) {
                throw missing();
            }
            deliver(Long.MAX_VALUE);
            nextLsn = gaps.expected();
            lost = gaps.count();
        }

        private void judgePowerLost() {
            boolean isFound = false;
            for (TailSearch tail : tails) {
                isFound |= tail.isFound();
            }
            if (gaps.count() > 0 || isFound || gaps.first() <= durableLsn) {
                cut();
            } else {
                deliver(Long.MAX_VALUE);
                nextLsn = gaps.expected();
            }
        }

        /** Ends the log before the first gap, which no one may have been promised. */
        private void cut() {
            if (gaps.first() <= durableLsn) {
                throw missing();
            }
            isCut = true;
            deliver(gaps.first());
            nextLsn = gaps.first();
        }

        private void deliver(long limit) {
            for (LoggedGeneration generation : generations) {
                parts.add(new Part(generation, limit));
            }
        }

        /** Names the place where the first missing record most likely was. */
        private CorruptionException missing() {
            int best = 0;
            for (int i = 0; i < ends.size(); i++) {
                boolean isBetter = rank(i) > rank(best);
                best = isBetter ? i : best;
            }
            String expected = "a record with LSN " + gaps.first();
            if (ends.isEmpty()) {
                return LogScan.damaged(storage, generations.getFirst().anyFile(), 0, expected, "none in any lane");
            }
            LaneReader end = ends.get(best);
            TailSearch tail = tails.get(best);
            String behind = tail.isFound() ? ", but a valid one behind it at " + tail.place() : "";
            return LogScan.damaged(storage, end.file(), end.offset(), expected, "no valid record there" + behind);
        }

        private int rank(int end) {
            LaneReader lane = ends.get(end);
            boolean isBefore = lane.lsn() < gaps.first();
            boolean isFollowed = tails.get(end).isFound() || lane.isCutShort();
            return (isFollowed ? 4 : 0) + (isBefore ? 2 : 0) + (tails.get(end).isBegun() ? 1 : 0);
        }
    }
}
