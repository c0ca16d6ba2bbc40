package dev.heartwood.engine.log;

import dev.heartwood.CorruptionException;
import dev.heartwood.NoSpaceException;
import dev.heartwood.ReadFailedException;
import dev.heartwood.StoreIoException;
import dev.heartwood.engine.base.KeyHash;
import dev.heartwood.engine.device.MappedFile;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.os.Errno;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.page.PageLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * The last segment that each lane has begun, and what was synced last, in the mapped file {@value #FILE} beside the log: guards against a
 * segment that is missing or empty, or a record that is damaged, where nothing in the others tells of it, at the end of a lane. Thread-safe.
 *
 * <pre>
 *  0          8                    16      24      32           40    48      56  64           72    80      88  96
 *  +----------+--------------------+-------+-------+------------+-----+-------+---+------------+-----+-------+---+------
 *  | store id | hash of the boot id| check | 0     | generation | LSN | check | 0 | generation | LSN | check | 0 | lanes
 *  |          |                    |       |       | synced                   |   | synced, in turns         |   |
 *  +----------+--------------------+-------+-------+------------+-----+-------+---+------------+-----+-------+---+------
 *
 *  0       8       16        24      32
 *  +-------+-------+---------+-------+
 *  | begun | check | durable | check |   of each lane
 *  +-------+-------+---------+-------+
 * </pre>
 *
 * <p>A claim is a generation and the index of a segment in it, in 8 bytes. What was begun, or was found by the first recovery since the
 * system started, counts while the system runs; what is durable counts for ever, and is stored only after the segment's header was
 * synced. Claims of generations that the checkpoint holds say nothing.
 *
 * <p>All records up to the synced LSN are durable; it counts while a segment of its generation is there, since LSNs may begin anew once none
 * is. It is on the device when the system wrote the page back, which no sync waits for: until then an older one counts, or what records say.
 *
 * <p>Advice only: a claim without its check, as a loss of power may leave it, does not count; without the file the log is replayed all
 * the same, and a full disk leaves the one that is there. One that the device does not give is made anew.
 */
final class LaneClaims implements AutoCloseable {
    static final String FILE = "log-lanes";

    private static final int BOOT = 8;
    private static final int HEADER_CHECK = 16;
    private static final int SYNCED = 32;
    private static final int SYNCED_LSN = 8;
    private static final int SYNCED_CHECK = 16;
    private static final int SYNCED_BYTES = 32;
    private static final int LANES = SYNCED + 2 * SYNCED_BYTES;
    private static final int CHECK = 8;
    private static final int DURABLE = 16;
    private static final int LANE_BYTES = 32;
    private static final int BYTES_MAX = LANES + LANE_BYTES * LogLayout.LANES_MAX;
    private static final int INDEX_BITS = 20;
    private static final long INDEX_MAX = (1L << INDEX_BITS) - 1;

    private final long storeId;
    private boolean isOpened;
    /** Null when nothing is claimed: before it was opened, for want of space or of a device that takes it, or after the end. */
    private MappedFile file;

    /** How often something was noted as synced. */
    private long syncs;

    /** Whether something was noted as durable since the last sync began. */
    private boolean isChanged;

    /** Claims nothing until it is opened. */
    LaneClaims(long storeId) {
        this.storeId = storeId;
    }

    /**
     * Makes the file, or takes over that of the life before, whose claims stand until the lanes make others; after a restart of the
     * system what {@code scan} found is claimed instead. Does nothing when called again.
     */
    synchronized void open(Storage storage, LogScan scan, int laneCount) {
        if (isOpened) {
            return;
        }
        long before = storage.exists(FILE) ? Math.min(storage.size(FILE), BYTES_MAX) : 0;
        long length = LogLayout.align(Math.max(before, LANES + (long) LANE_BYTES * laneCount), PageLayout.PAGE_BYTES);
        try {
            file = map(storage, length);
        } catch (NoSpaceException e) {
            // The one that is there, if any, stays as it is.
            isOpened = true;
            return;
        }
        isOpened = true;
        if (file != null) {
            take(scan);
        }
    }

    /** Maps the file, another in place of one with a page that the device does not give; null when it takes none. */
    private static MappedFile map(Storage storage, long length) {
        try {
            return storage.openMapped(FILE, length);
        } catch (StoreIoException unread) {
            requireUnreadable(unread);
        }
        try {
            storage.delete(FILE);
            return storage.openMapped(FILE, length);
        } catch (StoreIoException failure) {
            requireUnreadable(failure);
            return null;
        }
    }

    /** Throws what says nothing about the device. */
    private static void requireUnreadable(StoreIoException failure) {
        if (failure.errno() != Errno.EIO) {
            throw failure;
        }
    }

    private void take(LogScan scan) {
        long address = file.address();
        long boot = hash(scan.bootId());
        long check = mix(storeId, -1, boot);
        if (Memory.getLong(address) == storeId
                && Memory.getLong(address + BOOT) == boot
                && Memory.getLong(address + HEADER_CHECK) == check) {
            return;
        }
        Memory.putLongVolatile(address + HEADER_CHECK, 0);
        for (long lane = LANES; lane + LANE_BYTES <= file.length(); lane += LANE_BYTES) {
            Memory.putLongVolatile(address + lane, 0);
        }
        for (LoggedGeneration generation : scan.generations()) {
            for (List<LogScan.Segment> segments : generation.lanes()) {
                SegmentHeader last = segments.getLast().header();
                put(last.lane(), 0, claim(generation.header().number(), last.index()));
            }
        }
        Memory.putLongVolatile(address, storeId);
        Memory.putLongVolatile(address + BOOT, boot);
        Memory.putLongVolatile(address + HEADER_CHECK, check);
    }

    /** Notes that a lane has published the header of a segment; to be called before anything is appended to it. */
    synchronized void begun(int lane, long generation, long index) {
        if (file != null) {
            put(lane, 0, claim(generation, index));
        }
    }

    /** Notes that the header of a segment and the entry of its file are durable. */
    synchronized void durable(int lane, long generation, long index) {
        if (file != null) {
            isChanged |= put(lane, DURABLE, claim(generation, index));
        }
    }

    /** Notes that all records up to an LSN are durable, of which the last are of a generation. By one thread at a time. */
    synchronized void synced(long generation, long lsn) {
        if (file != null) {
            // The other one stands until this one does.
            long address = file.address() + SYNCED + (syncs++ & 1) * SYNCED_BYTES;
            Memory.putLongVolatile(address + SYNCED_CHECK, 0);
            Memory.putLongVolatile(address, generation);
            Memory.putLongVolatile(address + SYNCED_LSN, lsn);
            Memory.putLongVolatile(address + SYNCED_CHECK, mix(storeId, generation, lsn));
        }
    }

    /** Puts a claim in place unless it is not above the one that is there, or the lane is one too many of an earlier life. */
    private boolean put(int lane, int which, long claim) {
        long offset = LANES + (long) lane * LANE_BYTES + which;
        long at = file.address() + offset;
        if (offset + DURABLE > file.length()
                || Memory.getLong(at) >= claim && Memory.getLong(at + CHECK) == mix(storeId, offset, Memory.getLong(at))) {
            return false;
        }
        Memory.putLongVolatile(at + CHECK, 0);
        Memory.putLongVolatile(at, claim);
        Memory.putLongVolatile(at + CHECK, mix(storeId, offset, claim));
        return true;
    }

    /**
     * Makes what was noted as durable durable itself. By one thread at a time, before the claims are closed; a failure is final. Lanes do
     * not wait for it: what they note meanwhile counts while the system runs, for which it need not be on the device.
     */
    void sync() {
        MappedFile changed = takeChanged();
        if (changed != null) {
            changed.sync(0, changed.length());
        }
    }

    /** The file if it has to be synced, else null. */
    private synchronized MappedFile takeChanged() {
        MappedFile changed = isChanged ? file : null;
        isChanged = false;
        return changed;
    }

    @Override
    public synchronized void close() {
        if (file != null) {
            file.close();
            file = null;
        }
    }

    /** Ascends with generation and index; of more segments than fit it claims the last that does. */
    private static long claim(long generation, long index) {
        return generation << INDEX_BITS | Math.min(index, INDEX_MAX);
    }

    /** Begins with a number that older layouts do not: where those have claims is told from none here. */
    private static long mix(long storeId, long offset, long value) {
        return KeyHash.end(KeyHash.mix(KeyHash.mix(KeyHash.mix(KeyHash.begin(4), storeId), offset), value));
    }

    private static long hash(String bootId) {
        byte[] bytes = bootId.getBytes(StandardCharsets.UTF_8);
        long state = KeyHash.begin(bytes.length);
        for (byte b : bytes) {
            state = KeyHash.mix(state, b);
        }
        return KeyHash.end(state);
    }

    /** The file as it is; null when there is none, or the device does not give it, or it is not of this store. */
    private static ByteBuffer read(Storage storage, long storeId) {
        if (!storage.exists(FILE)) {
            return null;
        }
        ByteBuffer bytes;
        try {
            bytes = ByteBuffer.wrap(storage.readFile(FILE, BYTES_MAX)).order(ByteOrder.nativeOrder());
        } catch (ReadFailedException unread) {
            requireUnreadable(unread);
            return null;
        }
        boolean isWhole = bytes.capacity() >= LANES
                && bytes.getLong(0) == storeId
                && bytes.getLong(HEADER_CHECK) == mix(storeId, -1, bytes.getLong(BOOT));
        return isWhole ? bytes : null;
    }

    /** Whether every segment that holds the last records of a lane is claimed: not after a restart of the system. */
    static boolean areExact(Storage storage, String bootId, long storeId) {
        ByteBuffer bytes = read(storage, storeId);
        return bytes != null && bytes.getLong(BOOT) == hash(bootId);
    }

    /**
     * Refuses a log that lacks a segment that is claimed.
     *
     * @throws CorruptionException that says which
     */
    static void check(Storage storage, LogScan scan, long storeId, long checkpointGeneration) {
        ByteBuffer bytes = read(storage, storeId);
        if (bytes == null) {
            return;
        }
        boolean isSameBoot = bytes.getLong(BOOT) == hash(scan.bootId());
        for (int at = LANES; at + LANE_BYTES <= bytes.capacity(); at += LANE_BYTES) {
            long begun = isSameBoot ? valueAt(bytes, at, storeId) : 0;
            long claim = Math.max(begun, valueAt(bytes, at + DURABLE, storeId));
            int lane = (at - LANES) / LANE_BYTES;
            long generation = claim >>> INDEX_BITS;
            if (generation > checkpointGeneration && !scan.holds(generation, lane, claim & INDEX_MAX)) {
                throw LogScan.damaged(
                        storage,
                        FILE,
                        at,
                        "segment " + (claim & INDEX_MAX) + " of lane " + lane + " and generation " + generation,
                        "no such segment in the log");
            }
        }
    }

    /** The LSN up to which a sync has made all records durable, as far as that is known and the log still has some of them; 0 else. */
    static long syncedLsn(Storage storage, LogScan scan, long storeId, long checkpointGeneration) {
        ByteBuffer bytes = read(storage, storeId);
        if (bytes == null) {
            return 0;
        }
        long newest = 0;
        for (int at = SYNCED; at < LANES; at += SYNCED_BYTES) {
            long generation = bytes.getLong(at);
            long lsn = bytes.getLong(at + SYNCED_LSN);
            boolean isClaimed = bytes.getLong(at + SYNCED_CHECK) == mix(storeId, generation, lsn);
            newest = isClaimed && generation > checkpointGeneration && scan.holds(generation) ? Math.max(newest, lsn) : newest;
        }
        return newest;
    }

    private static long valueAt(ByteBuffer bytes, int at, long storeId) {
        long value = bytes.getLong(at);
        return bytes.getLong(at + CHECK) == mix(storeId, at, value) ? value : 0;
    }
}
