package dev.heartwood.engine.merge;

import dev.heartwood.MergeOperator;
import dev.heartwood.engine.base.Entries;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;

/** Every write there has been, in the simplest form: what a tree must show is worked out from it. Keys are ISO-8859-1 strings. */
public final class History {
    /** One write; values are strings, so that a failure can be read. */
    record Version(long sequence, byte kind, String value) {}

    /** Appends operands in order; order matters, so a lost, doubled or misplaced operand shows. */
    public static final class Append implements MergeOperator {
        private final boolean combines;

        public Append(boolean combines) {
            this.combines = combines;
        }

        @Override
        public String name() {
            return "append";
        }

        @Override
        public byte[] merge(byte[] key, byte[] existing, List<byte[]> operands) {
            return bytes((existing == null ? "" : string(existing)) + join(operands));
        }

        @Override
        public byte[] combine(byte[] key, List<byte[]> operands) {
            return combines ? bytes(join(operands)) : null;
        }

        private static String join(List<byte[]> operands) {
            StringBuilder joined = new StringBuilder();
            operands.forEach(operand -> joined.append(string(operand)));
            return joined.toString();
        }
    }

    /** For each key its versions, newest first. */
    private final TreeMap<String, List<Version>> versions = new TreeMap<>();

    private long lastSequence;

    public long lastSequence() {
        return lastSequence;
    }

    /** Notes a write as the newest. */
    Version write(String key, byte kind, String value) {
        Version version = new Version(++lastSequence, kind, value);
        versions.computeIfAbsent(key, k -> new ArrayList<>()).addFirst(version);
        return version;
    }

    /** All keys ever written. */
    public List<String> keys() {
        return List.copyOf(versions.keySet());
    }

    /** What a reader at {@code snapshot} sees. */
    public NavigableMap<String, String> at(long snapshot) {
        TreeMap<String, String> state = new TreeMap<>();
        versions.forEach((key, list) -> {
            String value = fold(list, snapshot);
            if (value != null) {
                state.put(key, value);
            }
        });
        return state;
    }

    /** The value that versions of a key, newest first, come to for a snapshot; null when there is none. */
    static String fold(List<Version> newestFirst, long snapshot) {
        String operands = "";
        boolean any = false;
        for (Version version : newestFirst) {
            if (version.sequence > snapshot) {
                continue;
            }
            if (version.kind == Entries.PUT) {
                return version.value + operands;
            }
            if (version.kind == Entries.DELETE) {
                break;
            }
            operands = version.value + operands;
            any = true;
        }
        return any ? operands : null;
    }

    public static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    public static String string(byte[] bytes) {
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }
}
