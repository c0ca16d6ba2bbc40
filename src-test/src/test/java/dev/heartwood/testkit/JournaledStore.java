package dev.heartwood.testkit;

import dev.heartwood.Durability;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.engine.device.MappedFile;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.os.Crc32c;
import dev.heartwood.engine.os.Memory;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.NavigableMap;

/**
 * A {@link TreeStore} whose writes go to a mapped log of records [crc, length, writes], replayed at open up to the first that is
 * not whole: just enough of a durable store to try the crash tests on, with mistakes to plant.
 */
record JournaledStore(Mistake mistake) implements CrashCampaign.Subject {
    /** Mistakes that only a crash shows. */
    enum Mistake {
        NONE,
        DOES_NOT_SYNC,
        DOES_NOT_SYNC_THE_DIRECTORY,
        ACKNOWLEDGES_BEFORE_LOGGING,
        SPLITS_BATCHES,
        DOES_NOT_CHECK_RECORDS
    }

    private static final Path DIRECTORY = Path.of("journaled");
    private static final String FILE = "log";
    private static final int LOG_BYTES = 1 << 20;
    private static final int HEADER_BYTES = 8;

    @Override
    public void verify(SimulatedMachine machine) {
        DifferentialRun.check(machine.files(DIRECTORY).contains(FILE), () -> "the log is gone");
    }

    @Override
    public KeyValueStore open(SimulatedMachine machine) {
        Storage storage = machine.storage(DIRECTORY);
        storage.lock();
        MappedFile file = storage.openMapped(FILE, LOG_BYTES);
        if (mistake != Mistake.DOES_NOT_SYNC_THE_DIRECTORY) {
            storage.syncDirectory();
        }
        Log log = new Log(storage, file, mistake);
        TailMergeOperator operator = new TailMergeOperator();
        NavigableMap<byte[], byte[]> contents = log.replay(operator);
        StoreOptions options = StoreOptions.builder().mergeOperator(operator).build();
        return new TreeStore(contents, options, TreeStore.Bug.NONE, log);
    }

    private static final class Log implements TreeStore.Journal {
        private final Storage storage;
        private final MappedFile file;
        private final Mistake mistake;
        private long end;
        private List<Write> waiting = List.of();

        Log(Storage storage, MappedFile file, Mistake mistake) {
            this.storage = storage;
            this.file = file;
            this.mistake = mistake;
        }

        NavigableMap<byte[], byte[]> replay(TailMergeOperator operator) {
            NavigableMap<byte[], byte[]> map = Model.newMap();
            while (true) {
                long at = file.address() + end;
                int length = Memory.getInt(at + 4);
                boolean fits = length > 0 && end + HEADER_BYTES + length <= LOG_BYTES;
                if (!fits || mistake != Mistake.DOES_NOT_CHECK_RECORDS
                        && Memory.getInt(at) != Crc32c.of(at + 4, 4L + length)) {
                    // What stands after the end must not be taken for a record later.
                    Memory.fill(at, LOG_BYTES - end, 0);
                    file.sync(end, LOG_BYTES - end);
                    return map;
                }
                apply(ByteBuffer.wrap(Memory.bytes(at + HEADER_BYTES, length)), map, operator);
                end += HEADER_BYTES + length;
            }
        }

        private static void apply(ByteBuffer record, NavigableMap<byte[], byte[]> map, TailMergeOperator operator) {
            while (record.remaining() >= 9) {
                Write.Kind kind = Write.Kind.values()[record.get() % 3 & 3];
                byte[] key = new byte[Math.clamp(record.getInt(), 0, record.remaining() - 4)];
                byte[] value = new byte[Math.clamp(record.getInt(), 0, Math.max(0, record.remaining() - key.length))];
                record.get(key).get(value);
                new Write(kind, key, value).applyIn(map, operator);
            }
        }

        @Override
        public void append(List<Write> writes, Durability durability) {
            if (mistake == Mistake.ACKNOWLEDGES_BEFORE_LOGGING) {
                List<Write> before = waiting;
                waiting = writes;
                log(before);
            } else if (mistake == Mistake.SPLITS_BATCHES) {
                writes.forEach(write -> {
                    log(List.of(write));
                    file.sync(0, end);
                });
            } else {
                log(writes);
            }
            if (durability == Durability.SYNC && mistake != Mistake.DOES_NOT_SYNC) {
                sync();
            }
        }

        private void log(List<Write> writes) {
            ByteBuffer record = ByteBuffer.allocate(1 << 18);
            for (Write write : writes) {
                byte[] value = write.value() == null ? new byte[0] : write.value();
                record.put((byte) write.kind().ordinal()).putInt(write.key().length).putInt(value.length);
                record.put(write.key()).put(value);
            }
            int length = record.position();
            long at = file.address() + end;
            Memory.copyFrom(record.array(), 0, at + HEADER_BYTES, length);
            Memory.putInt(at + 4, length);
            Memory.putInt(at, Crc32c.of(at + 4, 4L + length));
            end += HEADER_BYTES + length;
        }

        @Override
        public void sync() {
            file.sync(0, Math.max(end, 1));
        }

        @Override
        public void close() {
            file.close();
            storage.close();
        }
    }
}
