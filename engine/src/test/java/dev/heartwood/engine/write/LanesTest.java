package dev.heartwood.engine.write;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.DeviceKind;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreOptions.IoMode;
import dev.heartwood.engine.background.QueuedWorkers;
import dev.heartwood.engine.base.Clock;
import dev.heartwood.engine.base.Randomness;
import dev.heartwood.engine.device.FileStorage;
import dev.heartwood.engine.store.EngineEnvironment;
import dev.heartwood.engine.store.Surroundings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which lanes writers own, and how many of them a store has files of its log for. */
class LanesTest {
    @TempDir
    Path directory;

    @Test
    void whoIsAloneOwnsTheHintedLane() {
        Lanes lanes = new Lanes(4);
        assertEquals(3, lanes.enter(7));
        assertEquals(0, lanes.enter(7));
        lanes.exit(3);
        assertEquals(3, lanes.enter(3));
    }

    @Test
    void fewOwnTheFirstLaneUnlessItStaysTaken() {
        Lanes lanes = new Lanes(4);
        assertEquals(0, lanes.enterFew(2));
        assertEquals(2, lanes.enterFew(2));
        lanes.exit(0);
        assertEquals(0, lanes.enterFew(2));
    }

    @Test
    void writersThatMeetOftenPartForSomeTime() {
        Lanes lanes = new Lanes(4);
        for (int meetings = 0; meetings < 8; meetings++) {
            assertEquals(0, lanes.enterFew(2));
            assertEquals(2, lanes.enterFew(2));
            lanes.exit(0);
            lanes.exit(2);
        }
        int writes = 0;
        while (lanes.enterFew(2) == 2) {
            lanes.exit(2);
            assertEquals(0, lanes.enterFew(0));
            lanes.exit(0);
            writes++;
        }
        assertTrue(writes > 10_000 && writes < 100_000, writes + " writes");
    }

    /** Meetings that are far apart count for nothing. */
    @Test
    void writersThatMeetSeldomStayTogether() {
        Lanes lanes = new Lanes(4);
        for (int i = 0; i < 100_000; i++) {
            assertEquals(0, lanes.enterFew(2));
            if (i % 100 == 0) {
                assertEquals(2, lanes.enterFew(2));
                lanes.exit(2);
            }
            lanes.exit(0);
        }
    }

    /** A lane has a file of its own, which takes memory. */
    @ParameterizedTest
    @CsvSource({"1, 2", "17, 1"})
    void threadsThatWriteToOneOfManyStoresShareALane(int stores, int lanesUsed) throws Exception {
        try (EngineEnvironment environment = EngineEnvironment.open(
                EnvironmentOptions.builder().build(),
                path -> new FileStorage(path, DeviceKind.POSIX, IoMode.BUFFERED),
                new Surroundings(count -> new QueuedWorkers(new ArrayDeque<>()), Clock.SYSTEM, Randomness.SYSTEM, 2))) {
            List<KeyValueStore> open = new ArrayList<>();
            for (int i = 0; i < stores; i++) {
                open.add(environment.open(directory.resolve("store-" + i), StoreOptions.builder().build()));
            }
            KeyValueStore written = open.getFirst();
            for (int i = 0; i < 8; i++) {
                byte[] key = {(byte) i};
                Thread.ofPlatform().start(() -> written.put(key, key)).join();
            }
            assertEquals(lanesUsed, segments(directory.resolve("store-0")));
        }
    }

    private static long segments(Path store) throws IOException {
        try (Stream<Path> files = Files.list(store)) {
            return files.filter(file -> file.toString().endsWith(".seg")).count();
        }
    }
}
