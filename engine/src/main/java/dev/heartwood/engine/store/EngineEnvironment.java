package dev.heartwood.engine.store;

import dev.heartwood.ByteSize;
import dev.heartwood.ClosedException;
import dev.heartwood.Environment;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.KeyValueStore;
import dev.heartwood.MemoryStats;
import dev.heartwood.StoreOptions;
import dev.heartwood.engine.auto.AutoPolicy;
import dev.heartwood.engine.background.Generations.Generation;
import dev.heartwood.engine.background.SpacePromise;
import dev.heartwood.engine.base.Clock;
import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.base.Randomness;
import dev.heartwood.engine.budget.IdleMemory;
import dev.heartwood.engine.budget.MemoryPlan;
import dev.heartwood.engine.budget.MemtableLoan;
import dev.heartwood.engine.budget.PageLoan;
import dev.heartwood.engine.cache.CacheStats;
import dev.heartwood.engine.cache.PageCache;
import dev.heartwood.engine.call.Operations;
import dev.heartwood.engine.call.UserCode;
import dev.heartwood.engine.device.FileStorage;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.memtable.Memtable;
import dev.heartwood.engine.memtable.SortArrays;
import dev.heartwood.engine.node.MergeAdmission;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.os.Platform;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.record.RecordCache;
import dev.heartwood.engine.store.StoreOpener.Purpose;
import dev.heartwood.engine.task.Workers;
import dev.heartwood.engine.write.MemtableSource;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiFunction;
import java.util.function.Function;

/**
 * What stores share: the memory of the budget, the page cache, the epochs, the workers. Thread-safe.
 *
 * <p>Pools divide the budget, so that none starves another: for memtables, for merges, for calls and cursors, and for the page
 * cache.
 */
public final class EngineEnvironment implements Environment {
    /** How many bytes of merges may be owed before writers are slowed to the utmost, in memtables. */
    private static final int DEBT_MEMTABLES_MAX = 16;

    /** The part of the memory for merges that is never lent: what merges are better off with, but do not ask back. */
    private static final int MERGE_MEMORY_LEFT = 8;

    private static final int LANES_MAX = 16;
    /** With more stores than so many for each lane, that is for each thread that is expected to write, two seldom meet in one. */
    private static final int STORES_PER_LANE = 8;

    private static final int PAYMENTS_OF_ROOM = 4;

    /** Of all stores together, and of each at least; the system lets a process have 65,530 mappings unless told otherwise. */
    private static final int LOG_SEGMENTS_OPEN_MAX = 1 << 14;

    private static final int LOG_SEGMENTS_OPEN_LEAST = 16;

    /** How long an opening store sleeps before it looks again for memory that others give back, in nanoseconds. */
    private static final long MEMORY_POLL_NANOS = 500_000;

    /** How long who closes sleeps before it looks again for calls under way; a virtual thread that yields may keep its carrier from them. */
    private static final long CALL_POLL_NANOS = 50_000;

    private final EnvironmentOptions options;
    private final MemoryPlan plan;
    private final BiFunction<Path, StoreOptions, Storage> storages;
    private final MemoryPool memtablePool;
    private final SortArrays sortArrays = new SortArrays();
    private final MemoryPool mergePool;
    private final MergeAdmission mergeAdmission;
    private final MemoryPool foregroundPool;
    private final MemoryPool cachePool;
    private final Surroundings surroundings;
    private final Epochs epochs = new Epochs();
    private final PageCache cache;
    private final RecordCache records;
    private final IdleMemory idleMemory;
    private final SharedMemtables memtables;
    private final Workers workers;
    private final Operations operations;
    private final UserCode userCode = new UserCode();
    private final ReentrantLock lifecycle = new ReentrantLock();
    private final Set<EngineStore> stores = new LinkedHashSet<>();
    private final Condition opened = lifecycle.newCondition();
    // Written under lifecycle, read without.
    private volatile int openStores;
    /** Stores that are being opened, whose logs are replayed into memtables. Written under lifecycle, read without. */
    private volatile int openings;

    /** Those of them that wait for memory of memtables, and have none to give back. Each counts itself. */
    private final AtomicInteger openingsWaiting = new AtomicInteger();

    private final Closing closing;
    private boolean closed;
    /** Whether pools and caches close, whose counts mean nothing then. Written once, by who closes. */
    private volatile boolean isGivenBack;

