package dev.heartwood.testkit;

import dev.heartwood.MergeOperator;
import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.List;

/**
 * Appends operands to the value and keeps the last {@value #TAIL_BYTES} bytes after the last byte 0xff; where none are
 * left, the key is removed. It depends on the order of operands, so that an engine that confuses it is found out, and it is associative.
 */
public final class TailMergeOperator implements MergeOperator {
    static final int TAIL_BYTES = 64;

    @Override
    public String name() {
        return "tail";
    }

    @Override
    public byte[] merge(byte[] key, byte[] existing, List<byte[]> operands) {
        byte[] all = concatenate(existing, operands);
        int cut = lastMark(all) + 1;
        return cut == all.length
                ? null
                : Arrays.copyOfRange(all, Math.max(cut, all.length - TAIL_BYTES), all.length);
    }

    @Override
    public byte[] combine(byte[] key, List<byte[]> operands) {
        byte[] all = concatenate(null, operands);
        int cut = Math.max(lastMark(all), all.length - TAIL_BYTES);
        return Arrays.copyOfRange(all, Math.max(cut, 0), all.length);
    }

    private static byte[] concatenate(byte[] existing, List<byte[]> operands) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        if (existing != null) {
            all.writeBytes(existing);
        }
        operands.forEach(all::writeBytes);
        return all.toByteArray();
    }

    private static int lastMark(byte[] bytes) {
        int i = bytes.length - 1;
        while (i >= 0 && bytes[i] != (byte) 0xff) {
            i--;
        }
        return i;
    }
}
