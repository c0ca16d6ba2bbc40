package dev.heartwood.bench.engine;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** One thread's way to an engine. Every operation works on the {@link RecordBuffer} the session was made with. */
public interface Session extends AutoCloseable {
    /** Shown each record of a scan, in the buffer's {@code scannedKey} and {@code result}. */
    @FunctionalInterface
    interface ScanVisitor {
        /** Called once per record, in key order. */
        void record(int valueLength);
    }

    /** Sets the value of {@code key} to {@code value}. */
    void put();

    /** Copies the value of {@code key} to {@code result}; its length, or -1 when there is none. */
    int get();

    /** The values of many keys, each at its key's place, null where there is none; where an engine has no call for that, one after the other. */
    default List<byte[]> getAll(List<byte[]> keys, RecordBuffer buffer) {
        List<byte[]> values = new ArrayList<>(keys.size());
        for (byte[] key : keys) {
            buffer.key().copyFrom(MemorySegment.ofArray(key));
            int length = get();
            values.add(length < 0 ? null : buffer.result().asSlice(0, length).toArray(JAVA_BYTE));
        }
        return values;
    }

    /** Removes {@code key}. */
    void delete();

    /** Visits up to {@code records} records from {@code key} on; the number visited. */
    int scan(int records, ScanVisitor visitor);

    /** Completes what is still grouped. */
    @Override
    void close();
}
