package dev.heartwood.engine.merge;

import dev.heartwood.MergeOperator;
import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.EntryCursor;
import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.base.FoundEntry;
import dev.heartwood.engine.cache.CachedFile;
import dev.heartwood.engine.cache.PageCache;
import dev.heartwood.engine.device.ArrayDevice;
import dev.heartwood.engine.extent.ExtentAllocator;
import dev.heartwood.engine.memtable.Memtable;
import dev.heartwood.engine.memtable.SortArrays;
import dev.heartwood.engine.node.CompactionPlan;
import dev.heartwood.engine.node.CompactionPolicy.Urge;
import dev.heartwood.engine.node.FingerprintPieces;
import dev.heartwood.engine.node.MergeMemory;
import dev.heartwood.engine.node.TreeShape;
import dev.heartwood.engine.node.TreeStorage;
import dev.heartwood.engine.node.TrunkPolicies;
import dev.heartwood.engine.node.TrunkVersion;
import dev.heartwood.engine.os.KeyHasher;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.trunk.PackedMemtable;
import dev.heartwood.engine.trunk.TreeCursor;
import dev.heartwood.engine.trunk.TreeReader;
import dev.heartwood.engine.trunk.Trunk;
import dev.heartwood.engine.trunk.TrunkImages;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;

/** A trunk over a file in memory, and what tests do with it. */
public final class TrunkFixture implements AutoCloseable {
    public static final long STORE_ID = 0x7273;
    public static final int FIRST_EXTENT = 2;
    private static final int SCRATCH_BYTES = 1 << 17;
    private static final int STEPS_MAX = 2000;

    public final ArrayDevice device;
    public final Epochs epochs = new Epochs();
    public final MemoryPool pool = MemoryPool.open(64L << 20);
    final MemoryPool cachePool = MemoryPool.open(48L << 20);
    final PageCache cache = new PageCache(cachePool, 16L << 20, epochs);
    public final ExtentAllocator extents;
    public final TreeStorage storage;
    public final TrunkImages images;
    public final TreeShape shape;
    public final Trunk trunk;
    public final Compactor compactor;
    public final History history = new History();
    /** Live snapshots. */
    public final TreeSet<Long> snapshots = new TreeSet<>();

    /** For merges and packing. */
    public final MemoryPool mergePool;

    private final CachedFile file;
    private final MergeOperator operator;
    final MemtablePacker packer;
    /** Memory for what needs a page of it. */
    public final long page = pool.allocate(PageLayout.PAGE_BYTES);

    private final long scratch = pool.allocate(SCRATCH_BYTES);
    private Memtable memtable = new Memtable(pool, new SortArrays(), 1, 1, 8 << 20);
    private long generation = 1;

    /** An empty trunk. */
    public TrunkFixture(TreeShape shape, TrunkPolicies policies, MergeOperator operator) {
        this(new ArrayDevice(), null, shape, policies, operator);
    }

    /** An empty trunk with so much memory for merges and packing, apart from what else there is. */
    public TrunkFixture(TreeShape shape, TrunkPolicies policies, long mergeBytes) {
        this(new ArrayDevice(), null, shape, policies, null, mergeBytes, 0);
    }

    /** An empty trunk whose merges hold more than so many bytes of fingerprints in pieces; 0 for as many as the memory has room for. */
    public TrunkFixture(TreeShape shape, TrunkPolicies policies, MergeOperator operator, long fingerprintBytes) {
        this(new ArrayDevice(), null, shape, policies, operator, 0, fingerprintBytes);
    }

    /** The trunk that {@code found} names on {@code device}; null for an empty one. */
    public TrunkFixture(
            ArrayDevice device,
            TrunkImages.Found found,
            TreeShape shape,
            TrunkPolicies policies,
            MergeOperator operator) {
        this(device, found, shape, policies, operator, 0, 0);
    }

