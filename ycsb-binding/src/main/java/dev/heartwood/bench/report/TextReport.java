package dev.heartwood.bench.report;

import dev.heartwood.bench.process.PhaseResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The tables printed at the end of a run: one per phase. */
public final class TextReport {
    private static final String GAP = "  ";

    private final Rounds rounds;
    private final Comparison comparison;

    /** A report of the medians of {@code rounds}. */
    public TextReport(Rounds rounds) {
        this.rounds = rounds;
        comparison = new Comparison(rounds.medians());
    }

    /** The tables. */
    public String text() {
        StringBuilder text = new StringBuilder();
        rounds.note().ifPresent(note -> text.append('\n').append(note).append('\n'));
        for (String phase : comparison.phases()) {
            text.append('\n').append(phase).append('\n');
            append(text, table(comparison.of(phase)));
        }
        Cycle cycle = new Cycle(comparison, rounds);
        if (!cycle.isEmpty()) {
            text.append("\nall steps");
            rounds.stepsNote().ifPresent(note -> text.append(", ").append(note));
            text.append('\n');
            append(text, cycle.table());
        }
        appendChanges(text, cycle);
        return text.toString();
    }

    private static void appendChanges(StringBuilder text, Cycle cycle) {
        List<Cycle.Change> changes = cycle.changes();
        if (!changes.isEmpty()) {
            text.append("\nchanged by themselves\n");
            for (Cycle.Change change : changes) {
                text.append(String.format(Locale.ROOT, "%-14s %7.1f s  %s%n", change.engine(), change.seconds(), change.what()));
            }
        }
    }

    private List<List<String>> table(List<PhaseResult> results) {
        List<List<String>> rows = new ArrayList<>();
        PhaseTable table = new PhaseTable(rounds, comparison, results);
        rows.add(table.header());
        for (PhaseResult result : results) {
            rows.add(table.row(result));
            PhaseTable.between(result).ifPresent(rows::add);
            comparison.retuningAfter(result).ifPresent(retuning -> addAfter("  tuned back", retuning, rows));
            comparison.settlingAfter(result).ifPresent(settling -> addAfter("  settled", settling, rows));
            comparison.rateWithSettling(result).ifPresent(rate -> rows.add(List.of("  with settling", "", Numbers.count(rate))));
        }
        return rows;
    }

    private static void addAfter(String what, PhaseResult after, List<List<String>> rows) {
        List<String> row = new ArrayList<>(
                List.of(what, "", String.format(Locale.ROOT, "%.1f s", after.seconds()), "", "", "", ""));
        row.addAll(PhaseTable.storage(after));
        rows.add(row);
        PhaseTable.between(after).ifPresent(rows::add);
    }

    private static void append(StringBuilder text, List<List<String>> rows) {
        int columns = rows.getFirst().size();
        int[] widths = new int[columns];
        for (List<String> row : rows) {
            for (int i = 0; i < row.size(); i++) {
                widths[i] = Math.max(widths[i], row.get(i).length());
            }
        }
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < row.size(); i++) {
                String padding = " ".repeat(widths[i] - row.get(i).length());
                line.append(i == 0 ? row.get(i) + padding : GAP + padding + row.get(i));
            }
            text.append(line.toString().stripTrailing()).append('\n');
        }
    }
}
