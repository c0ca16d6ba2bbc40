package dev.heartwood.engine.write;

import dev.heartwood.Durability;
import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.NoSpaceException;
import dev.heartwood.StoreException;
import dev.heartwood.engine.background.Background;
import dev.heartwood.engine.background.FailStop;
import dev.heartwood.engine.background.Generations;
import dev.heartwood.engine.background.Generations.Generation;
import dev.heartwood.engine.background.SpaceSearch;
import dev.heartwood.engine.base.Clock;
import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.call.Operation;
import dev.heartwood.engine.call.UserCode;
import dev.heartwood.engine.extent.Promised;
import dev.heartwood.engine.log.WriteAheadLog;
import dev.heartwood.engine.memtable.Memtable;
import dev.heartwood.engine.os.KeyHasher;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * Takes writes: log first, then memtable, in the order of their sequence numbers. Thread-safe.
 *
 * <p>A writer owns a lane from before it draws its sequence number until the entry is in the memtable. So whoever owns every lane
 * sees all entries up to the last number drawn; that is how memtables rotate and how a snapshot settles.
 */
public final class WritePath {
    /**
     * So many memtables in a row may refuse a write that takes much of the memory of all: while others write, none of them is ever found
     * empty, by which it would be told that there is no memory to wait for. Of loads in which such writes take turns, beside small ones, none had
     * one refused as often as 128 times.
     */
    private static final int LARGE_REFUSALS_MAX = 1000;

    private final Epochs epochs;
    private final Clock clock;
    private final Lanes lanes;
    private final WriteAheadLog log;
    private final Generations generations;
    private final MemtableSource memtables;
    private final MemtableRotation rotation;
    private final FailStop failStop;
    private final WriteThrottle throttle;
    private final Runnable payment;
    private final Runnable syncing;
    private final Background background;
    private final UserCode userCode;
    private final SpaceSearch spaceSearch;
    private final AtomicLong nextSequence;
    private final DeadRanges dead;
    private final LongAdder userBytes = new LongAdder();

    public WritePath(
            Epochs epochs,
            Clock clock,
            Lanes lanes,
            WriteAheadLog log,
            Generations generations,
            MemtableSource memtables,
            MemtableRotation rotation,
            FailStop failStop,
            Background background,
            UserCode userCode,
            DeadRanges dead,
            AtomicLong nextSequence) {
        this.epochs = epochs;
        this.clock = clock;
        this.lanes = lanes;
        this.log = log;
        this.generations = generations;
        this.memtables = memtables;
        this.rotation = rotation;
        this.failStop = failStop;
        this.background = background;
        this.userCode = userCode;
        this.spaceSearch = new SpaceSearch(background, generations, memtables.memtableBytes(), rotation::sealIfPossible);
        this.throttle = new WriteThrottle(clock, lanes.count(), memtables.memtableBytes(), memtables::paymentBytesMax);
        this.nextSequence = nextSequence;
        this.dead = dead;
        this.syncing = this::sync;
        this.payment = this::pay;
    }

    /** Writes one entry whose key and value are in native memory. {@code slot} is the caller's epoch, left while waiting. */
    public void write(
            Operation operation,
            byte kind,
            long keyAddress,
            int keyLength,
            long valueAddress,
            int valueLength,
            Durability durability) {
        long hash = KeyHasher.hash(keyAddress, keyLength);
        Promised space = kind == Entries.DELETE ? Promised.DELETES : Promised.GROWTH;
        boolean logged = durability != Durability.NONE;
        long bytes = (long) keyLength + valueLength;
        RoomSearch search = null;
        while (true) {
            requireWritable();
            memtables.checkFits(bytes);
            int lane = enterLane(operation, durability);
            Generation active = generations.active();
            NoSpaceException noLog = null;
            boolean drawn = false;
            boolean done = false;
            boolean due = false;
            try {
                Memtable memtable = active.memtable();
                if (!(space == Promised.GROWTH && memtable.isForDeletes()) && memtable.reserve(lane, keyLength, valueLength)) {
                    if (logged) {
                        log.reserve(lane, WriteAheadLog.entryPayloadBytes(keyLength, valueLength));
                        log.prefetch(lane, WriteAheadLog.entryPayloadBytes(keyLength, valueLength));
                    }
                    memtable.prefetch(lane, hash, keyLength, valueLength);
                    drawn = true;
                    long sequence = nextSequence.getAndIncrement();
                    if (logged) {
                        log.append(lane, sequence, kind, keyAddress, keyLength, valueAddress, valueLength);
                    }
                    if (kind != Entries.DELETE) {
                        dead.written(keyAddress, keyLength);
                    }
                    memtable.insert(
                            lane, hash, keyAddress, keyLength, sequence, kind, valueAddress, valueLength);
                    due = throttle.wrote(lane, keyLength + valueLength);
                    done = true;
                }
            } catch (RuntimeException | Error e) {
                if (drawn) {
                    // Nothing is supposed to fail there, but if the Java heap is full: what is in log and memtable is in doubt.
                    failStop.fail(e);
                }
                noLog = !drawn && e instanceof NoSpaceException refusal ? refusal : null;
                if (noLog == null) {
                    throw e;
                }
            } finally {
                lanes.exit(lane);
            }
            if (done) {
                finish(operation, bytes, durability, due);
                return;
            }
            if (noLog == null && isCovered(active, Memtable.blockBytes(1, bytes))) {
                continue;
            }
            search = search == null ? new RoomSearch(1, bytes, bytes, space) : search;
            search.makeRoom(operation, active, noLog);
        }
    }

