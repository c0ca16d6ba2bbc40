package dev.heartwood.engine.store;

import dev.heartwood.CompactionFilter;
import dev.heartwood.CorruptionEvent.FoundBy;
import dev.heartwood.IncompatibleOptionsException;
import dev.heartwood.MergeOperator;
import dev.heartwood.NotAStoreException;
import dev.heartwood.StoreException;
import dev.heartwood.StoreExistsException;
import dev.heartwood.StoreListener;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreOptions.FreeSpace;
import dev.heartwood.StoreOptions.OpenMode;
import dev.heartwood.engine.background.Background;
import dev.heartwood.engine.background.CheckpointDistance;
import dev.heartwood.engine.background.FailStop;
import dev.heartwood.engine.background.Generations;
import dev.heartwood.engine.background.Generations.Generation;
import dev.heartwood.engine.background.PackedMemtables;
import dev.heartwood.engine.background.SpacePromise;
import dev.heartwood.engine.backup.BackupUndo;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.budget.MemtableSizes;
import dev.heartwood.engine.cache.CachedFile;
import dev.heartwood.engine.call.KeyForm;
import dev.heartwood.engine.checkpoint.Checkpointer;
import dev.heartwood.engine.checkpoint.Creation;
import dev.heartwood.engine.checkpoint.FormatVersion;
import dev.heartwood.engine.checkpoint.SessionMark;
import dev.heartwood.engine.checkpoint.StoreFiles;
import dev.heartwood.engine.checkpoint.Superblock;
import dev.heartwood.engine.checkpoint.Superblocks;
import dev.heartwood.engine.device.BlockDevice;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.extent.ExtentAllocator;
import dev.heartwood.engine.filter.FingerprintBuffer;
import dev.heartwood.engine.log.LogOptions;
import dev.heartwood.engine.log.ReplaySummary;
import dev.heartwood.engine.log.WriteAheadLog;
import dev.heartwood.engine.memtable.Memtable;
import dev.heartwood.engine.merge.Compactions;
import dev.heartwood.engine.merge.MemtablePacker;
import dev.heartwood.engine.node.TreeShape;
import dev.heartwood.engine.node.TreeStorage;
import dev.heartwood.engine.node.TreeStorage.FreedExtents;
import dev.heartwood.engine.node.TrunkPolicies;
import dev.heartwood.engine.node.TrunkVersion;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.read.LiveSnapshots;
import dev.heartwood.engine.read.ReadPath;
import dev.heartwood.engine.record.StoreRecords;
import dev.heartwood.engine.task.Priority;
import dev.heartwood.engine.trunk.Trunk;
import dev.heartwood.engine.trunk.Trunk.Heights;
import dev.heartwood.engine.trunk.TrunkImages;
import dev.heartwood.engine.write.DeadRanges;
import dev.heartwood.engine.write.Lanes;
import dev.heartwood.engine.write.MemtableRotation;
import dev.heartwood.engine.write.MemtableSource;
import dev.heartwood.engine.write.WritePath;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * Opens a store: takes the lock, finds or makes the data file, reads the tree of the last checkpoint, checks the log, announces the
 * session, replays the log, and puts the parts together. Used once. On failure everything opened so far is closed, in reverse;
 * once the store is whole, it is closed as one. What it does by itself begins last.
 */
final class StoreOpener {
    /** Ids that a session may have used without a checkpoint that says so. */
    private static final long IDS_PER_SESSION = 1L << 24;

    /** Options that belong to the stored bytes and cannot change. */
    private static final List<String> FIXED = List.of("mergeOperator", "keyOrder", "groupSuffixBytes");

    private final EngineEnvironment environment;
    private final Storage files;
    private final StoreOptions options;
    private final Runnable afterClose;
    private final Purpose purpose;
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();
    private boolean isLocked;
    /** Of a store that is made. */
    private long storeId;

    /** What a store is opened for. */
    enum Purpose {
        USE,
        /** To be filled by a salvage: it is new, and refused by every other open until that is finished. */
        SALVAGE
    }

    StoreOpener(
            EngineEnvironment environment, Storage files, StoreOptions options, Purpose purpose, Runnable afterClose) {
        this.environment = environment;
        this.purpose = purpose;
        this.afterClose = afterClose;
        this.files = files;
        this.options = options;
    }

