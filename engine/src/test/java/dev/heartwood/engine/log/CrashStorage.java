package dev.heartwood.engine.log;

import dev.heartwood.NoSpaceException;
import dev.heartwood.ReadFailedException;
import dev.heartwood.StoreException;
import dev.heartwood.StoreIoException;
import dev.heartwood.engine.device.BlockDevice;
import dev.heartwood.engine.device.MappedFile;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.os.Errno;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryRegions;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Predicate;

/** The segment files of a store in native memory, with what of them a loss of power would leave. Thread-safe. */
final class CrashStorage implements Storage {
    private static final int SECTOR = 512;
    private static final int PAGE = 4096;
    private static final byte[] ZEROES = new byte[PAGE];

    final class File {
        final String name;
        final Arena arena = Arena.ofShared();
        final long address;
        final byte[] durable;
        boolean isEntryDurable;
        /** Mappings of it that are open, and of those how many are still to be told that it could not be written back. */
        final List<Mapping> open = new ArrayList<>();

        final List<Mapping> toBeTold = new ArrayList<>();
        /** What the system took for written when it had failed to write it; null when it has not. */
        byte[] lost;

        File(String name, long length) {
            this.name = name;
            address = arena.allocate(Math.max(length, 8), 4096).address();
            MemoryRegions.add(address, Math.max(length, 8));
            durable = new byte[(int) length];
        }

        byte[] bytes() {
            return Memory.bytes(address, durable.length);
        }

        /** Whether a sector was not written and will not be: nothing was stored in it since. */
        private boolean isLost(byte[] now, int at) {
            return lost != null && Arrays.equals(lost, at, at + SECTOR, now, at, at + SECTOR);
        }

        /** Has what was lost be written once more, but for pages of zeroes and what is behind the first that cannot be read. */
        private void rewrite() {
            byte[] now = bytes();
            byte[] lostStill = lost == null ? now : lost.clone();
            for (int at = 0; at < readableBytes(this); at += PAGE) {
                if (!Arrays.equals(now, at, at + PAGE, ZEROES, 0, PAGE)) {
                    for (int i = at; i < at + PAGE; i++) {
                        lostStill[i] = (byte) ~now[i];
                    }
                }
            }
            lost = lost == null ? null : lostStill;
        }

        private void sync(int offset, int length) {
            byte[] now = bytes();
            for (int at = offset; at < offset + length; at += SECTOR) {
                if (!isLost(now, at)) {
                    System.arraycopy(now, at, durable, at, SECTOR);
                }
            }
        }
    }

    final TreeMap<String, File> files = new TreeMap<>();
    private final List<File> everyFile = new ArrayList<>();
    private final String bootId;
    long bytesMax = Long.MAX_VALUE;
    /** Why no file can be deleted; null when files can. */
    StoreException deletionRefusal;

    /** The syncs to come that succeed. */
    int syncsUntilFailure = Integer.MAX_VALUE;

    /** What a question for the address of a mapping ends in, once, after so many that are answered. */
    Error addressFailure;

    int addressesBeforeFailure;

    /** From where on a file that was there cannot be read; and by whom that was met when it was to be written, a name each time. */
    final Map<String, Long> unreadableFrom = new HashMap<>();

    final List<String> unreadableMet = new ArrayList<>();

    /** What opening an existing file ends in. */
    StoreException openingRefusal;

    /** Run before a file is mapped for writing, without the lock. */
    volatile Runnable beforeMapping = () -> {};

    /** Run before a mapping, or the directory, is synced, without the lock. */
    volatile Consumer<String> beforeSync = name -> {};

    volatile Runnable beforeDirectorySync = () -> {};

    int syncs;
    int openMappings;
    /** All that were ever made for writing. */
    int mappingsMade;
    int slides;
    /** The most that was in memory of a mapping after it had slid. */
    long windowBytesMax;

    CrashStorage(String bootId) {
        this.bootId = bootId;
    }

    /** What another process finds after this one died. What cannot be read it does not get: there are zeroes in that place. */
    synchronized CrashStorage kill() {
        CrashStorage after = new CrashStorage(bootId);
        after.unreadableFrom.putAll(unreadableFrom);
        for (File file : files.values()) {
            File copy = after.add(file.name, file.durable.length);
            Memory.copyFrom(file.bytes(), 0, copy.address, (int) readableBytes(file));
            System.arraycopy(file.durable, 0, copy.durable, 0, file.durable.length);
            copy.isEntryDurable = file.isEntryDurable;
            copy.lost = file.lost;
        }
        return after;
    }

