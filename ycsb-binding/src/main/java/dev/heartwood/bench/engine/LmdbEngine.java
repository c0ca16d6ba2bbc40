package dev.heartwood.bench.engine;

import static org.lmdbjava.EnvFlags.MDB_MAPASYNC;
import static org.lmdbjava.EnvFlags.MDB_NORDAHEAD;
import static org.lmdbjava.EnvFlags.MDB_NOSYNC;
import static org.lmdbjava.EnvFlags.MDB_WRITEMAP;

import dev.heartwood.Durability;
import java.nio.ByteBuffer;
import org.lmdbjava.ByteBufferProxy;
import org.lmdbjava.Cursor;
import org.lmdbjava.Dbi;
import org.lmdbjava.DbiFlags;
import org.lmdbjava.Env;
import org.lmdbjava.EnvFlags;
import org.lmdbjava.GetOp;
import org.lmdbjava.Txn;

/** LMDB, tuned as the package note says. */
final class LmdbEngine implements Engine {
    private static final int LOAD_TRANSACTION_RECORDS = 1000;
    private static final int READERS_MAX = 1024;
    private static final long MAP_BYTES_MIN = 256 << 20;
    /** The map is sparse: its size bounds the file and takes no space. */
    private static final int MAP_BYTES_PER_RAW_BYTE = 8;

    private final Env<ByteBuffer> environment;
    private final Dbi<ByteBuffer> database;
    private final boolean grouped;

    LmdbEngine(EngineSettings settings) {
        grouped = settings.durability() != Durability.SYNC;
        EnvFlags[] flags = grouped
                ? new EnvFlags[] {MDB_NOSYNC, MDB_WRITEMAP, MDB_MAPASYNC, MDB_NORDAHEAD}
                : new EnvFlags[] {MDB_NORDAHEAD};
        environment = Env.create(ByteBufferProxy.PROXY_OPTIMAL)
                .setMapSize(MAP_BYTES_MIN + MAP_BYTES_PER_RAW_BYTE * settings.rawBytes())
                .setMaxReaders(READERS_MAX)
                .open(settings.directory().toFile(), flags);
        database = environment.openDbi((String) null, DbiFlags.MDB_CREATE);
    }

    @Override
    public Session session(RecordBuffer buffer, Access access) {
        return access == Access.LOAD && grouped ? new LoadSession(buffer) : new LmdbSession(buffer);
    }

    @Override
    public void sync() {
        environment.sync(true);
    }

    @Override
    public void settle() {
        sync();
    }

    @Override
    public String describe() {
        return environment.stat() + "\n" + environment.info();
    }

    @Override
    public void close() {
        environment.close();
    }

    private class LmdbSession implements Session {
        final RecordBuffer buffer;
        private Txn<ByteBuffer> snapshot;
        private Cursor<ByteBuffer> cursor;

        LmdbSession(RecordBuffer buffer) {
            this.buffer = buffer;
        }

        private Txn<ByteBuffer> renew() {
            if (snapshot == null) {
                snapshot = environment.txnRead();
            } else {
                snapshot.renew();
            }
            return snapshot;
        }

        @Override
        public void put() {
            try (Txn<ByteBuffer> transaction = environment.txnWrite()) {
                database.put(transaction, buffer.keyBuffer(), buffer.valueBuffer());
                transaction.commit();
            }
        }

        @Override
        public int get() {
            Txn<ByteBuffer> transaction = renew();
            try {
                ByteBuffer value = database.get(transaction, buffer.keyBuffer());
                return value == null ? -1 : copy(value, buffer.resultBuffer());
            } finally {
                transaction.reset();
            }
        }

        private static int copy(ByteBuffer from, ByteBuffer to) {
            to.put(0, from, 0, Math.min(from.remaining(), to.remaining()));
            return from.remaining();
        }

        @Override
        public void delete() {
            try (Txn<ByteBuffer> transaction = environment.txnWrite()) {
                database.delete(transaction, buffer.keyBuffer());
                transaction.commit();
            }
        }

        @Override
        public int scan(int records, ScanVisitor visitor) {
            Txn<ByteBuffer> transaction = renew();
            try {
                if (cursor == null) {
                    cursor = database.openCursor(transaction);
                } else {
                    cursor.renew(transaction);
                }
                int visited = 0;
                boolean onEntry = cursor.get(buffer.keyBuffer(), GetOp.MDB_SET_RANGE);
                while (onEntry && visited < records) {
                    copy(cursor.key(), buffer.scannedKeyBuffer());
                    visitor.record(copy(cursor.val(), buffer.resultBuffer()));
                    visited++;
                    onEntry = visited < records && cursor.next();
                }
                return visited;
            } finally {
                transaction.reset();
            }
        }

        @Override
        public void close() {
            if (cursor != null) {
                cursor.close();
            }
            if (snapshot != null) {
                snapshot.close();
            }
        }
    }

    /** Puts in transactions of many records. Holds LMDB's writer lock while a transaction is open. */
    private final class LoadSession extends LmdbSession {
        private Txn<ByteBuffer> transaction;
        private int records;

        LoadSession(RecordBuffer buffer) {
            super(buffer);
        }

        @Override
        public void put() {
            if (transaction == null) {
                transaction = environment.txnWrite();
            }
            database.put(transaction, buffer.keyBuffer(), buffer.valueBuffer());
            records++;
            if (records == LOAD_TRANSACTION_RECORDS) {
                commit();
            }
        }

        private void commit() {
            transaction.commit();
            transaction.close();
            transaction = null;
            records = 0;
        }

        @Override
        public void close() {
            if (transaction != null) {
                commit();
            }
            super.close();
        }
    }
}