    EngineStore open() {
        try {
            return openParts();
        } catch (RuntimeException | Error e) {
            while (!opened.isEmpty()) {
                try {
                    opened.pop().close();
                } catch (Throwable closing) {
                    Closing.join(e, closing);
                }
            }
            throw e;
        }
    }

    private EngineStore openParts() {
        opened.push(files);
        decideCreate(); // before the lock, which leaves its file in a directory of something else
        files.lock();
        isLocked = true;
        boolean create = decideCreate();
        if (!create) {
            // Who finished making it may have been killed before that was durable, and what says so may come back beside newer files.
            files.syncDirectory();
        }
        BackupUndo.apply(files, environment.buffers());
        BlockDevice device = purpose == Purpose.SALVAGE ? beginSalvage(create) : openDevice(create);
        Superblocks superblocks = new Superblocks(device, environment.buffers());
        opened.push(superblocks);
        Superblock durable = create ? create(device, superblocks) : superblocks.read();
        if (!create) {
            SessionMark.check(files, durable);
            checkOptions(StoreOptions.parse(durable.options()));
        }
        return assemble(device, superblocks, durable);
    }

    private boolean decideCreate() {
        if (isLocked && !BackupUndo.isPending(files)) {
            StoreFiles.requireNoCopying(files);
        }
        boolean creating = files.exists(StoreFiles.CREATING);
        byte[] beginning = beginningOfNewDevice();
        boolean blank = beginning != null && isZero(beginning);
        boolean exists = files.exists(StoreFiles.DATA) && !creating && !blank;
        String directory = files.directory().toString();
        if (exists && isLocked && beginning != null && !Superblocks.mayBeAmong(beginning)) {
            throw new NotAStoreException(directory, StoreFiles.DATA + " is a device that holds something else");
        }
        if (exists && options.openMode() == OpenMode.CREATE_NEW && !isBeingCopied()) {
            throw new StoreExistsException(directory);
        }
        String refusal = exists ? null : refusal(blank);
        if (refusal != null && !isBeingMade()) {
            throw new NotAStoreException(directory, refusal);
        }
        return !exists;
    }

    /** Why no store is to be made where there is none; null when it is. */
    private String refusal(boolean blank) {
        if (!files.exists(StoreFiles.DATA) && files.list().contains(StoreFiles.DATA)) {
            return StoreFiles.DATA + " is a link to something that is not there";
        }
        if (files.exists(StoreFiles.CREATING)) {
            return refusalOfUnfinished();
        }
        if (options.openMode() == OpenMode.OPEN_EXISTING) {
            String missing = blank ? StoreFiles.DATA + " is a device without a store" : "no " + StoreFiles.DATA;
            return missing + ", and the options say OPEN_EXISTING";
        }
        for (String name : files.list()) {
            if (!name.equals(StoreFiles.DATA)) {
                return "no " + StoreFiles.DATA + ", but other files such as " + name;
            }
        }
        return null;
    }

    /** The same where a creation was broken off, if none is under way. */
    private String refusalOfUnfinished() {
        String unfinished = "its creation was never finished";
        if (options.openMode() == OpenMode.OPEN_EXISTING) {
            return unfinished + ", and the options say OPEN_EXISTING";
        }
        String other = isLocked ? Creation.other(files) : null;
        return other == null
                ? null
                : unfinished + ", but there is " + other + "; what was put there since opens once the file " + StoreFiles.CREATING
                        + " is deleted";
    }

    /**
     * Whether somebody else may have been making the store while the directory was looked at, so that what was seen is no ground to refuse it:
     * what is made before all else is there now. Who has the lock knows better.
     */
    private boolean isBeingMade() {
        return isBeingCopied()
                || !isLocked && (files.exists(StoreFiles.CREATING) || files.exists(StoreFiles.DATA) && !isBlankDevice());
    }

    /** Whether somebody else may be copying to the directory: no copy was finished, and it is not known yet that none is under way. */
    private boolean isBeingCopied() {
        return !isLocked && files.exists(StoreFiles.COPYING);
    }

    private boolean isBlankDevice() {
        byte[] beginning = beginningOfNewDevice();
        return beginning != null && isZero(beginning);
    }

    /** Where superblocks go, if the data file is a raw device with which no session was begun; else null. */
    private byte[] beginningOfNewDevice() {
        boolean isNew = files.isRawDevice(StoreFiles.DATA) && !files.exists(SessionMark.NAME);
        return isNew ? files.readFile(StoreFiles.DATA, PageLayout.EXTENT_BYTES) : null;
    }

