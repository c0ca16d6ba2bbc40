package dev.heartwood.engine.store;

import dev.heartwood.DeviceKind;
import dev.heartwood.StoreOptions.IoMode;
import dev.heartwood.engine.background.Background;
import dev.heartwood.engine.background.FailStop;
import dev.heartwood.engine.background.Generations;
import dev.heartwood.engine.background.Generations.Generation;
import dev.heartwood.engine.background.SpacePromise;
import dev.heartwood.engine.device.BlockDevice;
import dev.heartwood.engine.device.FileStorage;
import dev.heartwood.engine.extent.ExtentAllocator;
import dev.heartwood.engine.log.LogOptions;
import dev.heartwood.engine.log.WriteAheadLog;
import dev.heartwood.engine.write.Lanes;
import dev.heartwood.engine.write.MemtableRotation;
import dev.heartwood.engine.write.MemtableSource;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;

/** What memtables rotate with, over files: one lane, a log, and a background that has nothing to merge. */
final class RotationFixture implements AutoCloseable {
    /** So small that nobody pays for what fills it: there is no background to pay for. */
    static final int MEMTABLE_BYTES = 16 << 10;

    private static final LogOptions LOG = new LogOptions(32 << 10, 256 << 10);

    final Lanes lanes = new Lanes(1);
    final FailStop failStop = new FailStop();
    final AtomicLong sequence = new AtomicLong(1);
    final WriteAheadLog log;
    final MemtableSource source;
    final Generations generations;
    final Background background;
    final MemtableRotation rotation;
    private final FileStorage storage;
    private final BlockDevice data;

    RotationFixture(EngineEnvironment environment, Path directory) {
        storage = new FileStorage(directory, DeviceKind.POSIX, IoMode.BUFFERED);
        storage.lock();
        log = WriteAheadLog.create(storage, 1, lanes.count(), LOG);
        log.rotate(1, 1);
        data = storage.openDevice("data", true);
        ExtentAllocator extents = new ExtentAllocator(data, Long.MAX_VALUE, 1);
        source = environment.memtableSource(lanes.count(), MEMTABLE_BYTES, new SpacePromise.Space(extents, () -> 0, () -> 0, () -> MEMTABLE_BYTES));
        generations = new Generations(source.make(1));
        background = new Background(environment.epochs(), environment.workers(), generations, null, null, null, failStop, null, 1);
        rotation = new MemtableRotation(
                environment.epochs(),
                lanes,
                log,
                generations,
                source,
                failStop,
                background.packing(),
                environment.workers(),
                sequence::get);
    }

    @Override
    public void close() {
        for (Generation each : generations.newestFirst()) {
            each.release();
        }
        data.close();
        log.close();
        storage.close();
    }
}
