package dev.heartwood.engine.os;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.Charset;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The system's charset is whatever the locale has. */
class PathTextTest {
    @ParameterizedTest
    @CsvSource({"UTF-8, größer 木", "US-ASCII, plain", "ISO-8859-15, 5 €", "GBK, 心材", "GB18030, 心材 €", "Shift_JIS, 心材"})
    void whatIsWrittenIsRead(String charset, String path) {
        PathText text = new PathText(Charset.forName(charset));
        try (Arena arena = Arena.ofConfined()) {
            long address = text.encode(path, arena);
            MemorySegment memory = MemorySegment.ofAddress(address).reinterpret(path.getBytes(Charset.forName(charset)).length + 1);
            assertEquals(path, text.decode(memory, 0));
            assertEquals(path.substring(1), text.decode(memory, path.substring(0, 1).getBytes(Charset.forName(charset)).length));
        }
    }
}