    /** Whether nothing was ever made there. */
    private static boolean isZero(byte[] beginning) {
        return Arrays.equals(beginning, new byte[PageLayout.EXTENT_BYTES]);
    }

    private BlockDevice openDevice(boolean create) {
        if (create) {
            storeId = Creation.begin(files, environment.randomness().nextLong() | 1);
            if (files.exists(StoreFiles.DATA) && !files.isRawDevice(StoreFiles.DATA)) {
                files.delete(StoreFiles.DATA);
            }
        }
        try {
            BlockDevice device = files.openDevice(StoreFiles.DATA, create);
            opened.push(device);
            return device;
        } catch (RuntimeException | Error e) {
            if (create) {
                Closing.join(e, Closing.run(() -> Creation.takeBack(files)));
            }
            throw e;
        }
    }

    /** Where the data file cannot be made, nothing stays of the salvage: it, or another one, may be tried again. */
    private BlockDevice beginSalvage(boolean create) {
        try {
            StoreFiles.beginSalvage(files);
            return openDevice(create);
        } catch (RuntimeException | Error e) {
            Closing.join(e, Closing.run(() -> StoreFiles.takeBackSalvage(files)));
            throw e;
        }
    }

    private Superblock create(BlockDevice device, Superblocks superblocks) {
        device.allocate(PageLayout.EXTENT_BYTES);
        Superblock first = new Superblock(
                FormatVersion.CURRENT.number(), storeId, 1, 0, 0, 1, new long[0], 0, options.toString());
        superblocks.write(first);
        Creation.end(files);
        return first;
    }

    private void checkOptions(StoreOptions stored) {
        Map<String, String> was = stored.toMap();
        Map<String, String> is = options.toMap();
        for (String name : FIXED) {
            if (!was.get(name).isEmpty() && !was.get(name).equals(is.get(name))) {
                throw new IncompatibleOptionsException(name, was.get(name), is.get(name));
            }
        }
    }

