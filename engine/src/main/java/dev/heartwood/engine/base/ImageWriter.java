package dev.heartwood.engine.base;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Builds a stored image of metadata: numbers little-endian or as varints, byte strings with their length. Not thread-safe. */
public final class ImageWriter {
    private byte[] bytes = new byte[256];
    private int length;

    public ImageWriter putByte(int value) {
        reserve(1);
        bytes[length++] = (byte) value;
        return this;
    }

    public ImageWriter putInt(int value) {
        reserve(4);
        for (int shift = 0; shift < 32; shift += 8) {
            bytes[length++] = (byte) (value >>> shift);
        }
        return this;
    }

    public ImageWriter putLong(long value) {
        reserve(8);
        for (int shift = 0; shift < 64; shift += 8) {
            bytes[length++] = (byte) (value >>> shift);
        }
        return this;
    }

    /** Seven bits a byte, low ones first; any value. */
    public ImageWriter putVarint(long value) {
        long rest = value;
        while ((rest & ~0x7fL) != 0) {
            putByte((int) (rest & 0x7f | 0x80));
            rest >>>= 7;
        }
        return putByte((int) rest);
    }

    /** A byte string, or null. */
    public ImageWriter putBytes(byte[] value) {
        putVarint(value == null ? 0 : value.length + 1L);
        if (value != null) {
            reserve(value.length);
            System.arraycopy(value, 0, bytes, length, value.length);
            length += value.length;
        }
        return this;
    }

    public ImageWriter putString(String value) {
        return putBytes(value.getBytes(StandardCharsets.UTF_8));
    }

    /** The image so far. */
    public byte[] toBytes() {
        return Arrays.copyOf(bytes, length);
    }

    private void reserve(int more) {
        if (length + more > bytes.length) {
            bytes = Arrays.copyOf(bytes, Math.max(length + more, 2 * bytes.length));
        }
    }
}
