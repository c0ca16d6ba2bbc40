package dev.heartwood.engine.store;

import dev.heartwood.engine.auto.WorkloadSample;
import dev.heartwood.engine.background.Background;
import dev.heartwood.engine.cache.CacheStats;
import dev.heartwood.engine.read.ReadPath;
import dev.heartwood.engine.trunk.TrunkEvents;
import dev.heartwood.engine.write.WritePath;

/**
 * The counters of a store as differences from interval to interval. What reads miss is counted for the environment and so includes what
 * its other stores miss. Belongs to one thread at a time.
 */
final class StoreGauges implements Tuner.Gauges {
    private final EngineEnvironment environment;
    private final TrunkEvents events;
    private final WritePath write;
    private final ReadPath read;
    private final Background background;
    private final long memtableBytes;
    private long[] last = new long[7];

    StoreGauges(
            EngineEnvironment environment,
            TrunkEvents events,
            WritePath write,
            ReadPath read,
            Background background,
            long memtableBytes) {
        this.environment = environment;
        this.events = events;
        this.write = write;
        this.read = read;
        this.background = background;
        this.memtableBytes = memtableBytes;
    }

    @Override
    public void restart() {
        read.wasAskedSince();
        last = counters();
    }

    @Override
    public WorkloadSample sample() {
        long[] now = counters();
        long[] before = last;
        last = now;
        return new WorkloadSample(
                read.wasAskedSince(),
                now[0] - before[0],
                now[1] - before[1],
                now[2] - before[2],
                now[3] - before[3],
                now[4] - before[4],
                now[5] - before[5],
                now[6] - before[6],
                background.owedShare(),
                environment.memtablesUnwrittenMax(memtableBytes),
                environment.openStores());
    }

    private long[] counters() {
        CacheStats cache = environment.cache().stats();
        return new long[] {
            write.userBytes(),
            cache.loads() + cache.transientLoads(),
            events.leavesScanned(),
            events.leafRunsScanned(),
            events.innerRunsScanned(),
            events.scanReads(),
            events.entriesScanned()
        };
    }
}
