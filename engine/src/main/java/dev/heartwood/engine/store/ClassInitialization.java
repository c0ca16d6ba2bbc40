package dev.heartwood.engine.store;

import dev.heartwood.StoreOptions;
import java.nio.ByteBuffer;

/**
 * Initializes classes before the first environment of a process is made. A class whose initialization finds the Java heap full cannot be
 * used by the process ever after (The Java Virtual Machine Specification, section 5.5), so none is met for the first time amid work.
 */
final class ClassInitialization {
    /**
     * The classes that have something to initialize, behind the package that they are in, which begins where the API's ends; all but those
     * that ask the kernel or bind what may be missing, which the opening of a store initializes.
     */
    private static final String CLASSES =
            """
            . CompactionFilter$Decision CompactionPolicyKind CorruptionEvent$FoundBy DeviceKind Durability
            . EnvironmentOptions KeyOrder KeyRange PolicyChange$Part StoreOptions StoreOptions$FreeSpace StoreOptions$IoMode
            . StoreOptions$OpenMode
            .engine.background. Generations PackedMemtables QuietCheckpoint
            .engine.backup. Backup BackupTarget BackupUndo
            .engine.base. Clock FoundEntry$Waits Keys Randomness Span
            .engine.branch. BranchCodec BranchReader$Answer BranchWriter KeyedPageLayout OverflowLayout PageBuilder
            .engine.branch. PageStream$1 StreamedLeaves WriteMode
            .engine.budget. IdleMemory MemoryPlan
            .engine.cache. CachedFile Clock DirectMap DirtyQueue DistributedLock FrameSupply FrameTable Lifetime PageDropper
            .engine.cache. WriteBack
            .engine.call. KeyForm KeyForm$3 Operation$Copied
            .engine.checkpoint. FormatVersion StoreFiles
            .engine.device. DeviceBinding DeviceBinding$1 DeviceBinding$Polled DeviceBinding$Posix DeviceBinding$Queues
            .engine.device. FileAccess FileStorage RingPool
            .engine.extent. ExtentAllocator Promised Purpose
            .engine.filter. EntryBuckets$Cursor FilterLayout FilterPageWriter Maplet MapletPages$1 MapletShape MapletSlice
            .engine.filter. RemappedMaplet WriteMode
            .engine.log. LaneAppends LaneMerge$Order LogInspection$State LogLane LogLayout LogOptions LogReplay LogSegment
            .engine.log. RecordFormat ReplaySummary$Ending SegmentHeader SegmentName SegmentStarts
            .engine.memtable. HashIndex KeyHeads Lane Memtable MemtableCursor Partition PoolBlocks Records SlotTable
            .engine.memtable. SortedRun
            .engine.merge. Compactions MergedMaplet$Effort
            .engine.node. CompactionPlan CompactionPolicy$Urge KeptVersions KeySpread LevelTieredPolicy$1 NodeMemo
            .engine.node. TreeStorage$FreedExtents TrunkNode TrunkPolicies TrunkPolicies$4 TrunkVersion
            .engine.os. Aio Crc32c Crc32c$Summer Errno FileCalls FileLocks FileStatus$Kind HashedKeys IoVector Memory
            .engine.os. MemoryPool MemoryRegions NativeLinker NativeMemory PathCalls PathText Platform SystemCall Uring
            .engine.page. PageLayout PageType
            .engine.read. CursorUse DeadWalk$Start ReadCalls
            .engine.store. EngineBatch EngineCursor$Position EngineStore OpenViews Scrubber StoreLifecycle StoreOpener
            .engine.store. StoreOpener$Purpose Tuner Tuner$1
            .engine.task. Priority ThreadWorkers Turns
            .engine.trunk. PolicyRules$1 TreeCursor Trunk$Heights
            .engine.verify. Progress
            .engine.write. DeadRanges Lanes
            """;

    private static volatile boolean done;

    private ClassInitialization() {}

    /** Initializes them; again when the heap was full. */
    static void run() {
        if (done) {
            return;
        }
        ofTheLibrary();
        ofTheEngine();
        done = true;
    }

    private static void ofTheEngine() {
        ClassLoader loader = ClassInitialization.class.getClassLoader();
        String root = StoreOptions.class.getPackageName();
        for (String line : CLASSES.lines().toList()) {
            String[] words = line.split(" ");
            for (int i = 1; i < words.length; i++) {
                try {
                    Class.forName(root + words[0] + words[i], true, loader);
                } catch (ClassNotFoundException left) {
                    // Whoever made a smaller jar of this one found that nothing needs it.
                }
            }
        }
    }

    /** What the Java library initializes behind records, switches over types, comparisons of buffers and stack traces. */
    private static void ofTheLibrary() {
        Sample sample = new Sample("a", 1, 2);
        Object equal = new Sample("a", 1, 2);
        boolean isEqual = switch (equal) {
            case String text -> text.isEmpty();
            case Sample other -> sample.equals(other) && sample.hashCode() == other.hashCode();
            default -> false;
        };
        boolean isSameText = ByteBuffer.allocate(1).mismatch(ByteBuffer.allocate(2)) == 1 && !sample.toString().isEmpty();
        StackTraceElement[] trace = new Throwable().getStackTrace();
        assert isEqual && isSameText && trace.length > 0;
    }

    private record Sample(String text, int number, long large) {}
}