    private TrunkFixture(
            ArrayDevice device,
            TrunkImages.Found found,
            TreeShape shape,
            TrunkPolicies policies,
            MergeOperator operator,
            long mergeBytes,
            long fingerprintBytes) {
        this.mergePool = mergeBytes == 0 ? pool : MemoryPool.open(mergeBytes);
        this.device = device;
        this.shape = mergeBytes == 0 ? shape : shape.withMergesIn(mergePool);
        this.operator = operator;
        file = cache.attach(device, STORE_ID);
        extents = new ExtentAllocator(device, 8L << 30, FIRST_EXTENT);
        storage = new TreeStorage(
                file,
                extents,
                pool,
                mergePool,
                epochs,
                TreeStorage.FreedExtents.KEPT,
                0,
                fingerprintBytes == 0 ? FingerprintPieces.bufferBytesMax(mergePool) : fingerprintBytes);
        images = new TrunkImages(storage);
        trunk = found == null
                ? images.create(new TrunkImages.Found(null, 0, 0, 1), this.shape, policies, epochs)
                : images.load(found, this.shape, policies, epochs);
        packer = new MemtablePacker(storage, trunk, this::liveSnapshots, operator, keys -> {});
        compactor = new Compactor(storage, trunk, new MergeOutput(storage, trunk, () -> 0), operator, null);
    }

    /** Has the pages of an extent be on the device only, where they cannot be read. */
    public void makeUnreadable(int extent) {
        long first = (long) extent * PageLayout.EXTENT_PAGES;
        file.writeBackAll();
        file.discard(first, PageLayout.EXTENT_PAGES);
        for (long page = first; page < first + PageLayout.EXTENT_PAGES; page++) {
            device.unreadable.add(page);
        }
    }

    public long[] liveSnapshots() {
        return snapshots.stream().mapToLong(Long::longValue).toArray();
    }

    public void put(String key, String value) {
        write(key, Entries.PUT, value);
    }

    public void delete(String key) {
        write(key, Entries.DELETE, "");
    }

    public void merge(String key, String operand) {
        write(key, Entries.MERGE, operand);
    }

    private void write(String key, byte kind, String value) {
        History.Version version = history.write(key, kind, value);
        long address = load(key);
        Memory.copyFrom(History.bytes(value), 0, address + key.length(), value.length());
        if (!memtable.reserve(0, key.length(), value.length())) {
            throw new AssertionError("memtable of a test is full");
        }
        long hash = KeyHasher.hash(address, key.length());
        memtable.insert(
                0, hash, address, key.length(), version.sequence(), kind, address + key.length(), value.length());
    }

    private long load(String key) {
        Memory.copyFrom(History.bytes(key), 0, scratch, key.length());
        return scratch;
    }

    /** Packs what was written since the last call. */
    public void pack() {
        packForReaders().release();
    }

    /** As {@link #pack}; what was packed is the caller's to give back. */
    public PackedMemtable packForReaders() {
        PackedMemtable packed = packer.pack(memtable, generation);
        memtable.release();
        generation++;
        memtable = new Memtable(pool, new SortArrays(), generation, 1, 8 << 20);
        return packed;
    }

    /** Plans, does and installs one merge; returns whether there was one. */
    public boolean compactOne(Urge urge) {
        CompactionPlan plan = trunk.plan(urge);
        if (plan == null) {
            return false;
        }
        Compactor.Result result = run(plan);
        trunk.install(plan, result.bundle(), result.mergedPosition());
        return true;
    }

    /** Does a merge with all the memory it asks for. */
    public Compactor.Result run(CompactionPlan plan) {
        return compactor.run(plan, liveSnapshots(), MergeMemory.of(plan, storage), PageLayout.EXTENT_PAGES);
    }

    /** Merges until nothing is wanted. */
    public void settle(Urge urge) {
        for (int step = 0; step < STEPS_MAX; step++) {
            boolean moved = urge.isQuiet() && trunk.balanceQuiet(urge);
            boolean merged = compactOne(urge);
            epochs.reclaim();
            if (!moved && !merged) {
                return;
            }
        }
        throw new AssertionError("the tree is never content:\n" + TreeText.of(trunk.version().root()));
    }

