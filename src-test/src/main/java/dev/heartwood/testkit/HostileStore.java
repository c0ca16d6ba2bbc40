package dev.heartwood.testkit;

import dev.heartwood.ByteSize;
import dev.heartwood.Cursor;
import dev.heartwood.Durability;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreException;
import dev.heartwood.StoreOptions;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageType;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.zip.CRC32C;

/**
 * A small store of which one page or log record is replaced by hostile bytes under a checksum that is right, so that they reach the
 * decoders. Whatever they are, the engine has to answer with its own exceptions: no other one, no endless walk, no allocation
 * that the size of the store does not explain. One thread.
 */
public final class HostileStore {
    private static final Path DIRECTORY = SimulatedStoreHost.DIRECTORY;
    private static final String DATA = "data.hw";
    private static final int RECORDS_AT = 2 * PageLayout.PAGE_BYTES;
    private static final int RECORD_HEADER_BYTES = 16;
    private static final int RECORD_KIND = 12;
    private static final int RECORD_IS_ONE = 0x80;
    private static final int RECORD_IS_LONG = 0x40;
    private static final int RECORD_SAYS_DURABLE = 0x20;
    private static final int EDIT_BYTES = 4;
    private static final int ENTRIES_MAX = 100_000;
    private static final long HEAP_BYTES_MAX = 256L << 20;

    /** Where something that has a checksum of its own stands; a record when {@code page} is false. */
    private record Target(String file, long offset, int length, boolean page) {}

    private final StoreOptions options = StoreOptions.builder()
            .memory(EnvironmentOptions.MEMORY_MIN)
            .memtable(ByteSize.kib(64))
            .fanout(4)
            .workers(1)
            .checkpointDistance(1000)
            .mergeOperator(new TailMergeOperator())
            .build();
    private final SimulatedMachine sound;
    private final Map<PageType, List<Target>> targets = new EnumMap<>(PageType.class);
    private final List<Target> records = new ArrayList<>();

    /** A sound store with pages of every type, and a log that is to be replayed. */
    public HostileStore() {
        SimulatedMachine machine = new SimulatedMachine(1);
        try (SteppedEnvironment environment =
                new SteppedEnvironment(1, OptionMatrix.environment(options), machine)) {
            KeyValueStore store = environment.open(DIRECTORY, options);
            History small = new History(2, 400, Durability.BUFFERED);
            while (small.begun() < small.size()) {
                small.advance(store);
                environment.step();
            }
            History large = new History(1, 60, History.Sizes.LARGE, Durability.BUFFERED);
            while (large.begun() < 40) {
                large.advance(store);
                environment.step();
            }
            store.checkpoint();
            while (large.begun() < large.size()) {
                large.advance(store);
            }
            sound = machine.crash(CrashKind.KILL, new SplittableRandom(1));
            store.close();
        }
        for (String file : sound.files(DIRECTORY)) {
            find(file, sound.contents(DIRECTORY, file));
        }
        // Once without counting: what loads classes, and instruments them, allocates more than what uses them.
        read(copy());
    }

    private SimulatedMachine copy() {
        return sound.crash(CrashKind.KILL, new SplittableRandom(1));
    }

    private void find(String file, byte[] contents) {
        for (int at = 0; at + PageLayout.PAGE_BYTES <= contents.length; at += PageLayout.PAGE_BYTES) {
            PageType type = PageType.ofCode(contents[at + PageLayout.TYPE]);
            if (type != null && checksum(contents, at, PageLayout.PAGE_BYTES) == intAt(contents, at)) {
                targets.computeIfAbsent(type, t -> new ArrayList<>())
                        .add(new Target(file, at, PageLayout.PAGE_BYTES, true));
            }
        }
        if (!file.equals(DATA)) {
            int at = RECORDS_AT;
            while (at + RECORD_HEADER_BYTES <= contents.length) {
                long length = recordLength(contents, at);
                if (length < RECORD_HEADER_BYTES || length > contents.length - at) {
                    return;
                }
                records.add(new Target(file, at, (int) length, false));
                at += (int) length + 3 & -4;
            }
        }
    }

    /** The length that a record says it has; 0 for what does not say that it is one. */
    private static long recordLength(byte[] contents, int at) {
        int word = intAt(contents, at + RECORD_KIND);
        if ((word & RECORD_IS_ONE) == 0) {
            return 0;
        }
        boolean isLong = (word & RECORD_IS_LONG) != 0;
        long payload = isLong ? intAt(contents, at + RECORD_HEADER_BYTES) : (word >>> 8 & 0xff) + (word >>> 16);
        return RECORD_HEADER_BYTES + (isLong ? 4 : 0) + ((word & RECORD_SAYS_DURABLE) != 0 ? 4 : 0) + payload;
    }

