package dev.heartwood.testkit;

import dev.heartwood.MergeOperator;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/**
 * One change of one key. The arrays are not to be changed.
 *
 * @param kind what happens to the key
 * @param key the key
 * @param value the value or the operand; null for a delete
 */
public record Write(Kind kind, byte[] key, byte[] value) {
    /** What can happen to a key. */
    public enum Kind {
        PUT,
        DELETE,
        MERGE
    }

    /** Makes the change in a map. */
    void applyIn(Map<byte[], byte[]> map, MergeOperator mergeOperator) {
        byte[] value = applyTo(map.get(key), mergeOperator);
        if (value == null) {
            map.remove(key);
        } else {
            map.put(key, value);
        }
    }

    /** The value that a key has after this write, given the one before; null stands for none. */
    byte[] applyTo(byte[] existing, MergeOperator mergeOperator) {
        return switch (kind) {
            case PUT -> value;
            case DELETE -> null;
            case MERGE -> mergeOperator.merge(key, existing, List.of(value));
        };
    }

    /** Bytes for a message: all of them when they are few. */
    static String text(byte[] bytes) {
        if (bytes == null) {
            return "nothing";
        }
        HexFormat hex = HexFormat.of();
        return bytes.length <= 40
                ? bytes.length + ":" + hex.formatHex(bytes)
                : bytes.length + ":" + hex.formatHex(bytes, 0, 32) + "...#" + java.util.Arrays.hashCode(bytes);
    }
}
