package dev.heartwood.bench.process;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.heartwood.bench.workload.KeySpace;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.TreeSet;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LastKeysTest {
    /** Keys of any length have the last of them in few bytes each: of long ones there was no room for 100,000. */
    @ParameterizedTest
    @CsvSource({"8,1000,100", "16,1000,100", "24,1000,100", "200,1000,100", "24,50,100", "24,100,100", "24,1,1"})
    void asManyAreFromAKeyOnAsAnOrderedSetHas(int keyBytes, int records, int count) {
        KeySpace space = new KeySpace(keyBytes);
        TreeSet<byte[]> all = new TreeSet<>(Arrays::compareUnsigned);
        byte[][] keys = new byte[records][keyBytes];
        for (int i = 0; i < records; i++) {
            space.write(i, MemorySegment.ofArray(keys[i]));
            all.add(keys[i]);
        }
        LastKeys last = LastKeys.of(space, records, count);
        for (byte[] key : keys) {
            assertEquals(Math.min(count, all.tailSet(key).size()), last.countFrom(MemorySegment.ofArray(key)));
        }
    }
}