    /** What is found after a loss of power: of sectors not synced, the old or new contents, some of both, or garbage. */
    synchronized CrashStorage losePower(Random random) {
        CrashStorage after = new CrashStorage("boot " + random.nextLong());
        int kept = random.nextInt(101);
        for (File file : files.values()) {
            if (!file.isEntryDurable && random.nextInt(3) == 0) {
                continue;
            }
            byte[] now = file.bytes();
            byte[] left = file.durable.clone();
            for (int at = 0; at < left.length; at += SECTOR) {
                if (!file.isLost(now, at)) {
                    sector(left, now, at, kept, random);
                }
            }
            File copy = after.add(file.name, left.length);
            copy.isEntryDurable = true;
            Memory.copyFrom(left, 0, copy.address, left.length);
            System.arraycopy(left, 0, copy.durable, 0, left.length);
        }
        return after;
    }

    private static void sector(byte[] left, byte[] now, int at, int kept, Random random) {
        if (Arrays.equals(left, at, at + SECTOR, now, at, at + SECTOR)) {
            return;
        }
        if (random.nextInt(100) < kept) {
            System.arraycopy(now, at, left, at, SECTOR);
            return;
        }
        switch (random.nextInt(8)) {
            case 0 -> System.arraycopy(now, at, left, at, random.nextInt(SECTOR));
            case 1 -> {
                // A sector that is written again keeps what both its contents agree on.
                byte[] garbage = new byte[SECTOR];
                random.nextBytes(garbage);
                int first = Arrays.mismatch(left, at, at + SECTOR, now, at, at + SECTOR);
                System.arraycopy(garbage, first, left, at + first, SECTOR - first);
            }
            default -> {}
        }
    }

    private File add(String name, long length) {
        File file = new File(name, length);
        files.put(name, file);
        everyFile.add(file);
        return file;
    }

    /** Gives the memory back. */
    synchronized void discard() {
        for (File file : everyFile) {
            MemoryRegions.remove(file.address);
            file.arena.close();
        }
        everyFile.clear();
        files.clear();
    }

    @Override
    public Path directory() {
        return Path.of("simulated");
    }

    @Override
    public String bootId() {
        return bootId;
    }

    @Override
    public void lock() {}

    @Override
    public synchronized List<String> list() {
        return List.copyOf(files.keySet());
    }

    @Override
    public synchronized boolean exists(String name) {
        return files.containsKey(name);
    }

    @Override
    public synchronized long size(String name) {
        return files.get(name).durable.length;
    }

    @Override
    public synchronized byte[] readFile(String name, int lengthMax) {
        File file = files.get(name);
        int length = Math.min(lengthMax, file.durable.length);
        if (readableBytes(file) < length) {
            throw new ReadFailedException(5, "EIO", "pread", name, 0);
        }
        return Memory.bytes(file.address, length);
    }

    @Override
    public void writeFile(String name, byte[] contents) {
        throw new UnsupportedOperationException();
    }

    @Override
    public BlockDevice openDevice(String name, boolean create) {
        throw new UnsupportedOperationException();
    }

    /** Has no file mapped for writing after so many more, as when the process has no descriptor left. */
    void refuseMappingsAfter(int count) {
        AtomicInteger left = new AtomicInteger(count);
        beforeMapping = () -> {
            if (left.getAndDecrement() <= 0) {
                throw new StoreIoException(Errno.EMFILE, "EMFILE", "open", "a segment", -1);
            }
        };
    }

    @Override
    public MappedFile openMapped(String name, long length, long window) {
        beforeMapping.run();
        return map(name, length, window);
    }

    private synchronized MappedFile map(String name, long length, long window) {
        File file = files.get(name);
        if (file == null || file.durable.length != length) {
            long used = 0;
            for (File other : files.values()) {
                used += other.durable.length;
            }
            if (used + length > bytesMax) {
                throw new NoSpaceException("simulated");
            }
            file = add(name, length);
        }
        checkReadable(name, window);
        return new Mapping(file, window);
    }

    private long readableBytes(File file) {
        return Math.min(unreadableFrom.getOrDefault(file.name, Long.MAX_VALUE), file.durable.length);
    }

    /** What is mapped for writing has to be read first where it was in use before. */
    private void checkReadable(String name, long end) {
        if (unreadableFrom.getOrDefault(name, Long.MAX_VALUE) < end) {
            unreadableMet.add(name);
            throw new StoreIoException(5, "EIO", "madvise (populate)", name, -1);
        }
    }