    private EngineEnvironment(
            EnvironmentOptions options,
            BiFunction<Path, StoreOptions, Storage> storages,
            Surroundings surroundings) {
        Platform.require();
        ClassInitialization.run();
        this.options = options;
        this.surroundings = surroundings;
        this.plan = MemoryPlan.of(options);
        this.storages = storages;
        List<MemoryPool> pools = openPools(
                plan.memtablesBytes(), plan.mergeBytes(), plan.foregroundBytes(), plan.cacheBytes(), plan.recordBytes());
        Workers started = null;
        try {
            this.memtablePool = pools.get(0);
            this.mergePool = pools.get(1);
            this.foregroundPool = pools.get(2);
            foregroundPool.keepSmallBlocks();
            this.cachePool = pools.get(3);
            long lentMax = plan.memtablesBytes() - MemtableLoan.leftBytes(plan.memtableBytes());
            this.records = new RecordCache(pools.get(4), memtablePool, lentMax, epochs);
            this.cache = new PageCache(cachePool, plan.framesBytes(), lentMax + plan.mergeBytes(), epochs);
            this.operations = new Operations(epochs, foregroundPool, userCode, options.memory(), plan.writeBytesMax());
            this.mergeAdmission = new MergeAdmission(mergePool);
            started = surroundings.workers().apply(options.workers());
            this.workers = started;
            this.idleMemory = loans();
            this.memtables = new SharedMemtables(
                    this::memtableBytesHeld, this::shares, started, plan.memtablesSharedBytes(), this::paymentBytesMax);
            cache.onWriteBackDue(new WriteBackTurns(cache, workers)::runSoon);
            this.closing = new Closing(
                    workers::close,
                    this::awaitCalls,
                    this::reclaimAll,
                    operations::close,
                    () -> isGivenBack = true,
                    cache::close,
                    records::close,
                    cachePool::close,
                    foregroundPool::close,
                    mergePool::close,
                    memtablePool::close);
        } catch (Throwable e) {
            // Neither threads nor memory outlive a failure.
            if (started != null) {
                Closing.join(e, Closing.run(started::close));
            }
            pools.forEach(MemoryPool::close);
            throw e;
        }
    }

    private IdleMemory loans() {
        PageLoan merges = new PageLoan(cache, mergePool, plan.mergeBytes() / MERGE_MEMORY_LEFT);
        MemtableLoan memtables = new MemtableLoan(memtablePool, records, cache, epochs, workers, plan.memtableBytes());
        return new IdleMemory(memtables, merges, epochs, workers, new AllStores());
    }

    /** Opens a pool of each size, or none. */
    private static List<MemoryPool> openPools(long... bytes) {
        List<MemoryPool> pools = new ArrayList<>(bytes.length); // so that none that is open finds no room there
        try {
            for (long each : bytes) {
                pools.add(MemoryPool.open(each));
            }
            return pools;
        } catch (Throwable e) {
            pools.forEach(MemoryPool::close);
            throw e;
        }
    }

    /** An environment over the files of the machine. */
    public static EngineEnvironment open(EnvironmentOptions options) {
        return new EngineEnvironment(
                options,
                (path, store) -> new FileStorage(path, options.device(), store.ioMode()),
                Surroundings.ofMachine());
    }

    /** An environment whose stores live in whatever storage {@code storages} gives for their directory. */
    public static EngineEnvironment open(EnvironmentOptions options, Function<Path, Storage> storages) {
        return open(options, storages, Surroundings.ofMachine());
    }

    /** As {@link #open(EnvironmentOptions, Function)}, in other surroundings than the machine's. */
    public static EngineEnvironment open(
            EnvironmentOptions options, Function<Path, Storage> storages, Surroundings surroundings) {
        return new EngineEnvironment(options, (path, store) -> storages.apply(path), surroundings);
    }

    @Override
    public KeyValueStore open(Path directory, StoreOptions storeOptions) {
        return open(directory, storeOptions, Purpose.USE, () -> {});
    }

    /**
     * Makes a store for a salvage to fill, in a directory where nothing is. From its first file on every other open refuses it, until the
     * file {@link dev.heartwood.engine.checkpoint.StoreFiles#COPYING} is deleted. Where its data file cannot be made, no other is left.
     *
     * @param storeOptions with the open mode CREATE_NEW
     */
    public KeyValueStore openForSalvage(Path directory, StoreOptions storeOptions) {
        return open(directory, storeOptions, Purpose.SALVAGE, () -> {});
    }

