package dev.heartwood.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.DeviceKind;
import dev.heartwood.Durability;
import dev.heartwood.bench.engine.EngineKind;
import dev.heartwood.bench.workload.Phase;
import dev.heartwood.bench.workload.Step;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BenchOptionsTest {
    @Test
    void anOptionWithoutAValueIsNamedOnce() {
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        PrintStream to = new PrintStream(said);
        assertEquals(2, Main.run(new String[] {"--option", "memtable"}, to, to));
        assertTrue(said.toString().startsWith("heartwood bench: Value for option '--option' (NAME=VALUE) should be in KEY=VALUE format"), said.toString());
    }

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

    @Test
    void everyPolicyMeetsEveryDistance() {
        BenchOptions options = parse("--policies", "size_tiered,lazy_leveling", "--distances", "1,64", "--dir", "d");
        options.check();
        assertEquals(
                List.of("size_tiered-1", "size_tiered-64", "lazy_leveling-1", "lazy_leveling-64"),
                options.contestants().stream().map(Contestant::name).toList());
        Contestant last = options.contestants().getLast();
        assertEquals("64", last.settings().options().get("checkpointDistance"));
        assertEquals("LAZY_LEVELING", last.settings().options().get("policy"));
        assertTrue(last.settings().directory().endsWith("d/lazy_leveling-64"));
        List<Contestant> distances = checked("--distances", "2", "--option", "policy=lazy_leveling").contestants();
        assertEquals("lazy_leveling-2", distances.getFirst().name());
        assertEquals(1, distances.size());
    }

    @Test
    void whatTheStoreDecidesIsComparedWithWhatIsFixed() {
        BenchOptions options = parse("--policies", "auto,size_tiered,level_tiered");
        options.check();
        assertEquals(
                List.of("AUTO", "SIZE_TIERED", "LEVEL_TIERED"),
                options.contestants().stream()
                        .map(contestant -> contestant.settings().options().get("policy"))
                        .toList());
    }

    @Test
    void aCycleIsAListOfStepsWithTheirLengths() {
        BenchOptions options = parse("--cycle", "load,read:1m,scan:200k,overwrite,overwrite:3m,idle:20", "--policies", "auto");
        options.check();
        assertEquals(
                List.of(
                        new Step(Phase.LOAD, 0, 0),
                        new Step(Phase.READ, 1_000_000, 0),
                        new Step(Phase.SCAN, 200_000, 0),
                        new Step(Phase.OVERWRITE, 0, 0),
                        new Step(Phase.OVERWRITE, 3_000_000, 0),
                        Step.of(Phase.IDLE, 20)),
                options.steps());
        assertEquals(List.of(Step.of(Phase.LOAD, 3)), parse("--phases", "load", "--seconds", "3").steps());
    }

    @Test
    void everySizeMeetsEveryShareOfMemory() {
        BenchOptions options = parse("--sizes", "1m,10m", "--shares", "14,50");
        options.check();
        List<Contestant> all = options.contestants();
        assertEquals(
                List.of("1m-14pc", "1m-50pc", "10m-14pc", "10m-50pc"),
                all.stream().map(Contestant::name).toList());
        assertEquals(1_000_000, all.getFirst().settings().records());
        assertEquals(17_360_000, all.getFirst().settings().memoryBytes(), "as its name says");
        assertEquals(620_000_000, all.getLast().settings().memoryBytes());
        assertEquals(List.of("1m"), parse("--sizes", "1m").contestants().stream().map(Contestant::name).toList());
    }

    @Test
    void recordsAreSpreadOverStores() {
        BenchOptions options = checked("--stores", "8", "--engines", "heartwood,rocksdb", "--phases", "load,read");
        assertEquals(
                List.of(8, 8),
                options.contestants().stream().map(each -> each.settings().stores()).toList());
        assertTrue(Main.facts(options).lines().getFirst().contains(", 8 stores,"), Main.facts(options).toString());
        BenchOptions compared = checked("--stores", "8,1", "--sizes", "1m", "--phases", "load,read");
        List<Contestant> all = compared.contestants();
        assertEquals(List.of("1m-8-stores", "1m-1-store"), all.stream().map(Contestant::name).toList());
        assertEquals(List.of(8, 1), all.stream().map(each -> each.settings().stores()).toList());
        assertFalse(Main.facts(compared).toString().contains("8 stores,"), "which is of one of them alone");
    }

    @Test
    void hashedKeysAreAnOptionOfTheStore() {
        BenchOptions options = parse("--order", "hashed", "--phases", "load,read,A");
        options.check();
        assertEquals("HASHED", options.settings(EngineKind.HEARTWOOD).options().get("keyOrder"));
        assertEquals(null, parse().settings(EngineKind.HEARTWOOD).options().get("keyOrder"));
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
                "--order hashed | --order hashed has no scans",
                "--engines rocksdb --order hashed --phases load | which is not among --engines",
                "--engines rocksdb,lmdb --option memtable=64m | which is not among --engines",
                "--engines rocksdb --device posix | which is not among --engines",
                "--order hashed --phases load,scan | --order hashed has no scans",
                "--order hashed --phases load,queue | --order hashed has no scans",
                "--stores 0 | --stores 0 is not within",
                "--stores 1,1 --phases load | --stores names something twice",
                "--stores 4 | several --stores have no scans",
                "--stores 4 --phases queue | several --stores have no scans",
                "--stores 4 --phases load --engines heartwood,lmdb | share no memory with --engines lmdb",
                "--stores 1,4 --phases load --engines heartwood,rocksdb | are Heartwood's",
                "--key-bytes 600 --engines lmdb | above LMDB's limit",
                "--value-bytes 0 | --value-bytes 0 is not within",
                "--sizes 1m,0 | --sizes 0 is not within",
                "--shares 13 --records 1m | --shares 13 of 1m records are less than 16m: the least share of so many is 14",
                "--sizes 5m,500k --shares 3,50 | --shares 3 of 500k records are less than 16m: the least share of so many is 28",
                "--sizes 1k --shares 50 | --shares 50 of 1k records are less than 16m: give more records",
                "--shares 0 | --shares 0 is not within",
                "--shares 10,10 | --shares names something twice",
                "--shares 10 --memory 64m | both say how much memory",
                "--sizes 1m --engines rocksdb | are Heartwood's",
                "--memory lots | not a size",
                "--memory 1m | below the least",
                "--threads 0 | --threads 0 is not within",
                "--threads two | 'two' is not an int",
                "--threads 1,2,1 | --threads names something twice: [1, 2, 1]",
                "--phases load,Z | there is no phase 'Z'",
                "--seconds 0 | --seconds 0 is not within",
                "--durability strong | expected one of [NONE, BUFFERED, SYNC]",
                "--device tape | expected one of",
                "--option fanout=99 | fanout 99 is not within",
                "--option colour=red | there is no option 'colour'; there are memory, ",
                "--option memtable=abc | memtable is not a size: 'abc'",
                "--option memory=1g | --option memory: use --memory",
                "--option durability=sync | --option durability: use --durability",
                "--option device=posix | --option device: use --device",
                "--option keyOrder=hashed | --option keyOrder: use --order",
                "--option openMode=open_existing | --option openMode: is not for a benchmark",
                "--option mergeOperator=adds | --option mergeOperator: is not for a benchmark",
                "--option compactionFilter=drops | --option compactionFilter: is not for a benchmark",
                "--option groupSuffixBytes=8 --order hashed --phases load | groupSuffixBytes 8 needs keys in order",
                "--policies none_at_all | expected one of [SIZE_TIERED",
                "--policies size_tiered,size_tiered | names something twice",
                "--policies size_tiered --engines lmdb | Heartwood's",
                "--distances 0 | checkpointDistance 0 is not within",
                "--distances 4,4 | names something twice",
                "--policies auto,size_tiered --option policy=lazy_leveling | --policies and --option policy both say",
                "--distances 1,16 --option checkpointDistance=8 | --distances and --option checkpointDistance both say",
                "--cycle load,read | 'read' is no step",
                "--cycle load:5 | 'load:5' is no step",
                "--cycle load,idle | 'idle' is no step",
                "--cycle load,read:0 | 'read:0' is no step",
                "--cycle load,read:x | 'x' is not a number",
                "--cycle load,sequential | 'sequential' is no step",
                "--cycle read:5,load | has to begin with load",
                "--cycle load --phases read | both say what is run",
                "--cycle load --seconds 5 | --seconds is for --phases",
                "--cycle load --threads 1,2 | one number of --threads",
                "--cycle load,scan:5 --order hashed | --order hashed has no scans",
                "--json target/a/../r --html target/r | --json and --html name the same file: target/r",
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
    void twoNamesOfOneFileAreTheSame(@TempDir Path directory) throws IOException {
        Path file = Files.createFile(directory.resolve("file"));
        Path link = Files.createSymbolicLink(directory.resolve("link"), file);
        BenchOptions options = parse("--json", file.toString(), "--html", link.toString());
        assertThrows(IllegalArgumentException.class, options::check);
        checked("--json", file.toString(), "--html", directory.resolve("other").toString());
    }

    @Test
    void helpTellsEveryOption() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        assertEquals(0, Main.run(new String[] {"--help"}, new PrintStream(out), System.err));
        for (String option : List.of("--engines", "--records", "--verify", "--html", "--device", "--seed", "LAZY_LEVELING")) {
            assertTrue(out.toString().contains(option), option);
        }
    }

    private static BenchOptions checked(String... arguments) {
        BenchOptions options = parse(arguments);
        options.check();
        return options;
    }

    private static BenchOptions parse(String... arguments) {
        BenchOptions options = new BenchOptions();
        Main.commandLine(options).parseArgs(arguments);
        return options;
    }
}
