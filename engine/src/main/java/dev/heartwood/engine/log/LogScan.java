package dev.heartwood.engine.log;

import dev.heartwood.CorruptionException;
import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.ReadFailedException;
import dev.heartwood.StoreException;
import dev.heartwood.engine.device.MappedFile;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.os.Errno;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryRegions;
import dev.heartwood.engine.page.PageLayout;
import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;

/** What the directory holds of the log: the headers of all segments, sorted out. Changes nothing. One thread. */
final class LogScan {
    /** A segment with a valid header that belongs to the log. */
    record Segment(String file, SegmentHeader header) {}

    /** A file that can be used again. */
    record Spare(String file, long number, long bytes) {}

    private final Storage storage;
    private final long storeId;
    private final long checkpointGeneration;
    private final String bootId;
    private final List<Spare> spares = new ArrayList<>();
    private final List<Spare> unreadable = new ArrayList<>();
    private final TreeMap<Long, LoggedGeneration> generations = new TreeMap<>();
    private final Map<Long, LogLife> lives = new HashMap<>();
    private SegmentHeader newest;
    private long lastNumber;
    private long lastFirstLsn;
    private long segmentBytes;

    LogScan(Storage storage, long storeId, long checkpointGeneration) {
        this.storage = storage;
        this.storeId = storeId;
        this.checkpointGeneration = checkpointGeneration;
        this.bootId = shortened(storage.bootId());
    }

    void run() {
        scanAll(damage -> {
            throw damage;
        });
        boolean powerLost = newest == null || !isRunning(newest.generation().life());
        if (!powerLost && !unreadable.isEmpty()) {
            throw headless(unreadable.getFirst());
        }
        LogLife last = null;
        for (LoggedGeneration generation : generations.values()) {
            LogLife life = generation.header().life();
            if (last != null && life.number() < last.number()) {
                throw damaged(storage, generation.anyFile(), 0, "a life after " + last, life.toString());
            }
            last = life;
        }
        LaneClaims.check(storage, this, storeId, checkpointGeneration);
    }

    /**
     * Takes all segments that have a header, also those that are shorter than it says; {@code damage} is told of whatever else is wrong with
     * a file. Nothing is concluded from what is missing.
     */
    void runPastDamage(Consumer<StoreException> damage) {
        scanAll(damage);
        unreadable.forEach(file -> damage.accept(headless(file)));
    }

    private CorruptionException headless(Spare file) {
        return damaged(storage, file.file(), 0, "an intact header", "two damaged copies of it");
    }

    /** Whether there is a segment newer than the checkpoint with this place. */
    boolean holds(long generation, int lane, long index) {
        LoggedGeneration logged = generations.get(generation);
        return logged != null && logged.holds(lane, index);
    }

    /** Whether there is a segment of a generation newer than the checkpoint. */
    boolean holds(long generation) {
        return generations.containsKey(generation);
    }

    /** The LSN up to which the last sync that is known made everything durable; 0 when none is. */
    long syncedLsn() {
        return LaneClaims.syncedLsn(storage, this, storeId, checkpointGeneration);
    }

    private void scanAll(Consumer<StoreException> damage) {
        try (Arena arena = Arena.ofConfined()) {
            long scratch = arena.allocate(LogLayout.HEADER_BYTES, 8).address();
            MemoryRegions.add(scratch, LogLayout.HEADER_BYTES);
            try {
                for (String file : storage.list()) {
                    long number = SegmentName.number(file);
                    if (number >= 0) {
                        lastNumber = Math.max(lastNumber, number);
                        tryScan(file, number, scratch, damage);
                    }
                }
            } finally {
                MemoryRegions.remove(scratch);
            }
        }
    }

    private void tryScan(String file, long number, long scratch, Consumer<StoreException> damage) {
        try {
            scan(file, number, scratch, damage);
        } catch (InsufficientMemoryException e) {
            throw e; // which says nothing of the file
        } catch (StoreException e) {
            damage.accept(e);
        }
    }

    /** Whether the system that a life belongs to still runs, so that nothing written in it can have been lost. */
    boolean isRunning(LogLife life) {
        return life.bootId().equals(bootId);
    }

    /** The name of the running system, as headers hold it. */
    String bootId() {
        return bootId;
    }

    private static String shortened(String bootId) {
        boolean fits = bootId.getBytes(StandardCharsets.UTF_8).length <= LogLayout.BOOT_ID_BYTES_MAX;
        return fits ? bootId : bootId.substring(0, LogLayout.BOOT_ID_BYTES_MAX / 4);
    }

