package dev.heartwood.testkit;

import dev.heartwood.engine.device.BlockDevice;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * The contents of one file: what a reader sees now, what the medium is sure to hold, and the writes in between. Guarded by the
 * machine's lock.
 */
final class SimulatedFile {
    /*
     * Contents are maps from sector number to an array of 512 bytes that never changes once it is in a map, so that the three
     * views share arrays and an image is copied by copying maps. A sector that is missing reads as zeroes.
     *
     *   synced   --(unsynced, in order)-->   current   --(stores through a mapping)-->   live
     *
     * Stores through a mapping are not seen as they happen; capture() turns them into unsynced writes by comparison.
     */
    static final int SECTOR_BYTES = 512;
    private static final byte[] ZEROES = new byte[SECTOR_BYTES];

    /** What a loss of power does to something unsynced; torn is garbage, and what cannot be torn is lost. */
    enum Fate {
        KEPT,
        LOST,
        TORN
    }

    /** One sector on its way to the medium; sectors of mappings are written whole or not at all. */
    private record UnsyncedSector(long sector, byte[] contents, boolean mapped) {}

    private final Map<Long, byte[]> synced;
    private final Map<Long, byte[]> current;
    private final List<UnsyncedSector> unsynced = new ArrayList<>();
    private final List<SimulatedMapping> mappings = new ArrayList<>();
    /** Who has the file open through a mapping, with or without memory, and who of them is to be told of a failed write. */
    private final Set<SimulatedMapping> open = new HashSet<>();

    private final Set<SimulatedMapping> toBeTold = new HashSet<>();
    /** Sectors that the medium gives no more, until they are written. */
    private final Set<Long> unreadable = new HashSet<>();

    private long syncedSize;
    private long size;
    private int[] pageReads = new int[0];

    SimulatedFile() {
        synced = new HashMap<>();
        current = new HashMap<>();
    }

    private SimulatedFile(Map<Long, byte[]> contents, long size, Set<Long> unreadable) {
        this.unreadable.addAll(unreadable);
        synced = new HashMap<>(contents);
        current = new HashMap<>(contents);
        syncedSize = size;
        this.size = size;
    }

    long size() {
        return size;
    }

    /** Whether a crash may find this file different from what a reader sees. */
    boolean hasUnsynced() {
        capture();
        return !unsynced.isEmpty() || size != syncedSize;
    }

    void resize(long newSize) {
        if (newSize < size) {
            long first = (newSize + SECTOR_BYTES - 1) / SECTOR_BYTES;
            current.keySet().removeIf(sector -> sector >= first);
            int kept = (int) (newSize % SECTOR_BYTES);
            if (kept != 0) {
                byte[] last = sector(newSize / SECTOR_BYTES).clone();
                Arrays.fill(last, kept, SECTOR_BYTES, (byte) 0);
                put(newSize / SECTOR_BYTES, last, false);
            }
        }
        size = newSize;
    }

    /** The sector as a reader sees it; not to be changed. */
    byte[] sector(long sector) {
        return current.getOrDefault(sector, ZEROES);
    }

    /** Whether the sector at a position was ever written, and not made to read as zeroes since. */
    boolean isWritten(long position) {
        return sector(position / SECTOR_BYTES) != ZEROES;
    }

    /** Counts a read of whole pages through a device. */
    void read(long position, int length) {
        int first = (int) (position / BlockDevice.ALIGNMENT);
        int count = length / BlockDevice.ALIGNMENT;
        if (first + count > pageReads.length) {
            pageReads = Arrays.copyOf(pageReads, Math.max(first + count, 2 * pageReads.length));
        }
        for (int page = first; page < first + count; page++) {
            pageReads[page]++;
        }
    }

    /** How often each page was read through a device. */
    int[] pageReads() {
        return Arrays.copyOf(pageReads, (int) (size / BlockDevice.ALIGNMENT));
    }

    /** Writes one sector; the array becomes the file's. */
    void put(long sector, byte[] contents, boolean mapped) {
        unreadable.remove(sector);
        current.put(sector, contents);
        unsynced.add(new UnsyncedSector(sector, contents, mapped));
    }

