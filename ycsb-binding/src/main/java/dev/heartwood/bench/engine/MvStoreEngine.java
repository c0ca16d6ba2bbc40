package dev.heartwood.bench.engine;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import dev.heartwood.Durability;
import java.lang.foreign.MemorySegment;
import org.h2.mvstore.Cursor;
import org.h2.mvstore.MVMap;
import org.h2.mvstore.MVStore;
import org.h2.mvstore.type.ByteArrayDataType;

/** H2's MVStore, tuned as the package note says. */
final class MvStoreEngine implements Engine {
    private static final int CACHE_SEGMENTS = 16;

    private final MVStore store;
    private final MVMap<byte[], byte[]> map;
    private final boolean synced;

    MvStoreEngine(EngineSettings settings) {
        synced = settings.durability() == Durability.SYNC;
        store = new MVStore.Builder()
                .fileName(settings.directory().resolve("store.mv").toString())
                .cacheSize((int) Math.max(1, settings.memoryBytes() >> 20))
                .cacheConcurrency(CACHE_SEGMENTS)
                .open();
        map = store.openMap(
                "records",
                new MVMap.Builder<byte[], byte[]>()
                        .keyType(ByteArrayDataType.INSTANCE)
                        .valueType(ByteArrayDataType.INSTANCE));
    }

    @Override
    public Session session(RecordBuffer buffer, Access access) {
        return new MvStoreSession(buffer);
    }

    @Override
    public void sync() {
        store.commit();
        store.sync();
    }

    @Override
    public void settle() {
        sync();
    }

    @Override
    public String describe() {
        return "fill rate " + store.getFillRate() + " %, cache " + store.getCacheSizeUsed() + " MB of "
                + store.getCacheSize() + " MB";
    }

    @Override
    public void close() {
        store.close();
    }

    private final class MvStoreSession implements Session {
        private final RecordBuffer buffer;

        MvStoreSession(RecordBuffer buffer) {
            this.buffer = buffer;
        }

        @Override
        public void put() {
            map.put(buffer.key().toArray(JAVA_BYTE), buffer.value().toArray(JAVA_BYTE));
            acknowledge();
        }

        private void acknowledge() {
            if (synced) {
                sync();
            }
        }

        @Override
        public int get() {
            byte[] value = map.get(buffer.key().toArray(JAVA_BYTE));
            return value == null ? -1 : copy(value, buffer.result());
        }

        private static int copy(byte[] from, MemorySegment to) {
            MemorySegment.copy(from, 0, to, JAVA_BYTE, 0, (int) Math.min(from.length, to.byteSize()));
            return from.length;
        }

        @Override
        public void delete() {
            map.remove(buffer.key().toArray(JAVA_BYTE));
            acknowledge();
        }

        @Override
        public int scan(int records, ScanVisitor visitor) {
            int visited = 0;
            Cursor<byte[], byte[]> cursor = map.cursor(buffer.key().toArray(JAVA_BYTE));
            while (visited < records && cursor.hasNext()) {
                copy(cursor.next(), buffer.scannedKey());
                visitor.record(copy(cursor.getValue(), buffer.result()));
                visited++;
            }
            return visited;
        }

        @Override
        public void close() {}
    }
}