    @Override
    public KeyValueStore openOwned(Path directory, StoreOptions storeOptions) {
        return open(directory, storeOptions, Purpose.USE, this::close);
    }

    private EngineStore open(Path directory, StoreOptions storeOptions, Purpose purpose, Runnable afterClose) {
        Objects.requireNonNull(directory, "directory");
        Objects.requireNonNull(storeOptions, "options");
        userCode.refuseWithin();
        beginOpening();
        try {
            Storage files = storage(directory, storeOptions);
            return added(new StoreOpener(this, files, storeOptions, purpose, afterClose).open());
        } finally {
            endOpening();
        }
    }

    /** Counts an open store in, or closes it. */
    private EngineStore added(EngineStore store) {
        try {
            if (!add(store)) {
                throw new ClosedException("the environment");
            }
            return store;
        } catch (RuntimeException | Error e) {
            Closing.throwIfAny(Closing.join(e, Closing.run(store::closeAlone)));
            throw e;
        }
    }

    /** Has whoever closes the environment wait; refused when it is closed. */
    private void beginOpening() {
        lifecycle.lock();
        try {
            if (closed) {
                throw new ClosedException("the environment");
            }
            openings++;
        } finally {
            lifecycle.unlock();
        }
    }

    private void endOpening() {
        lifecycle.lock();
        try {
            openings--;
            opened.signalAll();
        } finally {
            lifecycle.unlock();
        }
    }

    /** Waits until no store is being opened; none may begin to. Until then its log is replayed into the memory of all. */
    private void awaitOpenings() {
        lifecycle.lock();
        try {
            while (openings > 0) {
                opened.awaitUninterruptibly();
            }
        } finally {
            lifecycle.unlock();
        }
    }

    /** Counts an open store in, unless the environment is closed. */
    private boolean add(EngineStore store) {
        lifecycle.lock();
        try {
            if (!closed) {
                stores.add(store);
                openStores = stores.size();
            }
            return !closed;
        } finally {
            lifecycle.unlock();
        }
    }

    /** The files of a directory, as a store with these options reads and writes them. */
    Storage storage(Path directory, StoreOptions storeOptions) {
        return storages.apply(directory, storeOptions);
    }

    /** Forgets a store that has closed. */
    void closed(EngineStore store) {
        lifecycle.lock();
        try {
            stores.remove(store);
            openStores = stores.size();
        } finally {
            lifecycle.unlock();
        }
    }

    /** How much of its log a store may have in memory now: the logs of all stores share their part of the budget. */
    long logBytes() {
        return plan.logBytes() / openStores();
    }

    /** How many full segments of its log a store may have open until a sync: together a quarter of the mappings that a process may have. */
    int logSegmentsOpen() {
        return Math.max(LOG_SEGMENTS_OPEN_MAX / openStores(), LOG_SEGMENTS_OPEN_LEAST);
    }

    private List<MemoryShare> shares() {
        lifecycle.lock();
        try {
            List<MemoryShare> shares = new ArrayList<>(stores.size());
            for (EngineStore store : stores) {
                shares.add(store.memory());
            }
            return shares;
        } finally {
            lifecycle.unlock();
        }
    }

    @Override
    public EnvironmentOptions options() {
        return options;
    }

    @Override
    public MemoryStats memoryStats() {
        if (isGivenBack) {
            return new MemoryStats(options.memory().bytes(), 0, 0, 0, 0, 0, 0);
        }
        CacheStats stats = cache.stats();
        long framesUsed = stats.frames() - stats.framesAvailable() - stats.framesOfMaps();
        return new MemoryStats(
                options.memory().bytes(),
                memtableBytesHeld(),
                framesUsed * PageLayout.PAGE_BYTES + stats.bytesBorrowed() + records.bytesHeld(),
                cache.bytes() + stats.bytesBorrowed() + records.bytes(),
                Math.max(0, mergePool.allocated() - cache.bytesBorrowed(mergePool)) + foregroundPool.allocated()
                        + Math.max(0, cachePool.allocated() - cache.bytes()),
                (long) stats.framesOfMaps() * PageLayout.PAGE_BYTES,
                shares().stream().mapToLong(MemoryShare::logBytes).sum());
    }

