package dev.heartwood.bench.engine;

import dev.heartwood.Durability;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.CompressionType;
import org.rocksdb.DataBlockIndexType;
import org.rocksdb.FlushOptions;
import org.rocksdb.Options;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;
import org.rocksdb.WriteOptions;

/** RocksDB, tuned as the package note says. */
final class RocksEngine implements Engine {
    private static final long MEMTABLE_BYTES_MIN = 1 << 20;
    /** Beside them there is a job that flushes. */
    private static final int COMPACTIONS_MIN = 2;
    private static final long POLL_NANOS = 20_000_000;

    private final RocksDB database;
    private final ReadOptions readOptions;
    private final WriteOptions writeOptions;
    private final boolean logged;
    /** Whether it has nothing but its last level when it is settled. */
    private final boolean compacts;

    /** Everything native, in the order of opening; closed in reverse. */
    private final Deque<AutoCloseable> opened = new ArrayDeque<>();

    private RocksEngine(EngineSettings settings, RocksMemory memory, boolean compacts) {
        this.compacts = compacts;
        logged = settings.durability() != Durability.NONE;
        readOptions = keep(new ReadOptions());
        writeOptions =
                keep(new WriteOptions().setDisableWAL(!logged).setSync(settings.durability() == Durability.SYNC));
        Options options = options(settings, memory);
        try {
            database = keep(RocksDB.open(options, settings.directory().toString()));
        } catch (RocksDBException e) {
            throw new EngineException("open", e);
        }
    }

    static Engine open(EngineSettings settings, boolean compacts) {
        RocksMemory memory = new RocksMemory(settings);
        RocksEngine engine = new RocksEngine(settings, memory, compacts);
        engine.opened.addLast(memory);
        return engine;
    }

    /** Stores that share one cache, to which the memtables of all of them are charged. */
    static Engine openMany(EngineSettings settings, boolean compacts) {
        RocksMemory memory = new RocksMemory(settings);
        return SpreadEngine.open(settings, memory, each -> new RocksEngine(each, memory, compacts));
    }

    private <T extends AutoCloseable> T keep(T closeable) {
        opened.push(closeable);
        return closeable;
    }

    private Options options(EngineSettings settings, RocksMemory memory) {
        boolean fits = settings.fits();
        long memtableBytes = Math.max(memory.memtableBytes() / settings.stores(), MEMTABLE_BYTES_MIN);
        return keep(new Options()
                .setCreateIfMissing(true)
                .setWriteBufferSize(memtableBytes)
                .setMaxWriteBufferNumber(memory.memtables())
                .setRecycleLogFileNum(settings.durability() == Durability.SYNC ? memory.memtables() + 1 : 0)
                .setWriteBufferManager(memory.memtableMemory())
                .setMaxBytesForLevelBase(4 * memtableBytes)
                .setTargetFileSizeBase(Math.max(8 << 20, memtableBytes))
                .setLevelCompactionDynamicLevelBytes(true)
                .setMaxBackgroundJobs(1 + Math.max(COMPACTIONS_MIN, Runtime.getRuntime().availableProcessors()))
                .setCompressionType(CompressionType.NO_COMPRESSION)
                .setMaxOpenFiles(-1)
                .setUseDirectReads(!fits)
                .setUseDirectIoForFlushAndCompaction(!fits)
                .setTableFormatConfig(new BlockBasedTableConfig()
                        .setBlockCache(memory.cache())
                        .setFilterPolicy(keep(new BloomFilter(10)))
                        .setWholeKeyFiltering(true)
                        .setBlockSize(4 << 10)
                        .setDataBlockIndexType(DataBlockIndexType.kDataBlockBinaryAndHash)
                        .setFormatVersion(6)
                        .setCacheIndexAndFilterBlocks(!fits)
                        .setPinL0FilterAndIndexBlocksInCache(!fits)));
    }

    @Override
    public Session session(RecordBuffer buffer, Access access) {
        return new RocksSession(buffer);
    }