    private EngineStore assemble(BlockDevice device, Superblocks superblocks, Superblock found) {
        CachedFile file = environment.cache().attach(device, found.storeId());
        opened.push(file);
        Listening listening = new Listening(options.listener().orElse(null), environment.workers());
        Damage damage = new Damage(listening);
        file.onDamage(e -> damage.met(FoundBy.READ, e));
        long diskBytesMax = options.diskMax().bytes() == 0 ? Long.MAX_VALUE : options.diskMax().bytes();
        MemtableSizes sizes = new MemtableSizes(environment.plan(), options);
        long memtableBytes = sizes.full();
        KeyForm form = KeyForm.of(options.keyOrder());
        TreeShape shapeOfKeys = form.shape(options.fanout(), memtableBytes);
        TreeShape shape = (options.groupSuffixBytes() == 0 ? shapeOfKeys : shapeOfKeys.withGroups())
                .within(diskBytesMax)
                .withMergesIn(environment.mergeBuffers());
        ExtentAllocator extents = new ExtentAllocator(device, diskBytesMax, 1);
        TreeStorage storage = new TreeStorage(
                file,
                extents,
                environment.buffers(),
                environment.mergeBuffers(),
                environment.epochs(),
                options.freeSpace() == FreeSpace.RETURN ? FreedExtents.DISCARDED : FreedExtents.KEPT,
                options.groupSuffixBytes());
        opened.push(storage::close);
        TrunkPolicies policy = TrunkPolicies.of(options.policy());
        TrunkImages images = new TrunkImages(storage);
        TrunkImages.Found root = new TrunkImages.Found(
                found.rootPages(), found.rootGeneration(), found.generation(), found.nextId() + IDS_PER_SESSION);
        Trunk trunk = found.rootPages().length == 0
                ? images.create(root, shape, policy, environment.epochs())
                : images.load(root, shape, policy, environment.epochs());
        Lanes lanes = new Lanes(environment.laneCount());
        FailStop failStop = new FailStop();
        // Made now, since the Java heap may be full then.
        Consumer<StoreListener> stopped = listener -> listener.stopped(failStop.cause());
        failStop.whenFailed(() -> listening.tell(stopped));
        storage.file().onWriteFailure(failStop::fail);
        // Before anything is written: a damaged log is refused with the store as it was.
        WriteAheadLog log = openLog(found, lanes.count(), failStop);
        opened.push(log);
        Superblock durable = announceSession(superblocks, found, trunk);
        // Held from before the replay packs anything: what the superblocks reach must not be reused before the next checkpoint.
        TrunkVersion durableVersion = trunk.pin();
        int durableExtents = extents.allocatedCount();
        // What the options say goes for all nodes, also those that an earlier session gave another policy.
        trunk.changePolicy(Span.ALL, Heights.ALL, null);

        MergeOperator operator = form.operator(environment.userCode().watched(options.mergeOperator().orElse(null)));
        LiveSnapshots live = new LiveSnapshots();
        // A compaction filter drops records when it likes; unless it says otherwise, a reader must not find them afterwards.
        StoreRecords records = environment.records().store(
                options.compactionFilter().map(CompactionFilter::allowsStaleReads).orElse(true));
        MemtablePacker packer = new MemtablePacker(
                storage, trunk, live::sequences, operator, keys -> forget(records, keys));
        Recovery recovery = new Recovery(environment, packer, trunk, lanes.count(), memtableBytes, sizes.ofReplay(log.bytesFound()));
        opened.push(recovery);
        ReplaySummary replayed = log.replay(recovery);
        long generation = Math.max(replayed.lastGeneration(), found.generation()) + 1;
        recovery.complete(generation - 1, replayed.generations() >= options.checkpointDistance());
        trunk.beginPace();
        AtomicLong sequence = new AtomicLong(Math.max(replayed.lastSequence(), found.sequence()) + 1);
        log.rotate(generation, sequence.get());
        Memtable replayedLast = recovery.rest();
        SpacePromise.Space space = new SpacePromise.Space(
                extents,
                trunk::mergeExtentsAtMost,
                () -> trunk.mergeExtents() + images.extentCount(),
                () -> environment.memtableBytesExpected(memtableBytes));
        Generations generations = new Generations(new Generation(generation, replayedLast, new SpacePromise(space, replayedLast)));

        CheckpointDistance distance = new CheckpointDistance(options.checkpointDistance(), memtableBytes);
        Compactions compactions = new Compactions(
                storage,
                trunk,
                environment.mergeAdmission(),
                distance::bytes,
                live::sequences,
                operator,
                form.filter(environment.userCode().watched(options.compactionFilter().orElse(null))));
        compactions.targetSpace(options.spaceAmplificationTarget());
        Background background = new Background(
                environment.epochs(),
                environment.workers(),
                generations,
                packer,
                compactions,
                environment.mergeAdmission(),
                failStop,
                distance,
                environment.debtBytesMax(memtableBytes));
        MemtableSource memtables = environment.memtableSource(lanes.count(), memtableBytes, space);
        MemtableRotation rotation = new MemtableRotation(
                environment.epochs(),
                lanes,
                log,
                generations,
                memtables,
                failStop,
                background.packing(),
                environment.workers(),
                sequence::get);
        WritePath write = new WritePath(
                environment.epochs(),
                environment.clock(),
                lanes,
                log,
                generations,
                memtables,
                rotation,
                failStop,
                background,
                environment.userCode(),
                new DeadRanges(options.compactionFilter().isEmpty(), () -> sequence.get() - 1),
                sequence);
        ReadPath read = new ReadPath(generations, trunk, storage, operator, records);
        Checkpointer checkpointer = new Checkpointer(
                storage, trunk, images, superblocks, log, write::lastSequence, durable, durableVersion, durableExtents, failStop::fail);
        background.start(new StoreSteps(checkpointer, extents, rotation, generations, environment, memtableBytes));
        live.whenOldestGoes(background::oldestViewClosed);
        Scrubber scrubber = new Scrubber(
                checkpointer,
                device,
                environment.buffers(),
                environment.workers(),
                options.scrubPerSecond().bytes(),
                damage);
        StoreGauges gauges = new StoreGauges(environment, trunk.events(), write, read, background, memtableBytes);
        Tuner tuner = new Tuner(
                options,
                trunk,
                environment.epochs(),
                background,
                failStop,
                environment.workers(),
                listening,
                gauges,
                environment.idleMemory(),
                memtableBytes);
        StoreParts parts = new StoreParts(
                options, files, storage, trunk, checkpointer, log, generations, live, failStop, background, rotation, write,
                read, records, scrubber, damage, listening, tuner, environment.operations(), environment.epochs());
        EngineStore store = new EngineStore(parts, environment, afterClose);
        closeAsAWhole(store, recovery);
        scrubber.start();
        tuner.start();
        background.opened(recovery.packed(), replayed.generations());
        return store;
    }

