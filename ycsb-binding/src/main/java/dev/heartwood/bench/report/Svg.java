package dev.heartwood.bench.report;

import java.util.List;
import java.util.Locale;
import java.util.function.DoubleFunction;
import java.util.stream.Stream;

/** Draws charts as inline SVG. Colours come from the page's style: class {@code engine-NAME}. Stateless. */
final class Svg {
    /** One bar. */
    record Bar(String engine, String label, double value) {}

    /** A curve through points (x, y). */
    record Curve(String engine, String label, double[] x, double[] y) {}

    /** What lasted for a time. */
    record Block(double from, double to, String title) {}

    /** What happened at a time. */
    record Mark(double at, String title) {}

    /** What lasted and happened with one engine. */
    record Lane(String engine, String label, List<Block> blocks, List<Mark> marks) {}

    /** Values of one engine on a common logarithmic scale, smallest first. */
    record Spread(String engine, String label, double[] values) {}

    private static final int WIDTH = 460;
    private static final int WIDE = 960;
    private static final int LABEL_WIDTH = 118;
    private static final int CHARACTER_WIDTH = 7;
    private static final int VALUE_WIDTH = 74;
    private static final int ROW = 26;
    private static final int CURVE_HEIGHT = 170;
    private static final int CURVE_LEFT = 52;
    private static final int CURVE_BOTTOM = 22;
    private static final int TICKS = 4;

    private Svg() {}

    /** Horizontal bars from zero, each with its value behind it. */
    static String bars(List<Bar> bars, DoubleFunction<String> format) {
        double max = bars.stream().mapToDouble(Bar::value).max().orElse(0);
        double room = WIDTH - LABEL_WIDTH - VALUE_WIDTH;
        StringBuilder svg = open(WIDTH, bars.size() * ROW, bars.stream().map(Bar::label));
        for (int i = 0; i < bars.size(); i++) {
            Bar bar = bars.get(i);
            double length = max == 0 ? 0 : room * bar.value() / max;
            int y = i * ROW;
            text(svg, LABEL_WIDTH - 8, y + 17, "end", bar.label());
            svg.append(String.format(
                    Locale.ROOT,
                    "<rect class=\"engine-%s\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" rx=\"2\"/>",
                    bar.engine(),
                    LABEL_WIDTH,
                    y + 4,
                    Math.max(1, length),
                    ROW - 8));
            text(svg, LABEL_WIDTH + length + 6, y + 17, "start", format.apply(bar.value()));
        }
        return svg.append("</svg>").toString();
    }

    /** Points on one logarithmic axis, joined by a line, one row per engine. */
    static String spreads(List<Spread> spreads, DoubleFunction<String> format) {
        double min = Double.MAX_VALUE;
        double max = 0;
        for (Spread spread : spreads) {
            for (double value : spread.values()) {
                min = Math.min(min, Math.max(value, 0.01));
                max = Math.max(max, value);
            }
        }
        int low = (int) Math.floor(Math.log10(min));
        int high = Math.max(low + 1, (int) Math.ceil(Math.log10(max)));
        double room = WIDTH - LABEL_WIDTH - 28;
        StringBuilder svg = open(WIDTH, spreads.size() * ROW + CURVE_BOTTOM, spreads.stream().map(Spread::label));
        for (int decade = low; decade <= high; decade++) {
            double x = LABEL_WIDTH + room * (decade - low) / (high - low);
            line(svg, "grid", x, 0, x, spreads.size() * ROW);
            text(svg, x, spreads.size() * ROW + 15, "middle", format.apply(Math.pow(10, decade)));
        }
        for (int i = 0; i < spreads.size(); i++) {
            Spread spread = spreads.get(i);
            double y = i * ROW + ROW / 2.0;
            text(svg, LABEL_WIDTH - 8, y + 4, "end", spread.label());
            double previous = -1;
            for (double value : spread.values()) {
                double x = LABEL_WIDTH + room * (Math.log10(Math.max(value, 0.01)) - low) / (high - low);
                if (previous >= 0) {
                    line(svg, "engine-" + spread.engine(), previous, y, x, y);
                }
                svg.append(String.format(
                        Locale.ROOT,
                        "<circle class=\"engine-%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"><title>%s</title></circle>",
                        spread.engine(),
                        x,
                        y,
                        format.apply(value)));
                previous = x;
            }
        }
        return svg.append("</svg>").toString();
    }

