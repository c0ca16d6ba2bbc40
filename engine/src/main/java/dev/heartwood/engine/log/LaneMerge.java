package dev.heartwood.engine.log;

import dev.heartwood.engine.device.Storage;
import java.util.ArrayList;
import java.util.List;

/** Walks the records of all lanes of one generation in one order. One thread. */
final class LaneMerge implements AutoCloseable {
    /** In what order to merge. Marks have no sequence and are passed over in that order. */
    enum Order {
        LSN,
        SEQUENCE
    }

    private final Order order;
    private final List<LaneReader> all = new ArrayList<>();
    private final List<LaneReader> live = new ArrayList<>();
    private LaneReader least;

    LaneMerge(Storage storage, LoggedGeneration generation, Order order) {
        this.order = order;
        for (List<LogScan.Segment> lane : generation.lanes()) {
            all.add(new LaneReader(storage, generation.header(), lane));
        }
    }

    /** The lane whose current record comes next; null at the end. Each lane ends before its first LSN at the limit. */
    LaneReader next(long lsnLimit) {
        if (least == null) {
            for (LaneReader lane : all) {
                if (advance(lane, lsnLimit)) {
                    live.add(lane);
                }
            }
        } else if (!advance(least, lsnLimit)) {
            live.remove(least);
        }
        least = null;
        for (LaneReader lane : live) {
            if (least == null || key(lane) < key(least)) {
                least = lane;
            }
        }
        return least;
    }

    private boolean advance(LaneReader lane, long lsnLimit) {
        while (lane.next() && lane.lsn() < lsnLimit) {
            if (order == Order.LSN || !lane.isMark()) {
                return true;
            }
        }
        return false;
    }

    private long key(LaneReader lane) {
        return order == Order.LSN ? lane.lsn() : lane.sequence();
    }

    /** Every lane, wherever it stands. */
    List<LaneReader> lanes() {
        return all;
    }

    @Override
    public void close() {
        for (LaneReader lane : all) {
            lane.close();
        }
    }
}
