package dev.heartwood.engine.os;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** How paths are written in memory: in a charset, of which no character but the end has a byte of 0. Thread-safe. */
final class PathText {
    /** In what the JDK itself encodes paths, which may be any charset that a locale has. */
    static final PathText SYSTEM = new PathText(
            Charset.forName(System.getProperty("sun.jnu.encoding", "UTF-8"), StandardCharsets.UTF_8));

    private final Charset charset;

    PathText(Charset charset) {
        this.charset = charset;
    }

    Charset charset() {
        return charset;
    }

    /** The address of a path in memory of {@code arena}. */
    long encode(String path, Arena arena) {
        byte[] bytes = path.getBytes(charset);
        return arena.allocateFrom(ValueLayout.JAVA_BYTE, Arrays.copyOf(bytes, bytes.length + 1)).address();
    }

    /** The path that begins at an offset. */
    String decode(MemorySegment memory, long offset) {
        long end = offset;
        while (memory.get(ValueLayout.JAVA_BYTE, end) != 0) {
            end++;
        }
        return new String(memory.asSlice(offset, end - offset).toArray(ValueLayout.JAVA_BYTE), charset);
    }
}
