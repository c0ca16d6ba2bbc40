package dev.heartwood.bench.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.DeviceKind;
import dev.heartwood.Durability;
import dev.heartwood.bench.engine.EngineKind;
import dev.heartwood.bench.engine.EngineSettings;
import dev.heartwood.bench.process.EngineClient.Verification;
import dev.heartwood.bench.process.PhaseResult;
import java.io.StringReader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.xml.sax.InputSource;

class ReportTest {
    private static final RunFacts FACTS = new RunFacts(List.of(new RunFacts.Part("a", EngineKind.HEARTWOOD, 1000, 1 << 20)), 24, 100, "none", "", "m");

    private final List<PhaseResult> results = List.of(
            result("heartwood", "load", 1_000_000, 1.2),
            result("heartwood", "load-settle", 0, 1.3),
            result("rocksdb", "load", 250_000, 4.4),
            result("heartwood", "read", 500_000, 0),
            result("rocksdb", "read", 1_000_000, 0));

    @Test
    void tablesSetEnginesAgainstEachOther() {
        String text = new TextReport(oneRound(results)).text();
        assertTrue(
                text.lines().anyMatch(l -> l.startsWith("heartwood") && l.contains("1.00M") && l.endsWith("4.00")),
                text);
        assertTrue(text.lines().anyMatch(l -> l.startsWith("rocksdb") && l.contains("0.25")), text);
        assertTrue(text.contains("  settled"), text);
    }

    @Test
    void thePageIsWellFormed() throws Exception {
        RunFacts facts = new RunFacts(FACTS.parts(), 24, 100, "none", "", "a <machine>");
        requireWellFormed(new HtmlReport(facts, oneRound(results)).page());
    }

    /** Whatever sizes and shares were compared, the facts were those of the default, and told no option. */
    @Test
    void theFactsAreThoseOfWhatWasCompared() {
        RunFacts.Part small = new RunFacts.Part("1m-14pc", EngineKind.HEARTWOOD, 1_000_000, 16 << 20);
        RunFacts.Part large = new RunFacts.Part("5m-4pc", EngineKind.HEARTWOOD, 5_000_000, 24_800_000);
        EngineSettings settings = new EngineSettings(
                Path.of("d"), 1, 2_000_000, 24, 100, 24 << 20, Durability.SYNC, DeviceKind.POSIX, Map.of("keyOrder", "HASHED", "fanout", "12"));
        RunFacts facts = RunFacts.of(List.of(small, large), settings, Verification.ON, 1000);
        List<String> lines = List.of(
                "records of 24 + 100 bytes, durability sync, device posix, fanout=12, keyOrder=HASHED, every value checked, "
                        + "after a warm-up with 1,000 records",
                "1m-14pc: 1,000,000 records (124 MB), memory 16m, 14 % of that",
                "5m-4pc: 5,000,000 records (620 MB), memory 24.8 MB, 4 % of that");
        assertEquals(lines, facts.lines().subList(0, 3));
        String page = new HtmlReport(facts, oneRound(results)).page();
        assertTrue(page.contains(String.join("<br>", lines)), page);
        assertEquals(RunFacts.LATENCY, facts.lines().getLast());
        assertTrue(page.contains("<br>latencies are service times"), page);
        assertEquals("a: 1,000 records of 24 + 100 bytes (124 kB), memory 1m, none", FACTS.lines().getFirst());
    }

    /** An engine that put its work off was shown faster for it, and the page did not tell how long the rest took. */
    @Test
    void aLoadIsShownWithItsSettling() throws Exception {
        List<PhaseResult> loads = List.of(
                result("a", "load", 1_000, 2),
                PhaseResult.parse(result("a", "load-settle", 0, 3).toLine().replace("seconds=1.0", "seconds=3.0")),
                result("a", "read", 1_000, 0));
        String text = new TextReport(oneRound(loads)).text();
        assertTrue(text.matches("(?s).*\n  settled +3\\.0 s [^\n]*\n  with settling +250\n\nread\n.*"), text);
        String page = new HtmlReport(FACTS, oneRound(loads)).page();
        requireWellFormed(page);
        assertTrue(page.contains("<th>WA</th><th>settled WA</th><th>settling</th><th>ops/s with settling</th>"), page);
        assertTrue(page.contains("<td>2.00</td><td>3.00</td><td>3.0 s</td><td>250</td>"), page);
        assertFalse(page.substring(page.indexOf("<h2>read</h2>")).contains("with settling"), page);
        List<PhaseResult> retuned = new ArrayList<>(loads);
        retuned.add(1, result("a", "load-retune", 0, 2));
        assertTrue(new TextReport(oneRound(retuned)).text().contains(" 200\n"), "tuning back included");
    }