    private static int intAt(byte[] bytes, int at) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt(at);
    }

    /** Of everything behind the four bytes of the checksum itself. */
    private static int checksum(byte[] bytes, int at, int length) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, at + 4, length - 4);
        return (int) crc.getValue();
    }

    /** The types of pages that the store has. */
    public List<PageType> types() {
        return List.copyOf(targets.keySet());
    }

    /** How many log records the store has. */
    public int records() {
        return records.size();
    }

    /** Replaces bytes of some page of a type, as the input says, and uses the store. */
    public void attackPage(PageType type, byte[] input) {
        List<Target> pages = targets.get(type);
        attack(pages.get(pick(input, pages.size())), input);
    }

    /** Replaces bytes of some log record, as the input says, and uses the store. */
    public void attackRecord(byte[] input) {
        attack(records.get(pick(input, records.size())), input);
    }

    private static int pick(byte[] input, int count) {
        return input.length < 2 ? 0 : ((input[0] & 0xff) << 8 | input[1] & 0xff) % count;
    }

    /** The input is two bytes that pick the target and then edits: a place of two bytes, what to do, and a byte to do it with. */
    private void attack(Target target, byte[] input) {
        SimulatedMachine machine = copy();
        byte[] contents = machine.contents(DIRECTORY, target.file);
        int at = (int) target.offset;
        int seed = checksum(contents, at, target.length) ^ intAt(contents, at);
        ByteBuffer bytes = ByteBuffer.wrap(contents, at, target.length).slice().order(ByteOrder.LITTLE_ENDIAN);
        for (int edit = 2; edit + EDIT_BYTES <= input.length; edit += EDIT_BYTES) {
            int place = 4 + ((input[edit] & 0xff) << 8 | input[edit + 1] & 0xff) % (target.length - 4);
            change(bytes, place, input[edit + 2], input[edit + 3]);
        }
        int length = target.page ? target.length : (int) Math.clamp(recordLength(contents, at), 8, contents.length - at);
        bytes.putInt(0, checksum(contents, at, length) ^ seed);
        machine.place(DIRECTORY, target.file, contents);
        use(machine);
    }

    private static void change(ByteBuffer bytes, int place, byte how, byte with) {
        int room = bytes.limit() - place;
        switch (how & 7) {
            case 0, 1 -> bytes.put(place, with);
            case 2 -> bytes.put(place, (byte) (bytes.get(place) + with));
            case 3 -> bytes.put(place, (byte) (bytes.get(place) ^ 1 << (with & 7)));
            case 4 -> {
                if (room >= 2) {
                    bytes.putShort(place, (short) (with << (with & 15)));
                }
            }
            case 5 -> {
                if (room >= 4) {
                    bytes.putInt(place, with < 0 ? Integer.MAX_VALUE - (with & 15) : with << (with & 31));
                }
            }
            case 6 -> {
                if (room >= 8) {
                    bytes.putLong(place, with < 0 ? Long.MAX_VALUE - (with & 15) : (long) with << (with & 63));
                }
            }
            default -> {
                for (int i = 0; i < Math.min(room, with & 0x7f); i++) {
                    bytes.put(place + i, (byte) (with < 0 ? 0xff : 0));
                }
            }
        }
    }

    private void use(SimulatedMachine machine) {
        var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        read(machine);
        long allocated = threads.getCurrentThreadAllocatedBytes() - before;
        DifferentialRun.check(allocated < HEAP_BYTES_MAX, () -> allocated + " bytes were allocated on the heap");
    }

    private void read(SimulatedMachine machine) {
        try (Storage storage = machine.storage(DIRECTORY)) {
            EngineAccess.problems(storage);
        } catch (StoreException refused) {
            // Verification may find so little whole that it cannot go on.
        }
        try (SteppedEnvironment environment =
                new SteppedEnvironment(1, OptionMatrix.environment(options), machine)) {
            useOpened(environment);
        } catch (StoreException refused) {
            // As it should: at open, in the middle of a walk, or at the end.
        }
    }

    private void useOpened(SteppedEnvironment environment) {
        KeyValueStore store = environment.open(DIRECTORY, options);
        attempt(() -> walk(store, true));
        attempt(() -> walk(store, false));
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < 40; i++) {
            attempt(() -> store.get(History.key(random)));
        }
        attempt(() -> store.put(History.key(random), new byte[100]));
        attempt(store::settle);
        attempt(environment::finish);
        attempt(() -> walk(store, true));
        attempt(store::stats);
        store.close();
    }

    private static void attempt(Runnable use) {
        try {
            use.run();
        } catch (StoreException refused) {
            // Other calls may still succeed.
        }
    }

    private static void walk(KeyValueStore store, boolean forwards) {
        try (Cursor cursor = store.cursor()) {
            int entries = 0;
            for (boolean on = forwards ? cursor.first() : cursor.last(); on; on = forwards ? cursor.next() : cursor.previous()) {
                cursor.key();
                cursor.value();
                DifferentialRun.check(++entries < ENTRIES_MAX, () -> "a walk does not end");
            }
        }
    }
}