    private void scan(String file, long number, long scratch, Consumer<StoreException> damage) {
        long bytes = storage.size(file);
        if (bytes < LogLayout.HEADER_BYTES || bytes % PageLayout.PAGE_BYTES != 0) {
            boolean isHeaded = false;
            for (byte b : storage.readFile(file, 8)) {
                isHeaded |= b != 0;
            }
            if (isHeaded) {
                damage.accept(damaged(storage, file, 0, "a segment's length", bytes + " bytes"));
            }
            if (!isHeaded || bytes < LogLayout.HEADER_BYTES) {
                spares.add(new Spare(file, number, bytes));
                return;
            }
        }
        SegmentHeader header = null;
        boolean unheaded = true;
        byte[] pages = storage.readFile(file, LogLayout.HEADER_BYTES);
        Memory.copyFrom(pages, 0, scratch, LogLayout.HEADER_BYTES);
        for (int copy = 0; copy < LogLayout.HEADER_COPIES; copy++) {
            long page = scratch + (long) copy * PageLayout.PAGE_BYTES;
            unheaded &= SegmentHeader.isUnheaded(page);
            if (!SegmentHeader.isUnheaded(page) && SegmentHeader.isIntact(page)) {
                SegmentHeader read = SegmentHeader.read(page, copy, storeId, storage.directory().resolve(file));
                header = header == null || isNewer(read, header) ? read : header;
            }
        }
        segmentBytes += bytes;
        if (header == null) {
            (unheaded ? spares : unreadable).add(new Spare(file, number, bytes));
            return;
        }
        add(file, number, bytes, header, damage);
    }

    private void add(
            String file, long number, long bytes, SegmentHeader header, Consumer<StoreException> damage) {
        newest = newest == null || isNewer(header, newest) ? header : newest;
        lastFirstLsn = Math.max(lastFirstLsn, header.generation().firstLsn());
        if (header.generation().number() <= checkpointGeneration) {
            spares.add(new Spare(file, number, bytes));
            return;
        }
        if (header.segmentBytes() != bytes) {
            damage.accept(damaged(storage, file, 0, "a file of " + header.segmentBytes() + " bytes", "one of " + bytes));
        }
        LogLife life = header.generation().life();
        LogLife known = lives.putIfAbsent(life.number(), life);
        if (known != null && !known.equals(life)) {
            throw damaged(storage, file, 0, known.toString(), life.toString());
        }
        LoggedGeneration generation = generations.computeIfAbsent(
                header.generation().number(), n -> new LoggedGeneration(storage, header.generation()));
        generation.add(new Segment(file, header));
    }

    private static boolean isNewer(SegmentHeader a, SegmentHeader b) {
        int order = Long.compare(
                a.generation().life().number(), b.generation().life().number());
        return order > 0
                || order == 0 && a.generation().number() > b.generation().number();
    }

    /** The generations after the checkpoint's, ascending. */
    List<LoggedGeneration> generations() {
        return List.copyOf(generations.values());
    }

    /** Files that hold nothing that is still needed, the longest first. */
    List<Spare> spares() {
        spares.sort(Comparator.comparingLong(Spare::bytes).reversed());
        return spares;
    }

    /** Files whose header a loss of power left torn: they hold nothing, and are deleted before the next life begins. */
    List<Spare> unreadable() {
        return unreadable;
    }

    /** The greatest number in the name of a segment. */
    long lastNumber() {
        return lastNumber;
    }

    /** The greatest generation of any segment, and at least the checkpoint's. */
    long lastGeneration() {
        long last = generations.isEmpty() ? 0 : generations.lastKey();
        return Math.max(checkpointGeneration, last);
    }

    /** The greatest life of any segment, or 0. */
    long lastLife() {
        return newest == null ? 0 : newest.generation().life().number();
    }

    /**
     * An LSN above every one that a record of the newest generation in these files has, if it has no more than one file. An idle file of a
     * generation of several may have higher ones, which their sequences rule out: those of later records are higher.
     */
    long lsnBeyondNewest() {
        return lastFirstLsn + segmentBytes / LogLayout.RECORD_HEADER_MIN + 1;
    }

    /** For a file that would be needed beyond what the device gives of it. */
    static ReadFailedException unread(MappedFile file) {
        return new ReadFailedException(Errno.EIO, Errno.name(Errno.EIO), "madvise (populate)", file.name(), file.windowEnd());
    }

    /** For what a file of the directory should have at an offset. */
    static CorruptionException damaged(Storage storage, String name, long offset, String expected, String found) {
        String file = storage.directory().resolve(name).toString();
        return new CorruptionException(file, offset / PageLayout.PAGE_BYTES, "LOG", expected + " at offset " + offset, found);
    }
}