    /** It was in no figure: an engine that did its work while others took their turn did none. */
    @Test
    void whatIsDoneBetweenPhasesIsShown() throws Exception {
        List<PhaseResult> idle = List.of(
                between("read", 2, 900_000, 0.1),
                between("scan", 3, 5_000_000, 0.25),
                between("A", 0, 0, 0),
                between("A-settle", 0, 0, 1.5));
        String text = new TextReport(oneRound(idle)).text();
        List<String> rows = text.lines().filter(line -> line.startsWith("  idle before")).toList();
        assertEquals(2, rows.size(), text);
        assertTrue(rows.get(0).matches("  idle before +0\\.3 s cpu +3\\.00 B +5\\.00 MB"), text);
        assertTrue(text.matches("(?s).*\nscan\n[^\n]*\na [^\n]*\n  idle before .*  settled [^\n]*\n  idle before .*"), text);
        String page = new HtmlReport(FACTS, oneRound(idle)).page();
        requireWellFormed(page);
        assertTrue(page.contains("<td>  idle before</td><td></td><td>0.3 s cpu</td>"), page);
        assertTrue(JsonReport.of(oneRound(idle)).contains("\"betweenBytesRead\": 3, \"betweenBytesWritten\": 5000000, \"betweenCpuSeconds\": 0.25,"));
        String cycle = new TextReport(oneRound(List.of(idle.get(1).asStep(1)), 1)).text();
        assertTrue(cycle.lines().anyMatch(l -> l.matches("a +1\\.0 +1\\.00 +1\\.8 +8\\.00 B +5\\.00 MB .*")), cycle);
    }

    private static PhaseResult between(String phase, long read, long written, double cpu) {
        String words = result("a", phase, 100, 0).toLine();
        String between = "betweenRead=" + read + " betweenWritten=" + written + " betweenCpu=" + cpu;
        return PhaseResult.parse(words.replace("betweenRead=0 betweenWritten=0 betweenCpu=0.0", between));
    }

    /** They stood among what all ran under. */
    @Test
    void whatOnlyHeartwoodObeysIsToldOfIt() {
        List<RunFacts.Part> parts = List.of(
                new RunFacts.Part("heartwood", EngineKind.HEARTWOOD, 1000, 1 << 20), new RunFacts.Part("lmdb", EngineKind.LMDB, 1000, 1 << 20));
        EngineSettings settings = new EngineSettings(
                Path.of("d"), 1, 1000, 24, 100, 1 << 20, Durability.SYNC, DeviceKind.POSIX, Map.of("fanout", "12"));
        List<String> lines = RunFacts.of(parts, settings, Verification.ON, 0).ofInterrupted().lines();
        assertTrue(lines.getFirst().endsWith(", memory 1m, durability sync, every value checked, interrupted"), lines.toString());
        assertEquals("heartwood alone: device posix, fanout=12", lines.get(1));
    }

    private static void requireWellFormed(String page) throws Exception {
        String asXml = page.replaceFirst("<!doctype html>\\s*", "").replaceAll("<(meta|br)([^>]*)>", "<$1$2/>");
        DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(new InputSource(new StringReader(asXml)));
    }

    @Test
    void theStepsOfACycleAreAddedUp() throws Exception {
        List<PhaseResult> steps = List.of(
                result("a", "load", 100, 2).asStep(1),
                result("a", "idle", 0, 0).asStep(2),
                result("a", "load", 100, 2).asStep(3),
                result("b", "load", 100, 2).asStep(1),
                result("b", "idle", 0, 0).asStep(2));
        String text = new TextReport(oneRound(steps, 3)).text();
        assertTrue(text.lines().anyMatch(l -> l.matches("a +3\\.0 +1\\.00 +4\\.5 +15\\.0 B +18\\.0 B +7\\.00 B( +1\\.0){3}")), text);
        assertTrue(text.lines().anyMatch(l -> l.matches("b +2\\.0 +unfinished .* 1\\.0 +1\\.0 +-")), "one that failed is not the fastest: " + text);
        assertTrue(text.lines().anyMatch(l -> l.matches("a +2\\.5 s +a \"b\" < c")), text);
        String page = new HtmlReport(FACTS, oneRound(steps, 3)).page();
        requireWellFormed(page);
        assertFalse(page.substring(page.indexOf("<h2>2-idle</h2>"), page.indexOf("<h2>3-load</h2>")).contains("latency"), "of nothing");
        assertTrue(page.contains("seconds for all steps") && page.contains("<title>3-load, 1.0 s</title>"), page);
        assertTrue(page.contains("class=\"mark\"") && page.contains("<title>a &quot;b&quot; &lt; c</title>"), page);
    }

