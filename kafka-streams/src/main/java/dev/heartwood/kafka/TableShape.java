package dev.heartwood.kafka;

import java.nio.charset.StandardCharsets;
import org.apache.kafka.streams.errors.ProcessorStateException;

/**
 * What a table holds. It is written into the table when that is made, and read when it is opened: kind and format must be the
 * same then, and the length of segments stays what it was.
 *
 * @param kind what its keys are made of
 * @param format what its values begin with
 * @param segmentMillis the length of a time segment in its keys; 0 when there is none
 */
record TableShape(TableKind kind, ValueFormat format, long segmentMillis) {
    /** The number of a segment that there is not. */
    static final long NO_SEGMENT = Long.MAX_VALUE;

    private static final String VERSION = "v1";

    /** The text that is stored. */
    byte[] encoded() {
        return (VERSION + " " + kind + " " + format + " " + segmentMillis).getBytes(StandardCharsets.US_ASCII);
    }

    /**
     * The first segment of those in which there was nothing yet at a commit, or {@link #NO_SEGMENT}: the table has none, or the
     * commit does not say how late its data was.
     */
    long firstNewSegment(CommitState commit) {
        boolean isKnown = segmentMillis > 0 && commit.dataUpTo() != CommitState.UNKNOWN;
        return isKnown ? Math.floorDiv(commit.dataUpTo(), segmentMillis) + 1 : NO_SEGMENT;
    }

    /**
     * The shape of an existing table that is opened as this one.
     *
     * @throws ProcessorStateException when it is of another kind or format
     */
    TableShape adopt(String storeName, byte[] stored) {
        String text = new String(stored, StandardCharsets.US_ASCII);
        String wanted = VERSION + " " + kind + " " + format + " ";
        if (!text.startsWith(wanted)) {
            throw new ProcessorStateException("The directory of store " + storeName + " holds '" + text
                    + "' and cannot be opened as '" + wanted.strip()
                    + "'; delete the store's local directory, and the store is restored from its changelog");
        }
        return new TableShape(kind, format, Long.parseLong(text.substring(wanted.length())));
    }
}
