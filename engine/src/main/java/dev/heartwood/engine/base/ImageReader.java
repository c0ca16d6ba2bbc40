package dev.heartwood.engine.base;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Reads what {@link ImageWriter} built. Every read is checked against the image's bounds, whatever the bytes are; a violation
 * throws {@link MalformedImageException}. Not thread-safe.
 */
public final class ImageReader {
    /** The image does not hold what it should. */
    public static final class MalformedImageException extends RuntimeException {
        private static final long serialVersionUID = 1;

        public MalformedImageException(String message) {
            super(message);
        }
    }

    private final byte[] bytes;
    private int position;

    public ImageReader(byte[] bytes) {
        this.bytes = bytes;
    }

    public int getByte() {
        require(1);
        return bytes[position++] & 0xff;
    }

    public int getInt() {
        require(4);
        int value = 0;
        for (int shift = 0; shift < 32; shift += 8) {
            value |= (bytes[position++] & 0xff) << shift;
        }
        return value;
    }

    public long getLong() {
        require(8);
        long value = 0;
        for (int shift = 0; shift < 64; shift += 8) {
            value |= (bytes[position++] & 0xffL) << shift;
        }
        return value;
    }

    public long getVarint() {
        long value = 0;
        for (int shift = 0; shift < 70; shift += 7) {
            int b = getByte();
            value |= (long) (b & 0x7f) << shift;
            if (b < 0x80) {
                return value;
            }
        }
        throw new MalformedImageException("number longer than 10 bytes at byte " + position);
    }

    /** A count of things of which each takes at least one byte of the image, so that it bounds what is allocated for them. */
    public int getCount() {
        return getCount(bytes.length - position);
    }

    /** A number from 0 to {@code max}. */
    public int getCount(int max) {
        long value = getVarint();
        if (value < 0 || value > max) {
            throw new MalformedImageException("count " + value + " is over " + max + " at byte " + position);
        }
        return (int) value;
    }

    /** A byte string, or null. */
    public byte[] getBytes() {
        long length = getVarint() - 1;
        if (length < 0) {
            return null;
        }
        if (length > bytes.length - position) {
            throw new MalformedImageException("string of " + length + " bytes at byte " + position + " of " + bytes.length);
        }
        byte[] value = Arrays.copyOfRange(bytes, position, position + (int) length);
        position += (int) length;
        return value;
    }

    /** A byte string that must not be null. */
    public byte[] getPresentBytes() {
        byte[] value = getBytes();
        if (value == null) {
            throw new MalformedImageException("missing string at byte " + position);
        }
        return value;
    }

    public String getString() {
        return new String(getPresentBytes(), StandardCharsets.UTF_8);
    }

    /** Bytes not read yet. */
    public int remaining() {
        return bytes.length - position;
    }

    private void require(int count) {
        if (count > bytes.length - position) {
            throw new MalformedImageException("image ends at byte " + bytes.length);
        }
    }
}
