package dev.heartwood.engine.filter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** Space and false positives of maplets from small to large, with the 8 branches of a full bundle. */
class MapletSizeTest {
    private static final int BRANCHES = 8;
    private static final int ABSENT_KEYS = 200_000;
    private static final long NATIVE_BYTES_MAX = 400L << 20;

    @Test
    void aMapletOf200ThousandKeys() {
        check(200_000);
    }

    /** In a process of their own, where no assertion looks every address up. */
    @Test
    void mapletsOf2And16MillionKeys() throws IOException, InterruptedException {
        String java = System.getProperty("java.home") + File.separator + "bin" + File.separator + "java";
        String classes = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
        Process process = new ProcessBuilder(
                        java,
                        "-Xmx128m",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        classes,
                        MapletSizeTest.class.getName(),
                        "2000000",
                        "16000000")
                .redirectErrorStream(true)
                .start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), output);
    }

    /** Checks maplets with the numbers of keys given. */
    public static void main(String[] arguments) {
        for (String keys : arguments) {
            check(Integer.parseInt(keys));
        }
    }

    private static void check(int keys) {
        try (MapletFixture fixture = new MapletFixture(NATIVE_BYTES_MAX, 48 << 20, 1 << 30)) {
            MapletBuilder builder = fixture.builder();
            FingerprintBuffer[] buffers = new FingerprintBuffer[BRANCHES];
            for (int branch = 0; branch < BRANCHES; branch++) {
                buffers[branch] = new FingerprintBuffer(fixture.pool);
                for (long key = branch; key < keys; key += BRANCHES) {
                    buffers[branch].add(MapletFixture.hashOf(key));
                }
                builder.add(buffers[branch], branch);
            }
            Maplet maplet = builder.build();
            double bitsPerKey = maplet.bytes() * 8.0 / keys;
            assertTrue(bitsPerKey <= 16, maplet + ": " + bitsPerKey + " bits a key");
            assertTrue(maplet.entries() <= keys && maplet.entries() > keys - keys / 100, maplet.toString());
            lookUp(fixture, maplet, keys);
            for (FingerprintBuffer buffer : buffers) {
                buffer.close();
            }
            assertEquals(0, fixture.pool.allocated());
        }
    }

    private static void lookUp(MapletFixture fixture, Maplet maplet, int keys) {
        int slot = fixture.epochs.enter();
        for (long key = 0; key < keys; key += keys < 300_000 ? 1 : 13) {
            long values = maplet.lookup(fixture.file, MapletFixture.hashOf(key));
            assertTrue((values >>> key % BRANCHES & 1) != 0, () -> "a key is missing of " + maplet);
        }
        int falsePositives = 0;
        for (long key = keys; key < keys + ABSENT_KEYS; key++) {
            falsePositives += maplet.lookup(fixture.file, MapletFixture.hashOf(key)) != 0 ? 1 : 0;
        }
        fixture.epochs.exit(slot);
        double rate = falsePositives / (double) ABSENT_KEYS;
        double expected = maplet.entries() / (double) (1L << maplet.fingerprintBits());
        assertTrue(rate < 0.008, maplet + ": " + rate);
        assertEquals(expected, rate, expected * 0.2 + 0.0002, maplet.toString());
    }
}
