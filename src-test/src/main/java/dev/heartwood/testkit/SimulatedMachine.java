package dev.heartwood.testkit;

import dev.heartwood.NoSpaceException;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.testkit.SimulatedFile.Fate;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * A machine whose disks are in memory: it gives out one {@link SimulatedStorage} per open of a directory, can be crashed into
 * the machine that the next process finds, and can have faults of every kind. The same seed and the same calls give the same
 * history. Thread-safe.
 */
public final class SimulatedMachine implements Function<Path, Storage> {
    /** When the operations of an {@link dev.heartwood.engine.device.IoQueue} take effect. */
    public enum QueueOrder {
        /** In order, as soon as they are submitted. */
        AT_SUBMIT,
        /** In random order, each when a completion is waited for. */
        RANDOM_AT_AWAIT
    }

    private final ReentrantLock lock = new ReentrantLock();
    private final SplittableRandom random;
    private final String bootId;
    private final FaultPlan faults = new FaultPlan(this);
    private final Map<Path, SimulatedDirectory> directories = new TreeMap<>();
    private long capacityBytes = Long.MAX_VALUE;
    private QueueOrder queueOrder = QueueOrder.RANDOM_AT_AWAIT;
    private int underWay;
    private int mostUnderWay;

    /** A new machine with empty disks. */
    public SimulatedMachine(long seed) {
        this(new SplittableRandom(seed), "boot-" + Long.toHexString(seed));
    }

    private SimulatedMachine(SplittableRandom random, String bootId) {
        this.random = random;
        this.bootId = bootId;
    }

    /** A storage over the directory, for one open of a store; the directory need not exist. */
    @Override
    public Storage apply(Path directory) {
        return storage(directory);
    }

    /** As {@link #apply}. */
    public SimulatedStorage storage(Path directory) {
        return locked(() -> new SimulatedStorage(this, directory, directory(directory)));
    }

    /**
     * The machine as the next process finds it, all of it as it was at one moment during this call. This one is left as it is, so that
     * what runs on it can be shut down. Of a power loss the random numbers decide what survives.
     */
    public SimulatedMachine crash(CrashKind kind, RandomGenerator fate) {
        return locked(() -> {
            String nextBoot = kind == CrashKind.KILL ? bootId : "boot-" + Long.toHexString(fate.nextLong());
            SimulatedMachine next = new SimulatedMachine(new SplittableRandom(fate.nextLong()), nextBoot);
            next.capacityBytes = capacityBytes;
            next.queueOrder = queueOrder;
            captureAtOnce();
            directories.forEach((path, directory) -> next.directories.put(path, directory.afterCrash(kind, fate)));
            return next;
        });
    }

    /**
     * The machine after a loss of power that decides about unsynced sectors, sizes and directory entries by their number, counted
     * from 0 in an order that does not change while nothing is written: what is in {@code kept} is kept, what is in {@code torn}
     * is garbage, the rest is lost.
     */
    public SimulatedMachine powerLoss(BitSet kept, BitSet torn) {
        int[] items = {0};
        return powerLoss(() -> {
            int item = items[0]++;
            return kept.get(item) ? Fate.KEPT : torn.get(item) ? Fate.TORN : Fate.LOST;
        });
    }

    /** How many unsynced sectors, sizes and directory entries a loss of power now would decide about, at the most. */
    public int undecided() {
        int[] items = {0};
        powerLoss(() -> {
            items[0]++;
            return Fate.KEPT;
        });
        return items[0];
    }

    private SimulatedMachine powerLoss(Supplier<Fate> fate) {
        return locked(() -> {
            SimulatedMachine next = new SimulatedMachine(new SplittableRandom(1), bootId + "+");
            next.capacityBytes = capacityBytes;
            next.queueOrder = queueOrder;
            captureAtOnce();
            directories.forEach((path, directory) -> next.directories.put(path, directory.afterPowerLoss(fate)));
            return next;
        });
    }

    /*
     * A crash takes all memory of one moment, but threads may store through mappings while files are captured one after the other. What
     * two captures in a row find the same was there all at once between them. Whoever stores on and on needs an operation of the
     * machine before long, and waits for it, because the machine is locked.
     */
    private void captureAtOnce() {
        boolean changed = true;
        while (changed) {
            changed = false;
            for (SimulatedDirectory directory : directories.values()) {
                changed |= directory.capture();
            }
        }
    }

    /** A hash of the disks: machines with the same one behave the same. */
    public long fingerprint() {
        return locked(() -> directories.values().stream()
                .mapToLong(SimulatedDirectory::fingerprint)
                .sum());
    }

    /** What is to go wrong. */
    public FaultPlan faults() {
        return faults;
    }

    /** The most operations that queues have had under way at once, of all files together, since this was asked last. */
    public int mostUnderWay() {
        return locked(() -> {
            int most = mostUnderWay;
            mostUnderWay = underWay;
            return most;
        });
    }

    /** Operations of a queue have begun, or, below 0, ended. */
    void underWay(int operations) {
        locked(() -> {
            underWay += operations;
            mostUnderWay = Math.max(mostUnderWay, underWay);
            return null;
        });
    }

