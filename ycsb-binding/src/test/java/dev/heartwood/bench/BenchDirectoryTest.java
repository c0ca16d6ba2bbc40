package dev.heartwood.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a run leaves in the directory that nobody has named. */
class BenchDirectoryTest {
    @TempDir
    Path directory;

    /** All that had a note were deleted, such as those of a run that named the same directory to keep them. */
    @Test
    void storesOfOthersStay() throws IOException, InterruptedException {
        Path stores = Files.createDirectory(directory.resolve("heartwood-bench"));
        Files.writeString(Files.createDirectory(stores.resolve("mvstore")).resolve("data"), "others' records");
        Files.writeString(stores.resolve("mvstore.properties"), "shape=24+100\nrecords=5000\nloaded=5000\n");
        Files.createDirectory(stores.resolve("rocksdb-sequential"));
        Files.writeString(stores.resolve("rocksdb-sequential.properties"), "shape=24+100\nrecords=5000\nloaded=5000\n");
        List<String> command = List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED", "-cp", System.getProperty("java.class.path"), Main.class.getName(),
                "--engines", "lmdb", "--records", "1k", "--phases", "load,sequential");
        Process process = new ProcessBuilder(command).directory(directory.toFile()).redirectErrorStream(true).start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), said);
        try (Stream<Path> left = Files.list(stores)) {
            assertEquals(
                    List.of("mvstore", "mvstore.properties", "rocksdb-sequential", "rocksdb-sequential.properties"),
                    left.map(file -> file.getFileName().toString()).sorted().toList());
        }
    }
}
