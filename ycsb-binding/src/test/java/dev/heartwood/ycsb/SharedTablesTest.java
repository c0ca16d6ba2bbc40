package dev.heartwood.ycsb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.Durability;
import dev.heartwood.StoreOptions;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SharedTablesTest {
    @Test
    void propertiesAreOptions() {
        Properties properties = new Properties();
        properties.setProperty("heartwood.dir", "somewhere");
        properties.setProperty("heartwood.memory", "64m");
        properties.setProperty("heartwood.durability", "sync");
        properties.setProperty("recordcount", "1000");
        StoreOptions options = SharedTables.options(properties);
        assertEquals(64 << 20, options.memory().bytes());
        assertEquals(Durability.SYNC, options.durability());
        properties.setProperty("heartwood.colour", "red");
        String message = assertThrows(IllegalArgumentException.class, () -> SharedTables.options(properties))
                .getMessage();
        assertTrue(message.contains("colour"), message);
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "b", "c", "d", "e", "f"})
    void workloadFilesSumToOne(String letter) throws IOException {
        Properties properties = new Properties();
        try (Reader reader = Files.newBufferedReader(Path.of("workloads/workload" + letter))) {
            properties.load(reader);
        }
        double sum = properties.stringPropertyNames().stream()
                .filter(name -> name.endsWith("proportion"))
                .mapToDouble(name -> Double.parseDouble(properties.getProperty(name)))
                .sum();
        assertEquals(1, sum, 1e-9);
        assertEquals("site.ycsb.workloads.CoreWorkload", properties.getProperty("workload"));
    }
}
