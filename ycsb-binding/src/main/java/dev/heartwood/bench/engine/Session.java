package dev.heartwood.bench.engine;

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

    /** Removes {@code key}. */
    void delete();

    /** Visits up to {@code records} records from {@code key} on; the number visited. */
    int scan(int records, ScanVisitor visitor);

    /** Completes what is still grouped. */
    @Override
    void close();
}