    /** What memtables of all stores have of their memory that take writes, or will be packed. */
    long memtableBytesOwed() {
        return memtables.owedBytes();
    }

    /** What memtables of all stores have of their memory, without what is lent of it. */
    private long memtableBytesHeld() {
        return Math.max(0, memtablePool.allocated() - records.bytesBorrowed() - cache.bytesBorrowed(memtablePool));
    }

    @Override
    public void close() {
        userCode.refuseWithin();
        EngineStore[] open;
        boolean isFirst;
        lifecycle.lock();
        try {
            open = stores.toArray(new EngineStore[0]);
            isFirst = !closed;
            closed = true;
        } finally {
            lifecycle.unlock();
        }
        Throwable failure = null;
        for (EngineStore store : open) {
            try {
                store.close();
            } catch (RuntimeException | Error e) {
                failure = Closing.join(failure, e);
            }
        }
        if (isFirst) {
            awaitOpenings();
            if (mayClose()) {
                failure = Closing.join(failure, closing.run());
            }
        }
        Closing.throwIfAny(failure);
    }

    /** Whether no store is open; else one could not begin to close, its memory stays, and this may be tried again. */
    private boolean mayClose() {
        lifecycle.lock();
        try {
            closed = stores.isEmpty();
            return closed;
        } finally {
            lifecycle.unlock();
        }
    }

    /** Runs what was deferred until calls end; none is under way. */
    private void reclaimAll() {
        while (epochs.reclaim()) {
            Clock.SYSTEM.parkNanos(CALL_POLL_NANOS);
        }
    }

    /** Waits until no call has a slot, not even one that waits. */
    private void awaitCalls() {
        while (epochs.isOccupied()) {
            Clock.SYSTEM.parkNanos(CALL_POLL_NANOS);
        }
    }

    MemoryPlan plan() {
        return plan;
    }

    /** Memory for calls and cursors. */
    MemoryPool buffers() {
        return foregroundPool;
    }

    /** Memory of all memtables. Nobody asks for it but a test, which takes it as somebody would who gives none back. */
    MemoryPool memtableMemory() {
        return memtablePool;
    }

    /** Memory for merges and packing. */
    MemoryPool mergeBuffers() {
        return mergePool;
    }

    /** Who may use that memory. */
    MergeAdmission mergeAdmission() {
        return mergeAdmission;
    }

    Epochs epochs() {
        return epochs;
    }

    PageCache cache() {
        return cache;
    }

    RecordCache records() {
        return records;
    }

    /** What lends memory that nobody uses now. */
    IdleMemory idleMemory() {
        return idleMemory;
    }

    /** What all stores do, for what is lent. */
    private final class AllStores implements IdleMemory.Load {
        @Override
        public long bytesWritten() {
            return shares().stream().mapToLong(MemoryShare::bytesWritten).sum();
        }

        @Override
        public boolean isReplaying() {
            return openings > 0;
        }
    }

    Workers workers() {
        return workers;
    }

    Operations operations() {
        return operations;
    }

    /** Who is in an operator or filter of the user's. */
    UserCode userCode() {
        return userCode;
    }

    Randomness randomness() {
        return surroundings.randomness();
    }

    Clock clock() {
        return surroundings.clock();
    }

    int laneCount() {
        return Math.min(LANES_MAX, Integer.highestOneBit(2 * surroundings.processors() - 1));
    }

    /** Stores that are open now; one at least. */
    int openStores() {
        return Math.max(1, openStores);
    }

    /** How many full memtables a store can have unwritten in its part of the page cache. */
    int memtablesUnwrittenMax(long memtableBytes) {
        long room = plan.framesBytes() / 2 / openStores() / memtableBytes;
        return (int) Math.clamp(room, 1, AutoPolicy.DISTANCE_MAX);
    }

    long debtBytesMax(long memtableBytes) {
        return DEBT_MEMTABLES_MAX * memtableBytes;
    }

    /** A new memtable in the shared pool. */
    Memtable newMemtable(long generation, int lanes, long bytesMax) {
        return new Memtable(memtablePool, sortArrays, generation, lanes, bytesMax, memtableBytesExpected(bytesMax));
    }

