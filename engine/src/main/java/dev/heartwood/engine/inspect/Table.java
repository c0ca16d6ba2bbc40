package dev.heartwood.engine.inspect;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Text in aligned columns: the first to the left, the others to the right, but a second and last one to the left too. */
final class Table {
    private final List<String[]> rows = new ArrayList<>();

    Table row(Object... cells) {
        String[] row = new String[cells.length];
        for (int i = 0; i < cells.length; i++) {
            row[i] = cells[i] instanceof Long || cells[i] instanceof Integer
                    ? String.format(Locale.ROOT, "%,d", ((Number) cells[i]).longValue())
                    : String.valueOf(cells[i]);
        }
        rows.add(row);
        return this;
    }

    /** Bytes with a unit, for people. */
    static String bytes(long bytes) {
        String[] units = {"B", "KiB", "MiB", "GiB", "TiB"};
        double value = bytes;
        int unit = 0;
        while (value >= 1024 && unit + 1 < units.length) {
            value /= 1024;
            unit++;
        }
        return unit == 0 ? bytes + " B" : String.format(Locale.ROOT, "%.1f %s", value, units[unit]);
    }

    /** {@code a / b} with two decimals, or a dash. */
    static String ratio(double a, double b) {
        return b == 0 ? "-" : String.format(Locale.ROOT, "%.2f", a / b);
    }

    @Override
    public String toString() {
        int columns = rows.stream().mapToInt(row -> row.length).max().orElse(0);
        int[] widths = new int[columns];
        for (String[] row : rows) {
            for (int i = 0; i < row.length; i++) {
                widths[i] = Math.max(widths[i], row[i].length());
            }
        }
        StringBuilder text = new StringBuilder();
        for (String[] row : rows) {
            StringBuilder line = new StringBuilder("  ");
            for (int i = 0; i < row.length; i++) {
                String padding = " ".repeat(widths[i] - row[i].length());
                line.append(i == 0 ? "" : "  ").append(i == 0 || columns == 2 ? row[i] + padding : padding + row[i]);
            }
            text.append(line.toString().stripTrailing()).append('\n');
        }
        return text.toString();
    }
}