    /** Makes a range read as zeroes. */
    void zero(long position, long length) {
        for (long s = position / SECTOR_BYTES; s < (position + length) / SECTOR_BYTES; s++) {
            if (current.containsKey(s)) {
                put(s, ZEROES, false);
            }
        }
    }

    void syncAll() {
        capture();
        unsynced.forEach(write -> synced.put(write.sector, write.contents));
        unsynced.clear();
        syncedSize = size;
    }

    /** Syncs the sectors that the range touches, and the size. */
    void syncRange(long position, long length) {
        capture();
        long first = position / SECTOR_BYTES;
        long last = (position + length - 1) / SECTOR_BYTES;
        unsynced.removeIf(write -> {
            boolean within = write.sector >= first && write.sector <= last;
            if (within) {
                synced.put(write.sector, write.contents);
            }
            return within;
        });
        syncedSize = size;
    }

    /**
     * What a failed sync leaves: each write has reached the medium or never will, as the operating system now holds it for
     * clean; a sync tried again would succeed and change nothing.
     */
    void failSync(RandomGenerator random) {
        capture();
        for (UnsyncedSector write : unsynced) {
            if (random.nextBoolean()) {
                synced.put(write.sector, write.contents);
            }
        }
        unsynced.clear();
    }

    /**
     * The operating system writes the file back by itself, and fails: as {@link #failSync}, but those are told at their next sync who have it
     * mapped now. Nobody is told where nobody has, since the system may forget the file.
     */
    void failWriteBack(RandomGenerator random) {
        capture();
        if (!unsynced.isEmpty()) {
            failSync(random);
            toBeTold.addAll(open);
        }
    }

    /**
     * Has the operating system write every sector again, as when each was stored anew through a mapping. Where that is on the medium, or on its
     * way there, it makes no difference.
     */
    void rewrite() {
        capture();
        Map<Long, byte[]> written = new HashMap<>(synced);
        unsynced.forEach(write -> written.put(write.sector, write.contents));
        current.forEach((sector, contents) -> {
            if (!Arrays.equals(contents, written.getOrDefault(sector, ZEROES))) {
                put(sector, contents, true);
            }
        });
    }

    /** Whether a write failed that this one has not been told of. */
    boolean tellFailedWriteBack(SimulatedMapping mapping) {
        return toBeTold.remove(mapping);
    }

    void opened(SimulatedMapping mapping) {
        open.add(mapping);
    }

    void closed(SimulatedMapping mapping) {
        open.remove(mapping);
        toBeTold.remove(mapping);
    }

    void mapped(SimulatedMapping mapping) {
        mappings.add(mapping);
    }

    void unmapped(SimulatedMapping mapping) {
        capture();
        mappings.remove(mapping);
    }

    /** Turns what was stored through mappings into unsynced writes; returns whether there was anything. */
    boolean capture() {
        boolean changed = false;
        byte[] live = new byte[SECTOR_BYTES];
        for (SimulatedMapping mapping : mappings) {
            long sectors = mapping.length() / SECTOR_BYTES;
            for (long s = 0; s < sectors; s++) {
                mapping.copySector(s, live);
                if (!Arrays.equals(live, sector(s))) {
                    put(s, live.clone(), true);
                    changed = true;
                }
            }
        }
        return changed;
    }

    /** The file as the next process, or the next start of the machine, finds it, of what was captured. */
    SimulatedFile afterCrash(CrashKind kind, RandomGenerator random) {
        if (kind == CrashKind.KILL) {
            return copy();
        }
        Map<Long, byte[]> contents = new HashMap<>(synced);
        // Some crashes lose nearly nothing, some nearly everything, some all after one moment, some a bit of each.
        double keptShare = random.nextInt(3) == 0 ? 1 : random.nextDouble();
        int cut = random.nextInt(3) == 0 ? random.nextInt(unsynced.size() + 1) : unsynced.size();
        double garbageShare = random.nextBoolean() ? 0.05 : 0;
        for (UnsyncedSector write : unsynced.subList(0, cut)) {
            double fate = random.nextDouble();
            if (fate < keptShare * (1 - garbageShare)) {
                contents.put(write.sector, write.contents);
            } else if (!write.mapped && random.nextDouble() < garbageShare) {
                contents.put(write.sector, garbage(contents.getOrDefault(write.sector, ZEROES), write.contents, random));
            }
        }
        long sizeAfter = random.nextBoolean() ? size : syncedSize;
        contents.keySet().removeIf(sector -> sector * SECTOR_BYTES >= sizeAfter);
        return new SimulatedFile(contents, sizeAfter, unreadable);
    }