    /** From now on a failure has the store closed, and not what it was made of one by one. */
    private void closeAsAWhole(EngineStore store, Recovery recovery) {
        AutoCloseable whole = store::closeAlone;
        opened.clear();
        opened.push(whole);
        recovery.handOver();
    }

    /** Drops the cached records of keys that are about to have newer entries in the tree. */
    private static void forget(StoreRecords records, FingerprintBuffer keys) {
        StoreRecords.Packing packing = records.beginPacking();
        if (packing != null) {
            keys.forEach(packing);
            packing.finish();
        }
    }

    private WriteAheadLog openLog(Superblock found, int lanes, FailStop failStop) {
        LogOptions logOptions = new LogOptions(32 << 10, environment.plan().segmentBytesMax());
        WriteAheadLog log = WriteAheadLog.open(files, found.storeId(), lanes, logOptions, found.generation());
        log.limitMemory(environment::logBytes);
        log.limitOpen(environment::logSegmentsOpen);
        log.whenSpareIsWanted(() -> environment.workers().submit(Priority.SEAL, () -> prepareSpare(log, failStop)));
        return log;
    }

    private static void prepareSpare(WriteAheadLog log, FailStop failStop) {
        try {
            log.prepareSpare();
        } catch (StoreException e) {
            // Nothing was promised, whether there was no space or no descriptor: the write that needs the segment makes it, or is refused for the same reason.
            if (log.isFailure(e)) {
                failStop.fail(e);
            }
        } catch (Throwable e) {
            failStop.fail(e);
        }
    }

    /** Writes the superblocks before anything else is written, so that no id of this session was used by an earlier one. */
    private Superblock announceSession(Superblocks superblocks, Superblock found, Trunk trunk) {
        Superblock durable = new Superblock(
                FormatVersion.CURRENT.number(),
                found.storeId(),
                found.number() + 1,
                found.generation(),
                found.sequence(),
                trunk.nextId(),
                found.rootPages(),
                found.rootGeneration(),
                options.toString());
        superblocks.makeDurable(found);
        superblocks.write(durable);
        SessionMark.write(files, durable);
        return durable;
    }

    /** A memtable that is being packed and most of another are no debt: packing is as a rule done before that one is full. */
    private static final double MEMTABLES_FREE = 1.6;

    /** What the background asks of the store. */
    private record StoreSteps(
            Checkpointer checkpointer,
            ExtentAllocator extents,
            MemtableRotation rotation,
            Generations generations,
            EngineEnvironment environment,
            long memtableBytes)
            implements Background.Steps {
        @Override
        public void checkpoint() {
            checkpointer.run();
        }

        @Override
        public boolean isCheckpointed() {
            return checkpointer.isCurrent();
        }

        @Override
        public long checkpoints() {
            return checkpointer.completed();
        }

        /**
         * A replay packs each memtable again beside what the checkpoint reaches, and merges nothing before the store is open. Those that are not
         * packed count as full, or as large as the largest since the checkpoint: who writes values that are larger than memtables goes on.
         */
        @Override
        public boolean canReplay(PackedMemtables packed) {
            long largest = Math.max(memtableBytes, Math.max(packed.largestBytes(), generations.largestBytes()));
            long others = (MemtableRotation.SEALED_MAX + 1) * Trunk.packedExtents(largest);
            return extents.mayHave(checkpointer.extentsAtLast() + packed.extents() + others);
        }

        @Override
        public void signalRoom() {
            rotation.signalRoom();
        }

        @Override
        public double memtableShare(boolean isFirst) {
            long freeOfAll = environment.plan().memtablesFreeBytes();
            double ofAll = environment.openStores() > 1 ? share(environment.memtableBytesOwed(), freeOfAll) : 0;
            if (generations.sealedCount() == 0) {
                return ofAll;
            }
            double free = isFirst ? 0 : Math.min(MEMTABLES_FREE * memtableBytes, freeOfAll);
            return Math.max(ofAll, share(generations.bytesHeld(), free));
        }

        private double share(long held, double free) {
            return Math.max(0, (held - free) / (environment.plan().memtablesBytes() - free));
        }
    }
}
