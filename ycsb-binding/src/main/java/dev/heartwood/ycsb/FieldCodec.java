package dev.heartwood.ycsb;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;

/**
 * Turns the fields of a record into a value and back. Stateless.
 *
 * <pre>
 *   value  = field*                     to the end of the value
 *   field  = length name length bytes
 *   length = 7 bits per byte, least significant first, the top bit set on all but the last byte
 * </pre>
 */
final class FieldCodec {
    private static final int LENGTH_SHIFT_MAX = 28;

    private FieldCodec() {}

    /** The fields as a value, in the order of the map. */
    static byte[] encode(Map<String, byte[]> fields) {
        int size = 0;
        for (Map.Entry<String, byte[]> field : fields.entrySet()) {
            int name = field.getKey().getBytes(StandardCharsets.UTF_8).length;
            size += lengthBytes(name) + name + lengthBytes(field.getValue().length) + field.getValue().length;
        }
        byte[] value = new byte[size];
        int at = 0;
        for (Map.Entry<String, byte[]> field : fields.entrySet()) {
            at = writeBlock(value, at, field.getKey().getBytes(StandardCharsets.UTF_8));
            at = writeBlock(value, at, field.getValue());
        }
        return value;
    }

    private static int lengthBytes(int length) {
        return Math.max(1, (Integer.SIZE - Integer.numberOfLeadingZeros(length) + 6) / 7);
    }

    private static int writeBlock(byte[] value, int start, byte[] block) {
        int at = start;
        int length = block.length;
        while (length > 0x7f) {
            value[at++] = (byte) (length | 0x80);
            length >>>= 7;
        }
        value[at++] = (byte) length;
        System.arraycopy(block, 0, value, at, block.length);
        return at + block.length;
    }

    /** All fields of a value, in their order. */
    static Map<String, byte[]> decode(byte[] value) {
        Map<String, byte[]> fields = new LinkedHashMap<>();
        Reader reader = new Reader(value);
        while (reader.hasNext()) {
            String name = reader.nextName();
            fields.put(name, reader.nextBlock());
        }
        return fields;
    }

    /**
     * Adds fields of a value to {@code result}.
     *
     * @param wanted the names to add; null adds all
     */
    static void decode(byte[] value, Set<String> wanted, Map<String, ByteIterator> result) {
        Reader reader = new Reader(value);
        while (reader.hasNext()) {
            String name = reader.nextName();
            if (wanted == null || wanted.contains(name)) {
                result.put(name, new ByteArrayByteIterator(reader.nextBlock()));
            } else {
                reader.skipBlock();
            }
        }
    }

    /** Walks a value; throws {@link IllegalArgumentException} when it is not one that {@link #encode} made. */
    private static final class Reader {
        private final byte[] value;
        private int at;

        Reader(byte[] value) {
            this.value = value;
        }

        boolean hasNext() {
            return at < value.length;
        }

        String nextName() {
            int length = nextLength();
            String name = new String(value, at, length, StandardCharsets.UTF_8);
            at += length;
            return name;
        }

        byte[] nextBlock() {
            int length = nextLength();
            byte[] block = Arrays.copyOfRange(value, at, at + length);
            at += length;
            return block;
        }

        void skipBlock() {
            int length = nextLength();
            at += length;
        }

        private int nextLength() {
            int length = 0;
            for (int shift = 0; at < value.length && shift <= LENGTH_SHIFT_MAX; shift += 7) {
                int b = value[at++];
                length |= (b & 0x7f) << shift;
                if (b >= 0) {
                    if (length < 0 || length > value.length - at) {
                        break;
                    }
                    return length;
                }
            }
            throw new IllegalArgumentException("not a record: a length before byte " + at + " of " + value.length);
        }
    }
}