    /** The engine that came furthest was shown as complete, and as the fastest: steps that nobody came to were not counted. */
    @Test
    void anEngineThatFailedIsUnfinishedThoughNobodyCameFurther() throws Exception {
        List<PhaseResult> steps = List.of(result("a", "load", 100, 2).asStep(1), result("a", "read", 100, 0).asStep(2));
        Rounds rounds = new Rounds(List.of(steps, steps), 3);
        String text = new TextReport(rounds).text();
        assertTrue(text.lines().anyMatch(l -> l.matches("a +2\\.0 +unfinished .* 1\\.0 +1\\.0 +-")), text);
        String page = new HtmlReport(FACTS, rounds).page();
        requireWellFormed(page);
        assertTrue(page.contains("<td>unfinished</td>") && !page.contains("seconds for all steps"), page);
    }

    @Test
    void whatIsPaidForReadsWritesMemoryAndSpaceStandsSideBySide() {
        List<PhaseResult> settled = new ArrayList<>(results);
        settled.add(result("rocksdb", "load-settle", 0, 4.5));
        List<Tradeoff.Chart> charts = new Tradeoff(new Comparison(settled)).charts();
        assertBars(charts.getFirst(), "write cost", "1.30", "4.50");
        List<String> captions = charts.stream().map(Tradeoff.Chart::caption).toList();
        assertEquals(6, captions.size(), captions.toString());
        assertEquals(List.of(), new Tradeoff(new Comparison(results.subList(0, 2))).charts());
    }

    /** The next phase was shown as the load, or the load as the reads, and an engine had no bar among those of its phase. */
    @Test
    void aLoadOfWhichNothingIsWrittenYetIsALoad() {
        List<PhaseResult> lazy = List.of(
                result("heartwood", "load", 1_000_000, 1.2),
                result("heartwood", "load-settle", 0, 1.3),
                result("mvstore", "load", 250_000, 0),
                result("mvstore", "load-settle", 0, 1.7),
                result("heartwood", "A", 444_000, 1.1),
                result("mvstore", "A", 555_000, 1.1),
                result("heartwood", "read", 600_000, 0),
                result("mvstore", "read", 700_000, 0));
        List<Tradeoff.Chart> charts = new Tradeoff(new Comparison(lazy)).charts();
        assertBars(charts.get(0), "write cost", "1.30", "1.70");
        assertBars(charts.get(1), "load", "1.00M", "250k");
        assertBars(charts.get(3), "reads", "600k", "700k");
        String page = new HtmlReport(FACTS, oneRound(lazy)).page();
        String section = page.substring(page.indexOf("<h2>load</h2>"), page.indexOf("<h2>A</h2>"));
        assertTrue(section.contains(">1.30</text>") && section.contains(">1.70</text>"), section);

        List<PhaseResult> unlogged = List.of(result("a", "load", 100, 0), result("b", "load", 100, 0), result("a", "read", 300, 0),
                result("b", "read", 400, 0));
        charts = new Tradeoff(new Comparison(unlogged)).charts();
        assertBars(charts.get(1), "load", "100", "100");
        assertBars(charts.get(3), "reads", "300", "400");
    }