    @Override
    public synchronized MappedFile openMappedExisting(String name) {
        if (openingRefusal != null) {
            throw openingRefusal;
        }
        File file = files.get(name);
        return new Mapping(file, readableBytes(file));
    }

    @Override
    public synchronized MappedFile openRewritten(String name) {
        MappedFile file = openAtRest(name);
        files.get(name).rewrite();
        return file;
    }

    @Override
    public synchronized MappedFile openAtRest(String name) {
        if (openingRefusal != null) {
            throw openingRefusal;
        }
        MappedFile file = new Mapping(files.get(name), 0);
        file.rest();
        return file;
    }

    /**
     * The system writes all segments back by itself, and cannot: what was not synced is not on the device and never will be. Of each those
     * are told who have it open now; where nobody has, nobody ever is.
     */
    void failWriteBack() {
        failWriteBack(name -> name.endsWith(".seg"));
    }

    /** As {@link #failWriteBack()}, of the files whose names are chosen. */
    synchronized void failWriteBack(Predicate<String> chosen) {
        for (File file : files.values()) {
            byte[] now = file.bytes();
            if (chosen.test(file.name) && !Arrays.equals(now, file.durable)) {
                file.lost = now;
                file.toBeTold.clear();
                file.toBeTold.addAll(file.open);
            }
        }
    }

    @Override
    public synchronized void delete(String name) {
        if (deletionRefusal != null) {
            throw deletionRefusal;
        }
        unreadableFrom.remove(name);
        files.remove(name);
    }

    @Override
    public void syncDirectory() {
        beforeDirectorySync.run();
        makeEntriesDurable();
    }

    private synchronized void makeEntriesDurable() {
        for (File file : files.values()) {
            file.isEntryDurable = true;
        }
    }

    @Override
    public void close() {}

    private final class Mapping implements MappedFile {
        private final File file;
        private final byte[] before;
        private long windowBegin;
        private long windowEnd;
        private boolean closed;

        Mapping(File file, long window) {
            this.file = file;
            this.before = file.bytes();
            this.windowEnd = window;
            file.open.add(this);
            openMappings++;
            mappingsMade++;
        }

        @Override
        public long windowEnd() {
            return windowEnd;
        }

        /** Nothing may have been stored beyond the window, nor may be in what it has left. */
        @Override
        public void slide(long begin, long end) {
            synchronized (CrashStorage.this) {
                if (closed || begin < windowBegin || end < windowEnd || end > length() || (begin | end) % 4096 != 0) {
                    throw new AssertionError("a window from " + begin + " to " + end);
                }
                checkReadable(file.name, end);
                byte[] now = file.bytes();
                if (!Arrays.equals(before, (int) windowEnd, before.length, now, (int) windowEnd, now.length)
                        || !Arrays.equals(before, 0, (int) windowBegin, now, 0, (int) windowBegin)) {
                    throw new AssertionError("a store outside of the window");
                }
                System.arraycopy(now, 0, before, 0, (int) begin);
                windowBegin = begin;
                windowEnd = end;
                slides++;
                windowBytesMax = Math.max(windowBytesMax, end - begin);
            }
        }

        @Override
        public void rest() {
            synchronized (CrashStorage.this) {
                // Beyond its end nothing is ever in the window again.
                windowBegin = length();
                windowEnd = length();
            }
        }

        @Override
        public String name() {
            return file.name;
        }

        @Override
        public long address() {
            Error failure = addressFailure;
            if (failure != null && addressesBeforeFailure-- == 0) {
                addressFailure = null;
                throw failure;
            }
            if (windowBegin == length()) {
                throw new AssertionError("a file at rest is touched");
            }
            return file.address;
        }

        @Override
        public long length() {
            return file.durable.length;
        }

        @Override
        public void sync(long offset, long length) {
            beforeSync.accept(file.name);
            synchronized (CrashStorage.this) {
                syncs++;
                if (closed || offset % 4096 != 0 || length % 4096 != 0) {
                    throw new AssertionError("sync of " + offset + ", " + length);
                }
                if (syncsUntilFailure-- <= 0) {
                    throw new StoreIoException(5, "EIO", "msync", file.name, offset);
                }
                if (file.toBeTold.remove(this)) {
                    throw new StoreIoException(5, "EIO", "msync", file.name, offset);
                }
                file.sync((int) offset, (int) length);
            }
        }

        @Override
        public void close() {
            synchronized (CrashStorage.this) {
                openMappings -= closed ? 0 : 1;
                file.open.remove(this);
                file.toBeTold.remove(this);
                closed = true;
            }
        }
    }
}