    /** Synced writes share a lane: a group commit waits for the device once for each lane that has something to sync. */
    private int enterLane(Operation operation, Durability durability) {
        if (durability == Durability.SYNC) {
            return lanes.enterFirst();
        }
        return memtables.isOneOfMany() ? lanes.enterFew(operation.slot()) : lanes.enter(operation.slot());
    }

    /** Writes a batch whose encoding is in native memory, as a whole. */
    public void writeBatch(Operation operation, BatchEntries batch, Durability durability) {
        requireWritable();
        memtables.checkFits(batch.payloadLength());
        memtables.checkHolds(batch.count(), batch.userBytes());
        boolean logged = durability != Durability.NONE;
        RoomSearch search = null;
        while (true) {
            requireWritable();
            int lane = enterLane(operation, durability);
            Generation active = generations.active();
            NoSpaceException noLog = null;
            boolean drawn = false;
            boolean done = false;
            boolean due = false;
            try {
                Memtable memtable = active.memtable();
                if (!(batch.space() == Promised.GROWTH && memtable.isForDeletes())
                        && memtable.reserveBatch(lane, batch.count(), batch.userBytes())) {
                    if (logged) {
                        log.reserve(lane, WriteAheadLog.batchPayloadBytes(batch.payloadLength()));
                    }
                    drawn = true;
                    long sequence = nextSequence.getAndAdd(batch.count());
                    if (logged) {
                        log.appendBatch(lane, sequence, batch.count(), batch.payloadAddress(), batch.payloadLength());
                    }
                    batch.insertInto(memtable, lane, sequence, dead);
                    due = throttle.wrote(lane, batch.payloadLength());
                    done = true;
                }
            } catch (RuntimeException | Error e) {
                if (drawn) {
                    // Nothing is supposed to fail there, but if the Java heap is full: what is in log and memtable is in doubt.
                    failStop.fail(e);
                }
                noLog = !drawn && e instanceof NoSpaceException refusal ? refusal : null;
                if (noLog == null) {
                    throw e;
                }
            } finally {
                lanes.exit(lane);
            }
            if (done) {
                finish(operation, batch.userBytes(), durability, due);
                return;
            }
            if (noLog == null && isCovered(active, Memtable.blockBytes(batch.count(), batch.userBytes()))) {
                continue;
            }
            search = search == null ? new RoomSearch(batch.count(), batch.userBytes(), batch.payloadLength(), batch.space()) : search;
            search.makeRoom(operation, active, noLog);
        }
    }

    /** Whether the memtable lacked nothing but space that is plenty, and has some now. */
    private boolean isCovered(Generation active, long blockBytes) {
        return !background.isSpaceShort() && active.space().tryCover(blockBytes);
    }

    /** Writes an empty batch: logs nothing; a synced one makes what was logged before it durable, as any synced write. */
    public void writeNothing(Operation operation, Durability durability) {
        requireWritable();
        if (durability == Durability.SYNC) {
            sync(operation);
        }
    }

    private void requireWritable() {
        userCode.refuseWithin();
        rotation.requireOpen();
        failStop.check();
    }

    private void finish(Operation operation, long bytes, Durability durability, boolean due) {
        userBytes.add(bytes);
        if (durability == Durability.SYNC) {
            sync(operation);
        }
        if (due) {
            operation.outsideEpoch(payment);
        }
    }

    private void pay() {
        memtables.sealAhead();
        throttle.pay(background.debtShare(), background.memtableShare());
    }

    /** Makes every logged write survive the loss of power. Outside the epoch, since that may take long; who closes waits for who uses the log. */
    public void sync(Operation operation) {
        operation.outsideEpoch(log, syncing);
    }

    private void sync() {
        failStop.check();
        try {
            log.sync();
        } catch (StoreException e) {
            if (log.isFailed()) {
                failStop.fail(e);
            }
            throw e;
        } catch (RuntimeException | Error e) {
            failStop.fail(e);
            throw e;
        }
    }

    /** What one write does until the log and a memtable have room for it. One thread. */
    private final class RoomSearch implements Runnable {
        private final long bytes;
        private final long blockBytes;
        private final boolean isLarge;
        private final Promised space;
        private Operation operation;
        private Generation full;
        private NoSpaceException noLog;
        private int refusals;
        /** Nothing was under way that gives memory or space back, and all that had been given back was there before the last attempt. */
        private boolean isLastAttempt;