    /** What a cycle's steps had left was captioned as settled, and so was what stood beside settled figures when one engine had none. */
    @Test
    void onlyWhatHasSettledIsCalledSo() {
        List<PhaseResult> cycle = List.of(
                result("a", "load", 100, 2).asStep(1), result("b", "load", 100, 3).asStep(1), result("a", "read", 100, 0).asStep(2),
                result("b", "read", 100, 0).asStep(2));
        String page = new HtmlReport(FACTS, oneRound(cycle, 2)).page();
        assertTrue(page.contains("<figcaption>disk, not settled</figcaption>"), page);
        assertTrue(page.contains("written per byte of records, not settled") && !page.contains(", settled<"), page);
        List<Tradeoff.Chart> charts = new Tradeoff(new Comparison(cycle)).charts();
        assertBars(charts.getFirst(), "write cost: bytes written per byte loaded, not settled", "2.00", "3.00");
        assertTrue(charts.stream().anyMatch(chart -> chart.caption().equals("space: disk, not settled")), charts.toString());

        page = new HtmlReport(FACTS, oneRound(results)).page();
        String section = page.substring(page.indexOf("<h2>load</h2>"), page.indexOf("<h2>read</h2>"));
        assertTrue(section.contains("<figcaption>disk, settled</figcaption>") && section.contains(">1.30</text>"), section);
        assertFalse(section.contains(">4.40</text>"), "of the one that has not settled: " + section);
        charts = new Tradeoff(new Comparison(results)).charts();
        assertBars(charts.getFirst(), "write cost: bytes written per byte loaded, settled", "1.30");
        assertFalse(charts.getFirst().svg().contains("4.40"), charts.toString());
    }

    private static void assertBars(Tradeoff.Chart chart, String caption, String... values) {
        assertTrue(chart.caption().startsWith(caption), chart.caption());
        for (String value : values) {
            assertTrue(chart.svg().contains(">" + value + "</text>"), chart.svg());
        }
    }

    /** The names of settings were cut off. */
    @Test
    void aChartHasRoomForLongNames() {
        assertTrue(Svg.bars(List.of(new Svg.Bar("a", "rocksdb · 2", 1)), Numbers::count).startsWith("<svg viewBox=\"0 0 460 26\" width=\"460\""));
        Svg.Bar bar = new Svg.Bar("a", "lazy_leveling-256-20m-50pc · 2", 1);
        String svg = Svg.bars(List.of(bar), Numbers::count);
        assertTrue(svg.startsWith("<svg viewBox=\"-100 0 560 26\" width=\"560\""), svg);
    }

    @Test
    void ofRoundsEachFigureIsTheMedian() throws Exception {
        Rounds rounds = new Rounds(List.of(
                List.of(result("a", "read", 300, 0), result("b", "read", 100, 0)),
                List.of(result("b", "read", 200, 0), result("a", "read", 100, 0)),
                List.of(result("a", "read", 200, 0))), 1);
        String text = new TextReport(rounds).text();
        assertTrue(text.contains("medians of 3 rounds"), text);
        assertTrue(text.lines().anyMatch(l -> l.matches("a +2 +200 .* 100–300 +2\\.00")), text);
        assertTrue(text.lines().anyMatch(l -> l.matches("b +2 +100 .* 100–200 \\(2\\) +0\\.50")), text);
        String page = new HtmlReport(FACTS, rounds).page();
        requireWellFormed(page);
        assertTrue(page.contains("medians of 3 rounds"), page);
        assertTrue(page.contains("<th>rounds</th>") && page.contains("<td>100–300</td>"), page);
        assertTrue(JsonReport.of(rounds).contains("{\"round\": 3, \"engine\": \"a\""));
    }

    /** The median of the operations was divided by that of the seconds. */
    @Test
    void theRateIsTheMedianOfTheRates() {
        String words = result("a", "scan", 0, 0).toLine();
        List<List<PhaseResult>> rounds = new ArrayList<>();
        for (int[] round : new int[][] {{100, 10, 3000}, {200, 5, 4000}, {300, 8, 5600}}) {
            rounds.add(List.of(PhaseResult.parse(words.replace("operations=0 seconds=1.0", "operations=" + round[0] + " seconds=" + round[1])
                    .replace("scanned=0", "scanned=" + round[2]))));
        }
        PhaseResult median = new Rounds(rounds, 1).medians().getFirst();
        assertEquals(37.5, median.operationsPerSecond(), "of 10, 40 and 37.5");
        assertEquals(700, median.scannedRecords() / median.seconds());
        assertEquals(10, new Rounds(List.of(rounds.get(1), rounds.get(0)), 1).medians().getFirst().operationsPerSecond(), "the lesser");
    }

