package dev.heartwood.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.DeviceKind;
import dev.heartwood.Durability;
import dev.heartwood.bench.engine.EngineKind;
import dev.heartwood.bench.workload.Phase;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BenchOptionsTest {
    @Test
    void everyOptionArrives() {
        BenchOptions options = parse(
                "--engines",
                "heartwood,RocksDB",
                "--records",
                "20m",
                "--key-bytes",
                "16",
                "--value-bytes",
                "200",
                "--memory",
                "256m",
                "--threads",
                "1,2",
                "--phases",
                "load,a,scanlong",
                "--seconds",
                "3",
                "--durability",
                "sync",
                "--device",
                "posix",
                "--option",
                "fanout=12",
                "--option",
                "memtable=1m",
                "--dir",
                "d",
                "--json",
                "j",
                "--html",
                "h",
                "--verify");
        options.check();
        assertEquals(List.of(EngineKind.HEARTWOOD, EngineKind.ROCKSDB), options.engines);
        assertEquals(20_000_000, options.records.value());
        assertEquals(256 << 20, options.memoryBytes());
        assertEquals(List.of(1, 2), options.threads);
        assertEquals(List.of(Phase.LOAD, Phase.A, Phase.SCANLONG), options.phases);
        assertEquals(Durability.SYNC, options.durability);
        assertEquals(DeviceKind.POSIX, options.device);
        assertEquals("12", options.settings(EngineKind.HEARTWOOD).options().get("fanout"));
        assertTrue(options.verify);
        assertTrue(options.settings(EngineKind.ROCKSDB).directory().endsWith("d/rocksdb"));
    }

    @Test
    void withoutArgumentsItIsTheMainJob() {
        BenchOptions options = parse();
        options.check();
        assertEquals(List.of(EngineKind.HEARTWOOD), options.engines);
        assertEquals(2_000_000, options.records.value());
        assertEquals("[load, A, B, C, D, E, F]", options.phases.toString());
        assertEquals(24 << 20, options.memoryBytes(), "a tenth of 248 MB, in whole MiB");
        assertEquals(16 << 20, parse("--records", "10k").memoryBytes());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--engines leveldb | there is no engine 'leveldb'",
                "--engines lmdb,lmdb | names an engine twice",
                "--records many | 'many' is not a number",
                "--records 0 | --records 0 is not within",
                "--records 3g | --records 3000000000 is not within",
                "--records 1m --key-bytes 9 | --key-bytes 9 is too short for 1000000 records",
                "--key-bytes 5 | --key-bytes 5 is not within",
                "--key-bytes 600 --engines lmdb | above LMDB's limit",
                "--value-bytes 0 | --value-bytes 0 is not within",
                "--memory lots | not a size",
                "--memory 1m | below the least",
                "--threads 0 | --threads 0 is not within",
                "--threads two | 'two' is not an int",
                "--phases load,Z | there is no phase 'Z'",
                "--seconds 0 | --seconds 0 is not within",
                "--durability strong | expected one of [NONE, BUFFERED, SYNC]",
                "--device tape | expected one of",
                "--option fanout=99 | fanout 99 is not within",
                "--option colour=red | there is no option 'colour'",
                "--frobnicate | --frobnicate",
                "stray | stray",
            })
    void badOptionsAreNamedAndExitWithTwo(String arguments, String message) {
        ByteArrayOutputStream errors = new ByteArrayOutputStream();
        int code =
                Main.run(arguments.split(" "), new PrintStream(new ByteArrayOutputStream()), new PrintStream(errors));
        assertEquals(2, code);
        assertTrue(errors.toString().contains(message), errors.toString());
    }

    @Test
    void helpTellsEveryOption() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        assertEquals(0, Main.run(new String[] {"--help"}, new PrintStream(out), System.err));
        for (String option : List.of("--engines", "--records", "--verify", "--html", "--device", "--seed")) {
            assertTrue(out.toString().contains(option), option);
        }
    }

    private static BenchOptions parse(String... arguments) {
        BenchOptions options = new BenchOptions();
        Main.commandLine(options).parseArgs(arguments);
        return options;
    }
}
