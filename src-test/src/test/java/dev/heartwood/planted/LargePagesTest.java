package dev.heartwood.planted;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

/** A kernel whose memory pages are larger than those of a store, as some have on AArch64: the second sync of a log failed there. */
class LargePagesTest {
    @Test
    void everyOpenIsRefusedInPlainWords() throws ReflectiveOperationException {
        PlantedEngine engine = new PlantedEngine(
                List.of("dev.heartwood.engine.os.NativeMemory"),
                List.of("pageBytes"),
                planted -> Edits.atStart(planted, code -> code.loadConstant(LargePages.PAGE_BYTES).ireturn()));
        Class<?> opener = engine.loadClass(LargePages.class.getName());
        ((Runnable) opener.getConstructor().newInstance()).run();
        assertEquals(1, engine.places());
    }
}