    /** Sets when queued operations take effect. Default {@link QueueOrder#RANDOM_AT_AWAIT}. */
    public void queueOrder(QueueOrder order) {
        locked(() -> queueOrder = order);
    }

    /** Sets how many bytes the files of all directories may take together; less than they take now lets nothing grow. */
    public void capacity(long bytes) {
        locked(() -> capacityBytes = bytes);
    }

    /** The bytes that the files of all directories take. */
    public long usedBytes() {
        return locked(() -> directories.values().stream()
                .mapToLong(SimulatedDirectory::bytes)
                .sum());
    }

    /** The bytes that the disk has left. */
    long availableBytes() {
        return capacityBytes == Long.MAX_VALUE ? Long.MAX_VALUE : locked(() -> Math.max(0, capacityBytes - usedBytes()));
    }

    /** The names of the files in a directory, sorted. */
    public List<String> files(Path directory) {
        return locked(() -> new ArrayList<>(directory(directory).names()));
    }

    /** The size of a file in bytes. */
    public long size(Path directory, String name) {
        return locked(() -> file(directory, name).size());
    }

    /** The contents of a file as a reader sees them. */
    public byte[] contents(Path directory, String name) {
        return locked(() -> file(directory, name).bytes(Integer.MAX_VALUE));
    }

    /** How often each page of a file was read through a device since the machine started. */
    public int[] pageReads(Path directory, String name) {
        return locked(() -> file(directory, name).pageReads());
    }

    /** Flips bits of one byte of a file on the medium. */
    public void flip(Path directory, String name, long offset, int mask) {
        locked(() -> {
            SimulatedFile file = file(directory, name);
            file.capture();
            long sector = offset / SimulatedFile.SECTOR_BYTES;
            byte[] contents = file.sector(sector).clone();
            contents[(int) (offset % SimulatedFile.SECTOR_BYTES)] ^= (byte) mask;
            file.rot(sector, contents);
            return null;
        });
    }

    /** Has the medium lose a page of 4096 bytes: whoever reads it gets EIO, until it is written. */
    public void losePage(Path directory, String name, long page) {
        locked(() -> {
            int sectors = 4096 / SimulatedFile.SECTOR_BYTES;
            for (int i = 0; i < sectors; i++) {
                file(directory, name).lose(page * sectors + i);
            }
            return null;
        });
    }

    /**
     * The operating system writes a file back by itself, and fails: of what was not synced each sector has reached the medium or never will,
     * and who has the file mapped is told at the next sync, but nobody who maps it later.
     */
    public void failWriteBack(Path directory, String name) {
        locked(() -> {
            file(directory, name).failWriteBack(random);
            return null;
        });
    }

    /** Swaps two pages of 4096 bytes on the medium, as misdirected writes do. */
    public void swapPages(Path directory, String name, long first, long second) {
        locked(() -> {
            SimulatedFile file = file(directory, name);
            file.capture();
            int sectors = 4096 / SimulatedFile.SECTOR_BYTES;
            for (int i = 0; i < sectors; i++) {
                byte[] a = file.sector(first * sectors + i);
                byte[] b = file.sector(second * sectors + i);
                file.rot(first * sectors + i, b);
                file.rot(second * sectors + i, a);
            }
            return null;
        });
    }

    /** Puts a file in place, whole and synced, whatever was there. */
    public void place(Path directory, String name, byte[] contents) {
        locked(() -> {
            SimulatedFile file = new SimulatedFile();
            file.replace(contents);
            file.syncAll();
            directory(directory).make();
            directory(directory).put(name, file);
            return null;
        });
    }

    /** Removes a file as if it had never been. */
    public void remove(Path directory, String name) {
        locked(() -> {
            directory(directory).delete(name);
            directory(directory).sync();
            return null;
        });
    }

    /** Does something while no operation on any storage of the machine takes effect. */
    public <T> T exclusively(Supplier<T> action) {
        return locked(action);
    }

    <T> T locked(Supplier<T> action) {
        lock.lock();
        try {
            return action.get();
        } finally {
            lock.unlock();
        }
    }

    SplittableRandom random() {
        return random;
    }

    String bootId() {
        return bootId;
    }

    QueueOrder queueOrder() {
        return queueOrder;
    }

    /** Refuses to let the files grow by {@code bytes} when the disk is too small for that. */
    void reserve(long bytes, String path) {
        if (bytes > 0 && usedBytes() > capacityBytes - bytes) {
            throw new NoSpaceException("no space left on the device for " + bytes + " more bytes of " + path);
        }
    }

    private SimulatedDirectory directory(Path path) {
        return directories.computeIfAbsent(path.toAbsolutePath().normalize(), p -> new SimulatedDirectory());
    }

    private SimulatedFile file(Path directory, String name) {
        SimulatedFile file = directory(directory).file(name);
        if (file == null) {
            throw new IllegalArgumentException("there is no file " + directory.resolve(name));
        }
        return file;
    }
}
