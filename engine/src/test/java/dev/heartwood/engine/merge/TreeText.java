package dev.heartwood.engine.merge;

import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.node.Bundle;
import dev.heartwood.engine.node.Pivot;
import dev.heartwood.engine.node.Run;
import dev.heartwood.engine.node.TrunkNode;

/** A tree as text, for the messages of failing tests. */
public final class TreeText {
    private TreeText() {}

    public static String of(TrunkNode root) {
        StringBuilder text = new StringBuilder();
        append(root, "", text);
        return text.toString();
    }

    private static void append(TrunkNode node, String indent, StringBuilder text) {
        text.append(indent).append("height ").append(node.height()).append('\n');
        for (Bundle bundle : node.bundles()) {
            text.append(indent).append("  bundle ").append(bundle.id()).append(bundle.settled() ? " " : " unsettled ");
            text.append(text(bundle.span()));
            for (Run run : bundle.runs()) {
                text.append(' ').append(run == null ? "-" : text(run));
            }
            text.append('\n');
        }
        for (Pivot pivot : node.pivots()) {
            text.append(indent).append("  pivot '").append(History.string(pivot.key()));
            text.append("' first active ").append(pivot.firstActive()).append('\n');
            if (pivot.child() != null) {
                append(pivot.child(), indent + "    ", text);
            }
        }
    }

    private static String text(Run run) {
        return run.branch().id() + "(" + run.branch().entries() + " entries, " + run.branch().tombstones()
                + " tombstones, " + run.sample().bytes() + " bytes, '" + History.string(run.sample().first()) + "'..'"
                + History.string(run.sample().last()) + "')";
    }

    private static String text(Span span) {
        return "[" + (span.from() == null ? "" : History.string(span.from())) + ","
                + (span.to() == null ? "" : History.string(span.to())) + ")";
    }
}