    /** Neither the page nor the results for programs told a run with wrong values from a right one. */
    @Test
    void wrongAndMissingValuesAreShown() throws Exception {
        String words = result("a", "scan", 1, 0).toLine();
        String faulty = words.replace("anonymous=9 scanned=0 missing=0 wrong=0", "anonymous=9 scanned=5 missing=6 wrong=7");
        Rounds rounds = oneRound(List.of(PhaseResult.parse(faulty)));
        String page = new HtmlReport(FACTS, rounds).page();
        requireWellFormed(page);
        assertTrue(page.contains("<th>records/s</th><th>missing</th><th>wrong</th></tr>"), page);
        assertTrue(page.contains("<td>5.00</td><td>6</td><td>7</td></tr>"), page);
        String json = JsonReport.of(rounds);
        assertTrue(json.contains("\"anonymousBytes\": 9, \"scannedRecords\": 5, \"missing\": 6, \"wrong\": 7,"), json);
    }

    @Test
    void totalsOfACycleAreGivenFromRoundToRound() {
        Rounds rounds = new Rounds(List.of(cycle(1, 1), cycle(1, 4), cycle(1)), 2);
        String text = new TextReport(rounds).text();
        assertTrue(text.lines().anyMatch(l -> l.matches("a +2\\.0 +1\\.00 .* 2\\.0–5\\.0")), text);
    }

    /** They were sums of each step's median, which no round took, and rounds that ended on the way had their part in them. */
    @Test
    void whatACycleTookIsWhatOneRoundTook() throws Exception {
        Rounds rounds = new Rounds(List.of(cycle(1, 8), cycle(5, 1), cycle(3, 4), cycle(20)), 2);
        String text = new TextReport(rounds).text();
        assertTrue(text.lines().anyMatch(l -> l.matches("a +7\\.0 +1\\.00 +0\\.7 +71\\.0 B .* +3\\.0 +4\\.0 +6\\.0–9\\.0")), text);
        assertTrue(text.contains("\nall steps, each engine's of one round: "), text);
        String page = new HtmlReport(FACTS, rounds).page();
        requireWellFormed(page);
        assertTrue(page.contains("<title>2-read, 4.0 s</title>") && page.contains("each engine's of one round"), page);
        text = new TextReport(new Rounds(List.of(cycle(1, 8), cycle(2), cycle(1, 8)), 3)).text();
        assertTrue(text.lines().anyMatch(l -> l.matches("a +9\\.0 +unfinished .* +1\\.0 +8\\.0 +-")), "of those that came furthest: " + text);
    }

    /** A round of one engine: a load and a read that took so long, or only the load. */
    private static List<PhaseResult> cycle(int... seconds) {
        List<PhaseResult> steps = new ArrayList<>();
        for (int i = 0; i < seconds.length; i++) {
            String words = result("a", i == 0 ? "load" : "read", 100, 0).toLine();
            String own = words.replace("seconds=1.0 cpu=1.5", "seconds=" + seconds[i] + " cpu=" + seconds[i] / 10.0);
            steps.add(PhaseResult.parse(own.replace(" read=5", " read=" + (10 * seconds[i] + i))).asStep(i + 1));
        }
        return steps;
    }

    @Test
    void numbersReadWell() {
        assertEquals("0", Numbers.count(0));
        assertEquals("0.50", Numbers.count(0.5));
        assertEquals("9.99", Numbers.count(9.99));
        assertEquals("10.0", Numbers.count(9.999));
        assertEquals("999", Numbers.count(999.4));
        assertEquals("1.00k", Numbers.count(999.6));
        assertEquals("1.23M", Numbers.count(1_234_567));
        assertEquals("248 MB", Numbers.bytes(248e6));
        assertEquals("12.3ms", Numbers.micros(12_345));
        assertEquals("1:05", Numbers.clock(65));
        assertEquals("1:00:00", Numbers.clock(3600));
    }

    private static Rounds oneRound(List<PhaseResult> results) {
        return oneRound(results, 1);
    }

    private static Rounds oneRound(List<PhaseResult> results, int steps) {
        return new Rounds(List.of(results), steps);
    }

    private static PhaseResult result(String engine, String phase, long operations, double amplification) {
        return new PhaseResult(
                engine,
                phase,
                2,
                1000,
                operations,
                1,
                1.5,
                PhaseResult.Between.NONE,
                new PhaseResult.Latency(1, 20, 300, 4000),
                new PhaseResult.Storage(5, 6, amplification, 7),
                new PhaseResult.Memory(8, 9),
                0,
                PhaseResult.Faults.NONE,
                new PhaseResult.Series(500, new long[] {operations / 2, operations}),
                List.of(new PhaseResult.Change(0.5, "a \"b\" < c")));
    }
}