    /** What a lane may write before it pays: if all stores wrote as much at once, there would be memory for it beside what they have when one is sealed. */
    long paymentBytesMax() {
        return (plan.memtablesBytes() - plan.memtablesSharedBytes()) / openStores() / PAYMENTS_OF_ROOM;
    }

    /** What a memtable of so many bytes at most has when it is sealed, where all stores are written alike. */
    long memtableBytesExpected(long bytesMax) {
        return Math.min(bytesMax, plan.memtablesSharedBytes() / openStores());
    }

    /** Where a store's memtables come from. */
    MemtableSource memtableSource(int lanes, long bytesMax, SpacePromise.Space space) {
        return new MemtableSource() {
            @Override
            public Generation make(long number) {
                Memtable memtable = newMemtable(number, lanes, bytesMax);
                return new Generation(number, memtable, new SpacePromise(space, memtable));
            }

            @Override
            public long memtableBytes() {
                return bytesMax;
            }

            @Override
            public long paymentBytesMax() {
                return EngineEnvironment.this.paymentBytesMax();
            }

            @Override
            public void checkFits(long bytes) {
                if (bytes > plan.writeBytesMax()) {
                    throw operations.tooLarge(bytes);
                }
            }

            @Override
            public void checkHolds(int count, long userBytes) {
                // Blocks of powers of two: together they find room in an empty pool if they are not more than it has.
                long taken = Memtable.bytesReserved(lanes, count, userBytes);
                if (taken > memtablePool.capacity()) {
                    throw new InsufficientMemoryException("a write of " + count + " entries, of " + userBytes + " bytes, takes " + new ByteSize(taken)
                            + " with its index, and a memory of " + options.memory() + " has " + new ByteSize(memtablePool.capacity())
                            + " for memtables");
                }
            }

            @Override
            public boolean isLarge(long blockBytes) {
                return blockBytes > memtablePool.capacity() / 8;
            }

            @Override
            public void relieve() {
                memtables.sealLargest();
            }

            @Override
            public boolean isOneOfMany() {
                return openStores > STORES_PER_LANE * lanes;
            }

            @Override
            public void sealAhead() {
                if (openStores > 1) {
                    memtables.sealAhead();
                }
            }

            @Override
            public boolean giveBackEmpty() {
                return giveBackEmptyMemtables();
            }

            @Override
            public void recall() {
                recallMemtables();
            }

            @Override
            public String toldOfStopped() {
                return EngineEnvironment.this.toldOfStopped();
            }

            @Override
            public boolean isMemoryComing() {
                return openings > 0 || idleMemory.isComing() || shares().stream().anyMatch(MemoryShare::isComing);
            }
        };
    }

    /**
     * Waits a little for memory of memtables that other stores give back, those that are being opened among them. For who opens one and has no
     * entries in its memtable. Not inside an epoch.
     *
     * @return whether there was any to wait for; otherwise all that had been given back is there now
     */
    boolean awaitMemtableMemory() {
        openingsWaiting.getAndIncrement();
        try {
            memtables.sealLargest();
            // In this order: a store is among the open ones before its opening ends.
            boolean isComing = openings > openingsWaiting.get()
                    || idleMemory.isComing()
                    || shares().stream().anyMatch(share -> share.isComing() || share.sealableBytes() > 0);
            recallMemtables();
            if (!isComing) {
                epochs.awaitReclaimed();
            } else if (!workers.runOneHere()) {
                Clock.SYSTEM.parkNanos(MEMORY_POLL_NANOS);
                epochs.reclaim();
            }
            return isComing;
        } finally {
            openingsWaiting.getAndDecrement();
        }
    }

    /** See {@link MemoryShare#toldOfStopped}. */
    String toldOfStopped() {
        return MemoryShare.toldOfStopped(shares());
    }

    /** Has views that are open give back the memory of memtables that the trees have by now. Waits for nobody. */
    public void recallMemtables() {
        shares().forEach(MemoryShare::recall);
    }

    /**
     * Has memory of memtables without entries given back, in any store. For who is about to be refused some: a write that waits, maybe for what
     * this one has, begins anew then. Returns whether there was any.
     */
    boolean giveBackEmptyMemtables() {
        boolean isAny = false;
        for (MemoryShare share : shares()) {
            isAny |= share.giveBackEmpty();
        }
        return isAny;
    }
}