    /** Blocks and marks on one axis of time, one row per engine. */
    static String timeline(List<Lane> lanes, DoubleFunction<String> formatX) {
        double max = lanes.stream()
                .flatMap(lane -> lane.blocks().stream())
                .mapToDouble(Block::to)
                .max()
                .orElse(0);
        if (max == 0) {
            return "";
        }
        double scale = (WIDE - LABEL_WIDTH - 28) / max;
        StringBuilder svg = open(WIDE, lanes.size() * ROW + CURVE_BOTTOM, lanes.stream().map(Lane::label));
        for (int tick = 0; tick <= TICKS; tick++) {
            double x = LABEL_WIDTH + scale * max * tick / TICKS;
            line(svg, "grid", x, 0, x, lanes.size() * ROW);
            text(svg, x, lanes.size() * ROW + 15, "middle", formatX.apply(max * tick / TICKS));
        }
        for (int i = 0; i < lanes.size(); i++) {
            Lane lane = lanes.get(i);
            int y = i * ROW;
            text(svg, LABEL_WIDTH - 8, y + 17, "end", lane.label());
            for (Block block : lane.blocks()) {
                svg.append(String.format(
                        Locale.ROOT,
                        "<rect class=\"engine-%s\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"><title>%s</title></rect>",
                        lane.engine(),
                        LABEL_WIDTH + scale * block.from(),
                        y + 4,
                        Math.max(1, scale * (block.to() - block.from()) - 2),
                        ROW - 8,
                        block.title()));
            }
            for (Mark mark : lane.marks()) {
                svg.append(String.format(
                        Locale.ROOT,
                        "<rect class=\"mark\" x=\"%.1f\" y=\"%d\" width=\"3\" height=\"%d\"><title>%s</title></rect>",
                        LABEL_WIDTH + scale * mark.at() - 1,
                        y,
                        ROW,
                        mark.title()));
            }
        }
        return svg.append("</svg>").toString();
    }

    /** Curves over time from (0, 0). */
    static String curves(List<Curve> curves, DoubleFunction<String> formatX, DoubleFunction<String> formatY) {
        double maxX = 0;
        double maxY = 0;
        for (Curve curve : curves) {
            for (int i = 0; i < curve.x().length; i++) {
                maxX = Math.max(maxX, curve.x()[i]);
                maxY = Math.max(maxY, curve.y()[i]);
            }
        }
        if (maxX == 0 || maxY == 0) {
            return "";
        }
        maxY = roundedUp(maxY);
        double width = WIDTH - CURVE_LEFT - 24;
        double height = CURVE_HEIGHT - CURVE_BOTTOM - 8;
        StringBuilder svg = open(WIDTH, CURVE_HEIGHT, Stream.empty());
        for (int tick = 0; tick <= TICKS; tick++) {
            double y = 8 + height * (TICKS - tick) / TICKS;
            double x = CURVE_LEFT + width * tick / TICKS;
            line(svg, "grid", CURVE_LEFT, y, CURVE_LEFT + width, y);
            text(svg, CURVE_LEFT - 6, y + 4, "end", formatY.apply(maxY * tick / TICKS));
            text(svg, x, CURVE_HEIGHT - 6, "middle", formatX.apply(maxX * tick / TICKS));
        }
        for (Curve curve : curves) {
            svg.append("<polyline class=\"curve engine-").append(curve.engine()).append("\" points=\"");
            for (int i = 0; i < curve.x().length; i++) {
                svg.append(String.format(
                        Locale.ROOT,
                        "%.1f,%.1f ",
                        CURVE_LEFT + width * curve.x()[i] / maxX,
                        8 + height * (1 - curve.y()[i] / maxY)));
            }
            svg.append("\"><title>").append(curve.label()).append("</title></polyline>");
        }
        return svg.append("</svg>").toString();
    }

    /** The least of 1, 2, 4, 6, 8 or 10 times a power of ten that is no less than {@code value}. */
    static double roundedUp(double value) {
        double power = Math.pow(10, Math.floor(Math.log10(value)));
        for (int factor : new int[] {1, 2, 4, 6, 8}) {
            if (value <= factor * power) {
                return factor * power;
            }
        }
        return 10 * power;
    }

    /** Begins a drawing, with further room on the left for labels that are longer than usual. */
    private static StringBuilder open(int width, int height, Stream<String> labels) {
        int longest = labels.mapToInt(String::length).max().orElse(0);
        int left = Math.max(0, longest * CHARACTER_WIDTH + 8 - LABEL_WIDTH);
        return new StringBuilder(String.format(
                Locale.ROOT,
                "<svg viewBox=\"%d 0 %d %d\" width=\"%d\" role=\"img\">",
                -left,
                left + width,
                height,
                left + width));
    }

    private static void text(StringBuilder svg, double x, double y, String anchor, String text) {
        svg.append(String.format(
                Locale.ROOT, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>", x, y, anchor, text));
    }

    private static void line(StringBuilder svg, String style, double x1, double y1, double x2, double y2) {
        svg.append(String.format(
                Locale.ROOT,
                "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>",
                style,
                x1,
                y1,
                x2,
                y2));
    }
}