    @Override
    public void sync() {
        try {
            if (logged) {
                database.syncWal();
            } else {
                flush();
            }
        } catch (RocksDBException e) {
            throw new EngineException("sync", e);
        }
    }

    private void flush() throws RocksDBException {
        try (FlushOptions options = new FlushOptions().setWaitForFlush(true)) {
            database.flush(options);
        }
    }

    @Override
    public void settle() throws InterruptedException {
        try {
            flush();
            awaitCompactions();
            if (compacts) {
                database.compactRange();
                awaitCompactions();
            }
            sync();
        } catch (RocksDBException e) {
            throw new EngineException("settle", e);
        }
    }

    private void awaitCompactions() throws RocksDBException, InterruptedException {
        awaitCompactions(database::getLongProperty);
    }

    /** Numbers that a store tells of itself. */
    @FunctionalInterface
    interface Properties {
        long value(String name) throws RocksDBException;
    }

    /**
     * Waits until a store has nothing to flush or compact.
     *
     * @throws IllegalStateException when that has failed since it was opened, after which it may be pending for ever
     */
    static void awaitCompactions(Properties properties) throws RocksDBException, InterruptedException {
        while (isPending(properties)) {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            LockSupport.parkNanos(POLL_NANOS);
        }
    }

    private static boolean isPending(Properties properties) throws RocksDBException {
        long errors = properties.value("rocksdb.background-errors");
        if (errors > 0) {
            throw new IllegalStateException("its flushes and compactions have failed " + errors
                    + " times, as they do when the disk is full; its file LOG says why");
        }
        return properties.value("rocksdb.compaction-pending") > 0
                || properties.value("rocksdb.num-running-compactions") > 0
                || properties.value("rocksdb.num-running-flushes") > 0;
    }

    @Override
    public String describe() {
        try {
            return database.getProperty("rocksdb.stats");
        } catch (RocksDBException e) {
            throw new EngineException("describe", e);
        }
    }

    @Override
    public void close() {
        for (AutoCloseable closeable : opened) {
            try {
                closeable.close();
            } catch (Exception e) {
                throw new EngineException("close", e);
            }
        }
        opened.clear();
    }

    private final class RocksSession implements Session {
        private final RecordBuffer buffer;
        private RocksIterator iterator;

        RocksSession(RecordBuffer buffer) {
            this.buffer = buffer;
        }

        @Override
        public void put() {
            try {
                database.put(writeOptions, buffer.keyBuffer(), buffer.valueBuffer());
            } catch (RocksDBException e) {
                throw new EngineException("put", e);
            }
        }

        @Override
        public int get() {
            try {
                return database.get(readOptions, buffer.keyBuffer(), buffer.resultBuffer());
            } catch (RocksDBException e) {
                throw new EngineException("get", e);
            }
        }

        @Override
        public List<byte[]> getAll(List<byte[]> keys, RecordBuffer ignored) {
            try {
                return database.multiGetAsList(readOptions, keys);
            } catch (RocksDBException e) {
                throw new EngineException("multiGet", e);
            }
        }

        @Override
        public void delete() {
            try {
                database.delete(writeOptions, buffer.keyBuffer());
            } catch (RocksDBException e) {
                throw new EngineException("delete", e);
            }
        }

        @Override
        public int scan(int records, ScanVisitor visitor) {
            try {
                if (iterator == null) {
                    iterator = database.newIterator(readOptions);
                } else {
                    iterator.refresh();
                }
                int visited = 0;
                iterator.seek(buffer.keyBuffer());
                while (visited < records && iterator.isValid()) {
                    iterator.key(buffer.scannedKeyBuffer());
                    visitor.record(iterator.value(buffer.resultBuffer()));
                    visited++;
                    if (visited < records) {
                        iterator.next();
                    }
                }
                iterator.status();
                return visited;
            } catch (RocksDBException e) {
                throw new EngineException("scan", e);
            }
        }

        @Override
        public void close() {
            if (iterator != null) {
                iterator.close();
            }
        }
    }
}
