package dev.heartwood.engine.os;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class Crc32cTest {
    private final MemoryPool pool = MemoryPool.open(1 << 20);

    @AfterEach
    void close() {
        pool.close();
    }

    @Test
    void knownValues() {
        long a = pool.allocate(4096);
        assertEquals(0, Crc32c.of(a, 0));
        byte[] digits = "123456789".getBytes(StandardCharsets.US_ASCII);
        Memory.copyFrom(digits, 0, a, digits.length);
        assertEquals(0xE3069283, Crc32c.of(a, digits.length));
        Memory.fill(a, 32, 0);
        assertEquals(0x8A9136AA, Crc32c.of(a, 32));
        Memory.fill(a, 32, 0xff);
        assertEquals(0x62A8AB43, Crc32c.of(a, 32));
    }

    @Test
    void chainsOverEverySplit() {
        long seed = 0x9c3c;
        byte[] bytes = new byte[70];
        new SplittableRandom(seed).nextBytes(bytes);
        long a = pool.allocate(4096);
        Memory.copyFrom(bytes, 0, a, bytes.length);
        for (int length = 0; length <= bytes.length; length++) {
            CRC32C expected = new CRC32C();
            expected.update(bytes, 0, length);
            assertEquals((int) expected.getValue(), Crc32c.of(a, length));
            for (int split = 0; split <= length; split++) {
                int chained = Crc32c.update(Crc32c.of(a, split), a + split, length - split);
                assertEquals((int) expected.getValue(), chained, "seed " + seed + ", " + split + " of " + length);
            }
        }
    }

    @Test
    void combinesOverEverySplit() {
        SplittableRandom random = new SplittableRandom(3);
        byte[] bytes = new byte[100_000];
        random.nextBytes(bytes);
        long a = pool.allocate(bytes.length);
        Memory.copyFrom(bytes, 0, a, bytes.length);
        for (int i = 0; i < 2000; i++) {
            int length = i < 100 ? i : random.nextInt(bytes.length);
            int split = random.nextInt(length + 1);
            int first = Crc32c.of(a, split);
            int second = Crc32c.of(a + split, length - split);
            int all = Crc32c.of(a, length);
            assertEquals(all, Crc32c.combine(first, second, length - split), split + " of " + length);
            assertEquals(second, Crc32c.combine(first, all, length - split), split + " of " + length);
        }
    }

    /** Of addresses that lie further apart than a budget of 16 GiB. */
    @Test
    void allocatesNothingForManyGibibytes() {
        long gibibytes = 40;
        int flags = NativeMemory.MAP_PRIVATE | NativeMemory.MAP_ANONYMOUS;
        long start = NativeMemory.map(gibibytes << 30, NativeMemory.PROT_READ, flags, -1, 0);
        assertTrue(start > 0);
        MemoryRegions.addMapping(start, gibibytes << 30);
        try {
            int zeroes = sumOfEach(start, gibibytes);
            ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
            long bytesPerCall = Long.MAX_VALUE;
            for (int round = 0; round < 40 && bytesPerCall > 0; round++) {
                long before = threads.getCurrentThreadAllocatedBytes();
                for (int i = 0; i < 1_000; i++) {
                    assertTrue(zeroes == sumOfEach(start, gibibytes));
                }
                bytesPerCall = (threads.getCurrentThreadAllocatedBytes() - before) / (1_000 * gibibytes);
            }
            assertEquals(0, bytesPerCall);
        } finally {
            MemoryRegions.remove(start);
            NativeMemory.unmap(start, gibibytes << 30);
        }
    }

    private static int sumOfEach(long start, long gibibytes) {
        int sum = 0;
        for (long i = 0; i < gibibytes; i++) {
            sum += Crc32c.of(start + (i << 30), 64);
        }
        return sum;
    }

    @Test
    void allocatesNothingOnceCompiled() {
        long a = pool.allocate(8192);
        Memory.fill(a, 8192, 7);
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long bytesPerCall = Long.MAX_VALUE;
        for (int round = 0; round < 40 && bytesPerCall > 0; round++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            int crc = 0;
            for (int i = 0; i < 20_000; i++) {
                crc = Crc32c.update(crc, a + (i & 255), 100);
            }
            assertTrue(crc != 0);
            bytesPerCall = (threads.getCurrentThreadAllocatedBytes() - before) / 20_000;
        }
        assertEquals(0, bytesPerCall);
    }
}
