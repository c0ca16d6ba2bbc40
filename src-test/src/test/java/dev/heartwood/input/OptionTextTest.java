package dev.heartwood.input;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.StoreOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Options in text that are refused, by the name of the option. */
class OptionTextTest {
    private static String refusal(String name, String value) {
        return assertThrows(IllegalArgumentException.class, () -> StoreOptions.builder().set(name, value), name).getMessage();
    }

    /** What is no size was refused without saying of which option. */
    @ParameterizedTest
    @ValueSource(strings = {"memory", "memtable", "diskMax", "scrubPerSecond"})
    void whatIsNoSizeIsNamed(String name) {
        assertEquals(name + " is not a size: 'abc' (examples: 4096, 64k, 256m, 4g)", refusal(name, "abc"));
    }

    @Test
    void everyOptionIsNamedWithWhatIsNoneOfIt() {
        for (String name : StoreOptions.defaults().toMap().keySet()) {
            if (!name.equals("mergeOperator") && !name.equals("compactionFilter")) {
                assertTrue(refusal(name, "abc").startsWith(name + " is "), refusal(name, "abc"));
            }
        }
        assertTrue(refusal("mergeOperator", " a").contains("merge operator"), refusal("mergeOperator", " a"));
        assertEquals("", StoreOptions.builder().set("mergeOperator", "").build().mergeOperatorName());
        assertEquals("", StoreOptions.builder().set("compactionFilter", "").build().compactionFilterName());
    }

    @Test
    void whoNamesNoOptionIsToldAllThatThereAre() {
        String refusal = refusal("colour", "red");
        assertEquals(
                "there is no option 'colour'; there are " + String.join(", ", StoreOptions.defaults().toMap().keySet()), refusal);
        String line = assertThrows(IllegalArgumentException.class, () -> StoreOptions.parse("memtable = abc")).getMessage();
        assertTrue(line.startsWith("options line 1: memtable is not a size: 'abc'"), line);
    }
}
