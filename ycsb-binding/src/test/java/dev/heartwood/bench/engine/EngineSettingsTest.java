package dev.heartwood.bench.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.DeviceKind;
import dev.heartwood.Durability;
import dev.heartwood.StoreOptions;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

class EngineSettingsTest {
    private final EngineSettings settings = new EngineSettings(
            Path.of("a dir=x"),
            3,
            1_000,
            24,
            100,
            64 << 20,
            Durability.SYNC,
            DeviceKind.JNR,
            Map.of("memtable", "1m", "fanout", "12"));

    @Test
    void argumentsCarryEverything() {
        assertEquals(settings, EngineSettings.parse(settings.toArguments()));
    }

    @Test
    void heartwoodGetsTheOptions() {
        StoreOptions options = settings.storeOptions();
        assertEquals(64 << 20, options.memory().bytes());
        assertEquals(Durability.SYNC, options.durability());
        assertEquals(DeviceKind.JNR, options.device());
        assertEquals(12, options.fanout());
    }

    @Test
    void fitsMeansAFifthMoreThanTheData() {
        assertTrue(settings.fits());
        assertFalse(new EngineSettings(
                        Path.of("x"), 1, 1_000_000, 24, 100, 130 << 20, Durability.NONE, DeviceKind.AUTO, Map.of())
                .fits());
    }

    @Test
    void unknownEnginesAreNamed() {
        String message = assertThrows(IllegalArgumentException.class, () -> EngineKind.parse("leveldb"))
                .getMessage();
        assertTrue(message.contains("leveldb") && message.contains("rocksdb"), message);
    }
}