    /** The file after a loss of power: fate decides about each unsynced sector that was captured, and then about the unsynced size. */
    SimulatedFile afterPowerLoss(Supplier<Fate> fate) {
        Map<Long, byte[]> contents = new HashMap<>(synced);
        for (UnsyncedSector write : unsynced) {
            Fate decided = fate.get();
            if (decided == Fate.KEPT) {
                contents.put(write.sector, write.contents);
            } else if (decided == Fate.TORN && !write.mapped) {
                RandomGenerator random = new SplittableRandom(write.sector + unsynced.size());
                contents.put(write.sector, garbage(contents.getOrDefault(write.sector, ZEROES), write.contents, random));
            }
        }
        long sizeAfter = size != syncedSize && fate.get() == Fate.KEPT ? size : syncedSize;
        contents.keySet().removeIf(sector -> sector * SECTOR_BYTES >= sizeAfter);
        return new SimulatedFile(contents, sizeAfter, unreadable);
    }

    /** A hash of everything that a later crash or reader depends on. */
    long fingerprint() {
        capture();
        long hash = size * 31 + syncedSize;
        for (Map.Entry<Long, byte[]> sector : current.entrySet()) {
            hash += (sector.getKey() * 0x9E3779B97F4A7C15L | 1) * Arrays.hashCode(sector.getValue());
        }
        for (UnsyncedSector write : unsynced) {
            hash = hash * 31 + write.sector * 17 + Arrays.hashCode(write.contents);
        }
        return hash;
    }

    /** The file as a reader sees it, unsynced writes included, which stay unsynced. */
    private SimulatedFile copy() {
        SimulatedFile copy = new SimulatedFile(synced, syncedSize, unreadable);
        copy.current.clear();
        copy.current.putAll(current);
        copy.unsynced.addAll(unsynced);
        copy.size = size;
        return copy;
    }

    /** A sector caught in the middle of a write: bytes that the write would have changed are anything. */
    private static byte[] garbage(byte[] old, byte[] written, RandomGenerator random) {
        byte[] result = old.clone();
        for (int i = 0; i < SECTOR_BYTES; i++) {
            if (old[i] != written[i]) {
                result[i] = (byte) random.nextInt();
            }
        }
        return result;
    }

    /** Changes the medium behind everyone's back: a reader sees it, and so does a crash. */
    void rot(long sector, byte[] contents) {
        capture();
        current.put(sector, contents);
        synced.put(sector, contents);
        unsynced.removeIf(write -> write.sector == sector);
    }

    /** Has the medium lose a sector; it gives another one to who writes it. */
    void lose(long sector) {
        unreadable.add(sector);
    }

    /** Whether all sectors of a range can be read. */
    boolean isReadable(long position, long length) {
        return unreadable.stream().noneMatch(s -> s >= position / SECTOR_BYTES && s < (position + length) / SECTOR_BYTES);
    }

    byte[] bytes(long lengthMax) {
        capture();
        byte[] bytes = new byte[(int) Math.min(size, lengthMax)];
        for (int i = 0; i < bytes.length; i += SECTOR_BYTES) {
            System.arraycopy(sector(i / SECTOR_BYTES), 0, bytes, i, Math.min(SECTOR_BYTES, bytes.length - i));
        }
        return bytes;
    }

    void replace(byte[] bytes) {
        resize(0);
        resize(bytes.length);
        for (int i = 0; i < bytes.length; i += SECTOR_BYTES) {
            put(i / SECTOR_BYTES, Arrays.copyOfRange(bytes, i, i + SECTOR_BYTES), false);
        }
    }
}
