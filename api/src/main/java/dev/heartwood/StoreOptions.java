package dev.heartwood;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * Immutable options of a store. Thread-safe. All may differ from one open of a store to the next, except the order and the
 * groups of keys, and the merge operator's name once there is one. {@link #toString} prints them and {@link #parse} reads them back, except the merge operator and the compaction
 * filter, which are code: of them the text holds the name; see {@link #parse}.
 */
public final class StoreOptions {
    /** What to do about a store that is missing or present. */
    public enum OpenMode {
        /** Open the store, or make one where there is none. */
        CREATE_IF_MISSING,
        /** Open the store; refuse with {@link NotAStoreException} when there is none. */
        OPEN_EXISTING,
        /** Make a store; refuse with {@link StoreExistsException} when there is one. */
        CREATE_NEW
    }

    /** How files are read and written. */
    public enum IoMode {
        /** Past the operating system's cache (O_DIRECT); refused by name where the file system cannot. */
        DIRECT,
        /** Through the operating system's cache, whose memory is outside the budget. */
        BUFFERED
    }

    /** What becomes of space in the data file that is no longer used. */
    public enum FreeSpace {
        /** It stays in the file for later use. */
        KEEP,
        /**
         * It is given back to the file system by punching holes, when the store settles and when it closes, and with it the space that is kept
         * for deletes: where others fill the file system then, deletes find none either.
         */
        RETURN
    }

    private static final StoreOptions DEFAULTS = builder().build();

    private final Builder values;

    private StoreOptions(Builder builder) {
        values = new Builder(builder);
    }

    /** Every option at its default. */
    public static StoreOptions defaults() {
        return DEFAULTS;
    }

    /** A builder that holds the defaults. */
    public static Builder builder() {
        return new Builder();
    }

    /** A builder that holds these options. */
    public Builder toBuilder() {
        return new Builder(values);
    }

    /** The budget of the private environment that {@link Heartwood#open} makes. Default 256 MiB, at least 16 MiB. */
    public ByteSize memory() {
        return values.memory;
    }

    /** Background threads of that private environment. Default: the number of processors, 1 to 64. */
    public int workers() {
        return values.workers;
    }

    /** How that private environment drives its device. Default {@link DeviceKind#AUTO}. */
    public DeviceKind device() {
        return values.device;
    }

    /** What to do about a missing or present store. Default {@link OpenMode#CREATE_IF_MISSING}. */
    public OpenMode openMode() {
        return values.openMode;
    }

    /** How files are read and written. Default {@link IoMode#DIRECT}. */
    public IoMode ioMode() {
        return values.ioMode;
    }

    /** What becomes of free space in the file. Default {@link FreeSpace#KEEP}. */
    public FreeSpace freeSpace() {
        return values.freeSpace;
    }

    /** The durability of writes that name none. Default {@link Durability#BUFFERED}. */
    public Durability durability() {
        return values.durability;
    }

    /**
     * The size at which a memtable is sealed. Default 0, which means 3/32 of the environment's memory, 1 to 64 MiB; else 64 KiB to 1
     * GiB, of which half the memory for memtables is used at most (15/128 of the environment's, or 80 MiB). A memtable may be sealed
     * earlier when the budget is short, and is where stores that share it are written together: the memtables of all, and one more like the largest,
     * have three quarters of their memory.
     */
    public ByteSize memtable() {
        return values.memtable;
    }

    /**
     * How wide the tree is: a trunk node has up to four times as many children, 32 times where keys are hashed, and gathers up to twice as many
     * runs for a child. Default 8, 4 to 15.
     */
    public int fanout() {
        return values.fanout;
    }

    /** What orders the keys; it cannot change over the life of a store. Default {@link KeyOrder#SORTED}. */
    public KeyOrder keyOrder() {
        return values.keyOrder;
    }

    /**
     * How many bytes at the end of a key tell it from the others of its group; a key that has no more is a group of its own. With {@link
     * Cursor#enterGroup} the keys of a group are read from where the tree's filters say that there are some, instead of from every run.
     * The filters know groups instead of keys then, which costs point reads of absent keys of a group that is there, and {@link
     * #spaceAmplificationTarget} has no effect, because they do not tell what is overwritten. Default 0, which makes no groups, to 1,024; it cannot change over the life of
     * a store. Not with {@link KeyOrder#HASHED}.
     */
    public int groupSuffixBytes() {
        return values.groupSuffixBytes;
    }

    /** How lazily the tree merges. Default {@link CompactionPolicyKind#AUTO}: the store decides by itself. */
    public CompactionPolicyKind policy() {
        return values.policy;
    }

    /**
     * Memtables between two checkpoints. Default 4, 1 to 1,024. Beyond 4, values that are larger than a memtable count by their bytes. More
     * means fewer bytes written, since what is merged on or deleted before the checkpoint is never written, and more log to keep and replay. What is kept unwritten lies in the page cache and takes
     * half of it at most, so that distances of more memtables than that gain little. Under {@link CompactionPolicyKind#AUTO} the store makes
     * it greater by itself while it is written and there is memory for it; {@link StoreStats#checkpointDistance} tells. Can be changed while
     * the store runs: {@link KeyValueStore#tune}.
     */
    public int checkpointDistance() {
        return values.checkpointDistance;
    }

    /**
     * Bytes that the tree's entries take, overwritten and deleted ones included, for each byte of those that are not. Default 1.2, 1.05
     * to 100. While it is estimated to be more, merges in the background remove what is redundant, where most of it is first and with
     * nothing more urgent to merge: what a store takes while it is written without a pause may be more, as may what open snapshots and
     * cursors still see. Less space costs more bytes written. 100 leaves it to the policy: nothing is estimated, and nothing merged for
     * space. Can be changed while the store runs: {@link
     * KeyValueStore#tune}.
     */
    public double spaceAmplificationTarget() {
        return values.spaceAmplificationTarget;
    }

    /**
     * The most the data file may grow to. Default 0: as far as the device goes. At least 4 MiB. Writes that would need more are
     * refused with {@link NoSpaceException}, but those that only delete. A part of it is kept free for merges: as a rule entries take up to
     * two thirds of some tens of MiB and four fifths of much, and of 4 MiB a fifth where values are large. Memtables and the parts that are
     * merged at a time are smaller where it is little. A store that is larger already opens, and grows no more: it takes deletes, is merged within the file that it has, and takes other writes again
     * once less of the file is in use. The log is not counted.
     */
    public ByteSize diskMax() {
        return values.diskMax;
    }

    /**
     * How much a background task reads of the store in a second, from the device and past the cache, to find damage before the page
     * is needed; see {@link StoreListener} and {@link StoreStats#damagedPages()}. Default 0, which reads nothing: how much of the
     * device's bandwidth may go there is not for the store to say. Beside merges without end it is about a MiB a second at most. At least 4
     * KiB.
     */
    public ByteSize scrubPerSecond() {
        return values.scrubPerSecond;
    }

    /** Who is told what happens; not stored with the store, nor printed. */
    public Optional<StoreListener> listener() {
        return Optional.ofNullable(values.listener);
    }

    /** The merge operator, when the store has one. The name must not change over the life of a store. */
    public Optional<MergeOperator> mergeOperator() {
        return Optional.ofNullable(values.mergeOperator);
    }

    /** The compaction filter, when there is one. */
    public Optional<CompactionFilter> compactionFilter() {
        return Optional.ofNullable(values.compactionFilter);
    }

    /** The name of the merge operator, or of the one that the parsed text named; empty when there is none. */
    public String mergeOperatorName() {
        return values.mergeOperatorName;
    }

    /** The name of the compaction filter, or of the one that the parsed text named; empty when there is none. */
    public String compactionFilterName() {
        return values.compactionFilterName;
    }

    /**
     * Reads what {@link #toString} prints: lines of {@code name = value}. Options not named keep their default.
     *
     * <p>Of a merge operator or compaction filter it reads the name alone; give both again with {@link #toBuilder}, else see {@link
     * KeyValueStore}.
     *
     * @throws IllegalArgumentException when a line is not an option or its value is out of range
     */
    public static StoreOptions parse(String text) {
        Builder b = builder();
        int number = 0;
        for (String line : text.lines().toList()) {
            number++;
            String s = line.strip();
            if (s.isEmpty() || s.startsWith("#")) {
                continue;
            }
            int equals = s.indexOf('=');
            if (equals < 0) {
                throw new IllegalArgumentException("options line " + number + " has no '=': " + s);
            }
            String name = s.substring(0, equals).strip();
            String value = s.substring(equals + 1).strip();
            try {
                b.set(name, value);
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException("options line " + number + ": " + e.getMessage(), e);
            }
        }
        return b.build();
    }

    /** Name and printed value of every option, in a fixed order. */
    public Map<String, String> toMap() {
        Map<String, String> map = new LinkedHashMap<>();
        map.put("memory", values.memory.toString());
        map.put("workers", Integer.toString(values.workers));
        map.put("device", values.device.name());
        map.put("openMode", values.openMode.name());
        map.put("ioMode", values.ioMode.name());
        map.put("freeSpace", values.freeSpace.name());
        map.put("durability", values.durability.name());
        map.put("memtable", values.memtable.toString());
        map.put("fanout", Integer.toString(values.fanout));
        map.put("keyOrder", values.keyOrder.name());
        map.put("groupSuffixBytes", Integer.toString(values.groupSuffixBytes));
        map.put("policy", values.policy.name());
        map.put("checkpointDistance", Integer.toString(values.checkpointDistance));
        map.put("spaceAmplificationTarget", Double.toString(values.spaceAmplificationTarget));
        map.put("diskMax", values.diskMax.toString());
        map.put("scrubPerSecond", values.scrubPerSecond.toString());
        map.put("mergeOperator", mergeOperatorName());
        map.put("compactionFilter", compactionFilterName());
        return map;
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        toMap().forEach((name, value) -> text.append(name).append(" = ").append(value).append('\n'));
        return text.toString();
    }

    /** Compares what {@link #toString} prints: operator and filter by name, no listener. */
    @Override
    public boolean equals(Object other) {
        return other instanceof StoreOptions o && toMap().equals(o.toMap());
    }

    @Override
    public int hashCode() {
        return toMap().hashCode();
    }

    static int checkDistance(int memtables) {
        return Builder.within("checkpointDistance", memtables, 1, 1024);
    }

    static double checkSpaceAmplification(double target) {
        if (!(target >= 1.05 && target <= 100)) {
            throw new IllegalArgumentException("spaceAmplificationTarget " + target + " is not within 1.05..100");
        }
        return target;
    }

    /** Collects options; not thread-safe. Every setter refuses a value out of range. */
    public static final class Builder {
        private ByteSize memory = ByteSize.mib(256);
        private int workers = Math.clamp(Runtime.getRuntime().availableProcessors(), 1, 64);
        private DeviceKind device = DeviceKind.AUTO;
        private OpenMode openMode = OpenMode.CREATE_IF_MISSING;
        private IoMode ioMode = IoMode.DIRECT;
        private FreeSpace freeSpace = FreeSpace.KEEP;
        private Durability durability = Durability.BUFFERED;
        private ByteSize memtable = new ByteSize(0);
        private int fanout = 8;
        private KeyOrder keyOrder = KeyOrder.SORTED;
        private int groupSuffixBytes;
        private CompactionPolicyKind policy = CompactionPolicyKind.AUTO;
        private int checkpointDistance = 4;
        private double spaceAmplificationTarget = 1.2;
        private ByteSize diskMax = new ByteSize(0);
        private ByteSize scrubPerSecond = new ByteSize(0);
        private StoreListener listener;
        private MergeOperator mergeOperator;
        private CompactionFilter compactionFilter;
        private String mergeOperatorName = "";
        private String compactionFilterName = "";

        private Builder() {}

        private Builder(Builder other) {
            memory = other.memory;
            workers = other.workers;
            device = other.device;
            openMode = other.openMode;
            ioMode = other.ioMode;
            freeSpace = other.freeSpace;
            durability = other.durability;
            memtable = other.memtable;
            fanout = other.fanout;
            keyOrder = other.keyOrder;
            groupSuffixBytes = other.groupSuffixBytes;
            policy = other.policy;
            checkpointDistance = other.checkpointDistance;
            spaceAmplificationTarget = other.spaceAmplificationTarget;
            diskMax = other.diskMax;
            scrubPerSecond = other.scrubPerSecond;
            listener = other.listener;
            mergeOperator = other.mergeOperator;
            compactionFilter = other.compactionFilter;
            mergeOperatorName = other.mergeOperatorName;
            compactionFilterName = other.compactionFilterName;
        }

        /** See {@link StoreOptions#memory()}. */
        public Builder memory(ByteSize memory) {
            if (memory.bytes() < EnvironmentOptions.MEMORY_MIN.bytes()) {
                throw new IllegalArgumentException(
                        "memory " + memory + " is below the least of " + EnvironmentOptions.MEMORY_MIN);
            }
            this.memory = memory;
            return this;
        }

        /** See {@link StoreOptions#workers()}. */
        public Builder workers(int workers) {
            this.workers = within("workers", workers, 1, 64);
            return this;
        }

        /** See {@link StoreOptions#device()}. */
        public Builder device(DeviceKind device) {
            this.device = Objects.requireNonNull(device, "device");
            return this;
        }

        /** See {@link StoreOptions#openMode()}. */
        public Builder openMode(OpenMode openMode) {
            this.openMode = Objects.requireNonNull(openMode, "openMode");
            return this;
        }

        /** See {@link StoreOptions#ioMode()}. */
        public Builder ioMode(IoMode ioMode) {
            this.ioMode = Objects.requireNonNull(ioMode, "ioMode");
            return this;
        }

        /** See {@link StoreOptions#freeSpace()}. */
        public Builder freeSpace(FreeSpace freeSpace) {
            this.freeSpace = Objects.requireNonNull(freeSpace, "freeSpace");
            return this;
        }

        /** See {@link StoreOptions#durability()}. */
        public Builder durability(Durability durability) {
            this.durability = Objects.requireNonNull(durability, "durability");
            return this;
        }

        /** See {@link StoreOptions#memtable()}. */
        public Builder memtable(ByteSize memtable) {
            if (memtable.bytes() != 0 && (memtable.bytes() < 64 << 10 || memtable.bytes() > 1 << 30)) {
                throw new IllegalArgumentException("memtable " + memtable + " is not 0 nor within 64k..1g");
            }
            this.memtable = memtable;
            return this;
        }

        /** See {@link StoreOptions#fanout()}. */
        public Builder fanout(int fanout) {
            this.fanout = within("fanout", fanout, 4, 15);
            return this;
        }

        /** See {@link StoreOptions#keyOrder()}. */
        public Builder keyOrder(KeyOrder keyOrder) {
            this.keyOrder = Objects.requireNonNull(keyOrder, "keyOrder");
            return this;
        }

        /** See {@link StoreOptions#groupSuffixBytes()}. */
        public Builder groupSuffixBytes(int groupSuffixBytes) {
            this.groupSuffixBytes = within("groupSuffixBytes", groupSuffixBytes, 0, 1024);
            return this;
        }

        /** See {@link StoreOptions#policy()}. */
        public Builder policy(CompactionPolicyKind policy) {
            this.policy = Objects.requireNonNull(policy, "policy");
            return this;
        }

        /** See {@link StoreOptions#checkpointDistance()}. */
        public Builder checkpointDistance(int checkpointDistance) {
            this.checkpointDistance = checkDistance(checkpointDistance);
            return this;
        }

        /** See {@link StoreOptions#spaceAmplificationTarget()}. */
        public Builder spaceAmplificationTarget(double spaceAmplificationTarget) {
            this.spaceAmplificationTarget = checkSpaceAmplification(spaceAmplificationTarget);
            return this;
        }

        /** See {@link StoreOptions#diskMax()}. */
        public Builder diskMax(ByteSize diskMax) {
            if (diskMax.bytes() != 0 && diskMax.bytes() < 4 << 20) {
                throw new IllegalArgumentException("diskMax " + diskMax + " is not 0 nor at least 4m");
            }
            this.diskMax = diskMax;
            return this;
        }

        /** See {@link StoreOptions#scrubPerSecond()}. */
        public Builder scrubPerSecond(ByteSize scrubPerSecond) {
            if (scrubPerSecond.bytes() != 0 && scrubPerSecond.bytes() < 4 << 10) {
                throw new IllegalArgumentException("scrubPerSecond " + scrubPerSecond + " is not 0 nor at least 4k");
            }
            this.scrubPerSecond = scrubPerSecond;
            return this;
        }

        /** See {@link StoreOptions#listener()}; null removes it. */
        public Builder listener(StoreListener listener) {
            this.listener = listener;
            return this;
        }

        /**
         * See {@link StoreOptions#mergeOperator()}; null removes it.
         *
         * @throws IllegalArgumentException when its name cannot be stored, see {@link MergeOperator#name}
         */
        public Builder mergeOperator(MergeOperator mergeOperator) {
            this.mergeOperatorName = mergeOperator == null ? "" : OptionText.storable("merge operator", mergeOperator.name());
            this.mergeOperator = mergeOperator;
            return this;
        }

        /**
         * See {@link StoreOptions#compactionFilter()}; null removes it.
         *
         * @throws IllegalArgumentException when its name cannot be stored, see {@link CompactionFilter#name}
         */
        public Builder compactionFilter(CompactionFilter compactionFilter) {
            this.compactionFilterName = compactionFilter == null ? "" : OptionText.storable("compaction filter", compactionFilter.name());
            this.compactionFilter = compactionFilter;
            return this;
        }

        /**
         * Sets one option from text, by the name and the form that {@link StoreOptions#toMap} prints. Of {@code mergeOperator} and {@code
         * compactionFilter} that is the name alone, which the store is compared with: who lays options over these that have another name, or
         * none, gives the operator and the filter again, after that.
         *
         * @throws IllegalArgumentException when there is no such option or the value is none of it; names the option, or all that there are
         */
        public Builder set(String name, String value) {
            return switch (name) {
                case "memory" -> memory(OptionText.size(name, value));
                case "workers" -> workers(OptionText.number(name, value));
                case "device" -> device(OptionText.constant(DeviceKind.class, name, value));
                case "openMode" -> openMode(OptionText.constant(OpenMode.class, name, value));
                case "ioMode" -> ioMode(OptionText.constant(IoMode.class, name, value));
                case "freeSpace" -> freeSpace(OptionText.constant(FreeSpace.class, name, value));
                case "durability" -> durability(OptionText.constant(Durability.class, name, value));
                case "memtable" -> memtable(OptionText.size(name, value));
                case "fanout" -> fanout(OptionText.number(name, value));
                case "keyOrder" -> keyOrder(OptionText.constant(KeyOrder.class, name, value));
                case "groupSuffixBytes" -> groupSuffixBytes(OptionText.number(name, value));
                case "policy" -> policy(OptionText.constant(CompactionPolicyKind.class, name, value));
                case "checkpointDistance" -> checkpointDistance(OptionText.number(name, value));
                case "spaceAmplificationTarget" -> spaceAmplificationTarget(OptionText.decimal(name, value));
                case "diskMax" -> diskMax(OptionText.size(name, value));
                case "scrubPerSecond" -> scrubPerSecond(OptionText.size(name, value));
                case "mergeOperator" -> {
                    mergeOperatorName = value.isEmpty() ? value : OptionText.storable("merge operator", value);
                    yield this;
                }
                case "compactionFilter" -> {
                    compactionFilterName = value.isEmpty() ? value : OptionText.storable("compaction filter", value);
                    yield this;
                }
                default -> throw new IllegalArgumentException("there is no option '" + name + "'; there are "
                        + String.join(", ", DEFAULTS.toMap().keySet()));
            };
        }

        /**
         * The options as they stand.
         *
         * @throws IllegalArgumentException when two of them contradict each other
         */
        public StoreOptions build() {
            if (groupSuffixBytes > 0 && keyOrder == KeyOrder.HASHED) {
                throw new IllegalArgumentException("groupSuffixBytes " + groupSuffixBytes + " needs keys in order");
            }
            return new StoreOptions(this);
        }

        private static int within(String name, int value, int min, int max) {
            if (value < min || value > max) {
                throw new IllegalArgumentException(name + " " + value + " is not within " + min + ".." + max);
            }
            return value;
        }
    }
}
