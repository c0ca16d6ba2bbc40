package dev.heartwood.bench.report;

import dev.heartwood.bench.process.PhaseResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.DoubleFunction;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The results as one page with charts: an overview, then phase by phase. */
public final class HtmlReport {
    private final RunFacts facts;
    private final Rounds rounds;
    private final Comparison comparison;
    private final boolean manyThreadCounts;

    /** A page on the medians of {@code rounds}. */
    public HtmlReport(RunFacts facts, Rounds rounds) {
        this.facts = facts;
        this.rounds = rounds;
        comparison = new Comparison(rounds.medians());
        manyThreadCounts = rounds.all().stream().map(PhaseResult::threads).distinct().count() > 1;
    }

    /** The page. */
    public String page() {
        StringBuilder body = new StringBuilder();
        body.append("<h1>Heartwood bench</h1>\n").append(facts()).append(legend());
        body.append("<section><h2>Operations per second</h2>\n")
                .append(overview())
                .append("</section>\n");
        body.append(tradeoff()).append(cycle());
        for (String phase : comparison.phases()) {
            body.append(section(phase));
        }
        return """
                <!doctype html>
                <html lang="en">
                <head>
                <meta charset="utf-8">
                <meta name="viewport" content="width=device-width, initial-scale=1">
                <title>Heartwood bench</title>
                <style>
                %s</style>
                </head>
                <body>
                %s</body>
                </html>
                """.formatted(PageStyle.of(comparison.engines()), body);
    }

    private String facts() {
        return Stream.concat(facts.lines().stream(), rounds.note().stream())
                .map(HtmlReport::escape)
                .collect(Collectors.joining("<br>", "<p class=\"facts\">", "</p>\n"));
    }

    private String legend() {
        return comparison.engines().stream()
                .map(e -> "<span><i class=\"engine-" + e + "\"></i>" + escape(e) + "</span>")
                .collect(Collectors.joining("", "<p class=\"legend\">", "</p>\n"));
    }

    private String tradeoff() {
        List<Tradeoff.Chart> charts = new Tradeoff(comparison).charts();
        return charts.isEmpty()
                ? ""
                : charts.stream()
                        .map(chart -> figure(chart.caption(), chart.svg()))
                        .collect(Collectors.joining(
                                "",
                                "<section><h2>Reads, writes, memory and space</h2><div class=\"charts\">",
                                "</div></section>\n"));
    }

    private String cycle() {
        Cycle cycle = new Cycle(comparison, rounds);
        if (cycle.isEmpty()) {
            return "";
        }
        StringBuilder html = new StringBuilder("<section><h2>All steps</h2>");
        rounds.stepsNote().ifPresent(note -> html.append("<p class=\"facts\">").append(escape(note)).append("</p>"));
        List<Svg.Bar> wholes = comparison.engines().stream()
                .filter(cycle::isComplete)
                .map(e -> new Svg.Bar(e, escape(e), cycle.seconds(e)))
                .toList();
        html.append(wholes.isEmpty() ? "" : figure("seconds for all steps", Svg.bars(wholes, Cycle::seconds)));
        html.append(figure(
                "each step as long as it took; dark marks are what a store changed by itself (point at them)", cycle.timeline()));
        html.append(plainTable(cycle.table()));
        List<List<String>> changes = new ArrayList<>(List.of(List.of("engine", "after s", "changed by itself")));
        cycle.changes().forEach(c -> changes.add(List.of(c.engine(), Cycle.seconds(c.seconds()), c.what())));
        html.append(changes.size() == 1 ? "" : plainTable(changes));
        return html.append("</section>\n").toString();
    }

    /** A table whose first row is its header. */
    private static String plainTable(List<List<String>> rows) {
        StringBuilder html = new StringBuilder("<div class=\"scroll\"><table>");
        String cell = "th";
        for (List<String> row : rows) {
            html.append("<tr>");
            for (String text : row) {
                html.append('<').append(cell).append('>').append(escape(text)).append("</").append(cell).append('>');
            }
            html.append("</tr>\n");
            cell = "td";
        }
        return html.append("</table></div>\n").toString();
    }

    private String overview() {
        StringBuilder table = new StringBuilder("<div class=\"scroll\"><table><tr><th>phase</th>");
        table.append(manyThreadCounts ? "<th>threads</th>" : "");
        comparison.engines().forEach(e -> table.append("<th>").append(escape(e)).append("</th>"));
        table.append("</tr>\n");
        for (String phase : comparison.phases()) {
            List<PhaseResult> all = comparison.of(phase);
            Set<Integer> threadCounts =
                    all.stream().map(PhaseResult::threads).collect(Collectors.toCollection(TreeSet::new));
            threadCounts.forEach(t -> table.append(overviewRow(
                    phase, t, all.stream().filter(r -> r.threads() == t).toList())));
        }
        return table.append("</table></div>\n").toString();
    }