    /** What point reads of the keys find. */
    public String find(TrunkVersion version, String key, long snapshot, NavigableState expected) {
        int slot = epochs.enter();
        try {
            FoundEntry found = new FoundEntry();
            found.room = scratch + SCRATCH_BYTES - FoundEntry.ROOM_BYTES;
            long address = load(key);
            long hash = KeyHasher.hash(address, key.length());
            if (!TreeReader.find(storage, trunk, version, hash, address, key.length(), snapshot, found)
                    || found.kind == Entries.DELETE) {
                return null;
            }
            if (found.kind == Entries.MERGE) {
                return expected.get(key);
            }
            byte[] value = new byte[found.valueLength];
            if (found.largeValues != null) {
                found.largeValues.read(found.largePosition, MemorySegment.ofArray(value), 0, value.length);
            } else {
                Memory.copyTo(found.valueAddress, value, 0, value.length);
            }
            return History.string(value);
        } finally {
            epochs.exit(slot);
        }
    }

    /** The expected value of a key, for finds that end at an operand, which cursors check. */
    public interface NavigableState {
        String get(String key);
    }

    public TreeCursor cursor(TrunkVersion version) {
        return new TreeCursor(storage, trunk.events(), version, List.of());
    }

    /** What filters have of a key. */
    public long filterHash(String key) {
        return storage.filterHash(load(key), key.length());
    }

    public void seek(EntryCursor cursor, String key) {
        cursor.seek(load(key), key.length());
    }

    void seekBefore(EntryCursor cursor, String key) {
        cursor.seekBefore(load(key), key.length());
    }

    /** Everything a cursor shows at a snapshot, walked forward from {@code from} or backward from before it; null for all. */
    public TreeMap<String, String> scan(TrunkVersion version, long snapshot, String from, boolean forward) {
        TreeMap<String, List<History.Version>> seen = new TreeMap<>();
        try (TreeCursor cursor = cursor(version)) {
            start(cursor, from, forward);
            String last = null;
            while (cursor.valid()) {
                String key = History.string(Memory.bytes(cursor.keyAddress(), cursor.keyLength()));
                if (last != null && (forward ? key.compareTo(last) < 0 : key.compareTo(last) > 0)) {
                    throw new AssertionError("keys out of order: " + last + " before " + key);
                }
                last = key;
                List<History.Version> versions = seen.computeIfAbsent(key, k -> new ArrayList<>());
                versions.add(forward ? versions.size() : 0, version(cursor));
                if (forward) {
                    cursor.next();
                } else {
                    cursor.previous();
                }
            }
        }
        TreeMap<String, String> state = new TreeMap<>();
        seen.forEach((key, versions) -> {
            String value = History.fold(versions, snapshot);
            if (value != null) {
                state.put(key, value);
            }
        });
        return state;
    }

    private void start(TreeCursor cursor, String from, boolean forward) {
        if (from == null && forward) {
            cursor.seekFirst();
        } else if (from == null) {
            cursor.seekLast();
        } else if (forward) {
            seek(cursor, from);
        } else {
            seekBefore(cursor, from);
        }
    }

    private static History.Version version(EntryCursor cursor) {
        String value = cursor.valueLength() == 0
                ? ""
                : History.string(Memory.bytes(cursor.valueAddress(), cursor.valueLength()));
        return new History.Version(cursor.sequence(), cursor.kind(), value);
    }

    /** Bytes of keys and values that merges wrote for each byte that was packed. */
    public double writeAmplification(long packedBytes) {
        return 1 + (double) trunk.events().bytesWritten() / packedBytes;
    }

    /** Lets go of the current version and of everything that waits for readers. */
    public void releaseAll() {
        trunk.close();
        epochs.reclaim();
    }

    public MergeOperator operator() {
        return operator;
    }

    @Override
    public void close() {
        memtable.release();
        pool.free(scratch, SCRATCH_BYTES);
        pool.free(page, PageLayout.PAGE_BYTES);
        file.close();
        cache.close();
        cachePool.close();
        long left = pool.allocated();
        if (mergePool != pool) {
            left += mergePool.allocated();
            mergePool.close();
        }
        pool.close();
        if (left != 0) {
            throw new AssertionError(left + " bytes of memory left behind");
        }
    }
}
