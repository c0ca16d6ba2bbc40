package dev.heartwood.bench.engine;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The key and values of one thread's current operation, off the heap, as segments and as the byte buffers
 * beneath them. Belongs to one thread.
 */
public final class RecordBuffer {
    private final ByteBuffer keyBuffer;
    private final ByteBuffer valueBuffer;
    private final ByteBuffer resultBuffer;
    private final ByteBuffer scannedKeyBuffer;
    private final MemorySegment key;
    private final MemorySegment value;
    private final MemorySegment result;
    private final MemorySegment scannedKey;

    /** Room for keys and values of these lengths. */
    public RecordBuffer(int keyBytes, int valueBytes) {
        keyBuffer = direct(keyBytes);
        valueBuffer = direct(valueBytes);
        resultBuffer = direct(valueBytes);
        scannedKeyBuffer = direct(keyBytes);
        key = MemorySegment.ofBuffer(keyBuffer);
        value = MemorySegment.ofBuffer(valueBuffer);
        result = MemorySegment.ofBuffer(resultBuffer);
        scannedKey = MemorySegment.ofBuffer(scannedKeyBuffer);
    }

    private static ByteBuffer direct(int bytes) {
        return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
    }

    /** The key to read, write or scan from. */
    public MemorySegment key() {
        return key;
    }

    /** The value to write. */
    public MemorySegment value() {
        return value;
    }

    /** The value read last. */
    public MemorySegment result() {
        return result;
    }

    /** The key of the record scanned last. */
    public MemorySegment scannedKey() {
        return scannedKey;
    }

    /** The buffer beneath {@link #key}, ready to be read. */
    ByteBuffer keyBuffer() {
        return keyBuffer.clear();
    }

    /** The buffer beneath {@link #value}, ready to be read. */
    ByteBuffer valueBuffer() {
        return valueBuffer.clear();
    }

    /** The buffer beneath {@link #result}, ready to be filled. */
    ByteBuffer resultBuffer() {
        return resultBuffer.clear();
    }

    /** The buffer beneath {@link #scannedKey}, ready to be filled. */
    ByteBuffer scannedKeyBuffer() {
        return scannedKeyBuffer.clear();
    }
}