    private String overviewRow(String phase, int threads, List<PhaseResult> results) {
        StringBuilder row = new StringBuilder("<tr><td>").append(escape(phase)).append("</td>");
        row.append(manyThreadCounts ? "<td>" + threads + "</td>" : "");
        double best = results.stream()
                .mapToDouble(PhaseResult::operationsPerSecond)
                .max()
                .orElse(0);
        for (String engine : comparison.engines()) {
            String cell = results.stream()
                    .filter(r -> r.engine().equals(engine))
                    .findFirst()
                    .map(r -> (r.operationsPerSecond() == best && results.size() > 1 ? "<td class=\"best\">" : "<td>")
                            + Numbers.count(r.operationsPerSecond()) + "</td>")
                    .orElse("<td>-</td>");
            row.append(cell);
        }
        return row.append("</tr>\n").toString();
    }

    private String section(String phase) {
        List<PhaseResult> results = comparison.of(phase);
        StringBuilder html =
                new StringBuilder("<section><h2>").append(escape(phase)).append("</h2><div class=\"charts\">");
        if (results.stream().anyMatch(r -> r.operations() > 0)) {
            html.append(figure("operations per second", bars(results, PhaseResult::operationsPerSecond, Numbers::count)));
            html.append(figure(
                    "latency: p50, p99, p99.9, worst",
                    Svg.spreads(
                            results.stream()
                                    .map(r -> new Svg.Spread(r.engine(), label(r), new double[] {
                                        r.latency().p50Micros(),
                                        r.latency().p99Micros(),
                                        r.latency().p999Micros(),
                                        r.latency().maxMicros()
                                    }))
                                    .toList(),
                            Numbers::roundLatency)));
        }
        html.append(figure("operations per second over time", curves(results)));
        if (results.getFirst().kind().writes()) {
            Comparison.Alike stores = comparison.settledIfAny(results);
            html.append(figure(
                    "bytes written per byte of records, " + stores.state(),
                    bars(stores.results(), r -> r.storage().writeAmplification(), v -> String.format(Locale.ROOT, "%.2f", v))));
            html.append(figure(
                    "disk, " + stores.state(), bars(stores.results(), r -> r.storage().diskBytes(), Numbers::bytes)));
        }
        html.append(figure(
                "peak of resident memory, JVM included",
                bars(results, r -> r.memory().rssPeakBytes(), Numbers::bytes)));
        return html.append("</div>")
                .append(table(results))
                .append("</section>\n")
                .toString();
    }

    private String bars(List<PhaseResult> results, ToDoubleFunction<PhaseResult> value, DoubleFunction<String> format) {
        return Svg.bars(
                results.stream()
                        .map(r -> new Svg.Bar(r.engine(), label(r), value.applyAsDouble(r)))
                        .toList(),
                format);
    }

    private String label(PhaseResult result) {
        return escape(result.engine()) + (manyThreadCounts ? " · " + result.threads() : "");
    }

    private String curves(List<PhaseResult> results) {
        List<Svg.Curve> curves = new ArrayList<>();
        for (PhaseResult result : results) {
            long[] series = result.progress().counts();
            double[] x = new double[series.length];
            double[] y = new double[series.length];
            for (int i = 0; i < series.length; i++) {
                x[i] = (i + 1) * result.progress().sampleMillis() / 1000.0;
                y[i] = (series[i] - (i == 0 ? 0 : series[i - 1]))
                        * 1000.0
                        / result.progress().sampleMillis();
            }
            curves.add(new Svg.Curve(result.engine(), label(result), x, y));
        }
        return Svg.curves(curves, x -> String.format(Locale.ROOT, "%.1f s", x), Numbers::count);
    }

    private static String figure(String caption, String svg) {
        return svg.isEmpty() ? "" : "<figure><figcaption>" + caption + "</figcaption>" + svg + "</figure>\n";
    }

    private String table(List<PhaseResult> results) {
        PhaseTable table = new PhaseTable(rounds, comparison, results);
        List<String> header = table.header();
        int settled = header.indexOf(PhaseTable.WRITE_AMPLIFICATION) + 1;
        boolean settles = results.stream().anyMatch(result -> comparison.settlingAfter(result).isPresent());
        header.addAll(settled, settles ? List.of("settled WA", "settling", "ops/s with settling") : List.of());
        List<List<String>> rows = new ArrayList<>(List.of(header));
        for (PhaseResult result : results) {
            List<String> row = table.row(result);
            row.addAll(settled, settles ? settling(result) : List.of());
            rows.add(row);
            PhaseTable.between(result).ifPresent(rows::add);
        }
        return plainTable(rows);
    }

    /** The columns of the settling after a result. */
    private List<String> settling(PhaseResult result) {
        Optional<PhaseResult> settling = comparison.settlingAfter(result);
        OptionalDouble rate = comparison.rateWithSettling(result);
        return List.of(
                settling.map(s -> Numbers.ratio(s.storage().writeAmplification())).orElse("-"),
                settling.map(s -> Cycle.seconds(s.seconds()) + " s").orElse("-"),
                rate.isPresent() ? Numbers.count(rate.getAsDouble()) : "-");
    }

    static String escape(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }
}