        private boolean hasGivenBack;
        /** How long the write has waited, over all attempts. */
        private long waitedNanos;

        RoomSearch(int count, long userBytes, long bytes, Promised space) {
            this.blockBytes = Memtable.blockBytes(count, userBytes);
            this.bytes = bytes;
            this.space = space;
            this.isLarge = memtables.isLarge(blockBytes);
            memtables.checkHolds(count, userBytes);
        }

        /**
         * Finds space on the device, for the log when it said {@code logRefusal}, seals the active memtable when it is {@code refusing}, or
         * waits until there may be memory.
         *
         * @throws NoSpaceException when nothing can free any
         * @throws InsufficientMemoryException when nothing that is under way can give any back
         */
        void makeRoom(Operation writing, Generation refusing, NoSpaceException logRefusal) {
            operation = writing;
            full = refusing;
            noLog = logRefusal;
            operation.outsideEpoch(this);
        }

        @Override
        public void run() {
            long started = clock.nanoTime();
            try {
                findRoom();
            } finally {
                long waited = clock.nanoTime() - started;
                waitedNanos += waited;
                throttle.stalled(waited, waitedNanos);
            }
        }

        private void findRoom() {
            if (noLog != null) {
                // All that is logged can go once it is packed and in a checkpoint.
                searchSpace(true, noLog);
            } else if (generations.active() == full && full.space().isWanted(blockBytes, space)) {
                cover();
            } else if (rotation.rotate(full)) {
                dead.memtableFull(full.number());
                isLastAttempt = false;
                refusals++;
                if (isLarge && refusals > LARGE_REFUSALS_MAX) {
                    throw noMemory();
                }
            } else {
                memtables.recall();
                awaitMemory();
            }
        }

        private void cover() {
            try {
                full.space().cover(blockBytes, space, background.isSpaceShort());
                if (background.isSpaceShort() && full.space().isAmple()) {
                    background.spaceFound();
                }
            } catch (NoSpaceException refusal) {
                background.spaceIsShort();
                searchSpace(false, refusal);
            }
        }

        /** Nothing frees any space: deletes, by which something may, are given what is left. */
        private void coverWithLast(NoSpaceException refusal) {
            if (space == Promised.GROWTH) {
                throw refusal;
            }
            full.space().coverWithLast(blockBytes);
            isLastAttempt = false;
        }

        private void searchSpace(boolean sealAny, NoSpaceException refusal) {
            rotation.requireOpen();
            failStop.check();
            epochs.reclaim();
            if (spaceSearch.goOn(sealAny, this::returnLogSpace)) {
                isLastAttempt = false;
            } else if (!isLastAttempt) {
                epochs.awaitReclaimed();
                isLastAttempt = true;
                return;
            } else if (sealAny) {
                throw refusal;
            } else {
                coverWithLast(refusal);
                return;
            }
            rotation.awaitSignal();
        }

        /** Who closes waits for that, and for nothing else of the search: it waits for others, but not while it uses the log. */
        private void returnLogSpace() {
            operation.use(log);
            try {
                rotation.requireOpen();
                log.returnFreeSpace();
            } finally {
                operation.use(null);
            }
        }

        private void awaitMemory() {
            if (!isStarved()) {
                isLastAttempt = false;
                rotation.awaitRoom(full);
            } else if (!isLastAttempt) {
                epochs.awaitReclaimed();
                isLastAttempt = true;
            } else {
                // What attempts have taken, also others': once that is back this one is tried again, and a refused one leaves nothing.
                boolean isGivenBack = rotation.giveBack(full) | memtables.giveBackEmpty();
                if (hasGivenBack || !isGivenBack) {
                    throw noMemory();
                }
                hasGivenBack = true;
                isLastAttempt = false;
            }
        }

        /** Whether an empty memtable found no memory, and no memtable that is about to be packed, or has been, will give any back. */
        private boolean isStarved() {
            return generations.active() == full && full.memtable().entries() == 0 && !memtables.isMemoryComing();
        }

        private StoreException noMemory() {
            NoSpaceException unpacked = background.packing().refusal();
            return unpacked != null
                    ? new NoSpaceException("no memory for a write of " + bytes + " bytes before memtables are packed: " + unpacked.getMessage())
                    : new InsufficientMemoryException("no memory for a write of " + bytes
                            + " bytes: that of memtables is in use, and nothing gives enough of it back; raise the memory option"
                            + memtables.toldOfStopped());
        }
    }

    /** The last sequence number drawn. */
    public long lastSequence() {
        return nextSequence.get() - 1;
    }

    /** Where cursors found nothing but deleted keys. */
    public DeadRanges dead() {
        return dead;
    }

    /** Returns once every write that had drawn its number is in a memtable. */
    public void drain() {
        lanes.drain();
    }

    public long userBytes() {
        return userBytes.sum();
    }

    public WriteThrottle throttle() {
        return throttle;
    }
}
