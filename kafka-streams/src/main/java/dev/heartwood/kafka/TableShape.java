package dev.heartwood.kafka;

import java.nio.charset.StandardCharsets;
import org.apache.kafka.streams.errors.ProcessorStateException;

/**
 * What a table holds. It is written into the table when that is made, and read when it is opened: kind and format must be the
 * same then. When the length of segments is another, the data is moved ({@link SegmentMove}).
 *
 * @param kind what its keys are made of
 * @param format what its values begin with
 * @param segmentMillis the length of a time segment in its keys; 0 when there is none, {@link #MIXED} while data is moved from one to another
 */
record TableShape(TableKind kind, ValueFormat format, long segmentMillis) {
    /** The number of time of data that there is not. */
    static final long NOTHING_NEW = Long.MAX_VALUE;

    private static final long MIXED = -1;
    private static final String VERSION = "v1";

    /** The text that is stored. */
    byte[] encoded() {
        return (VERSION + " " + kind + " " + format + " " + segmentMillis).getBytes(StandardCharsets.US_ASCII);
    }

    /** This shape while its data is moved. */
    TableShape mixed() {
        return new TableShape(kind, format, MIXED);
    }

    /**
     * The first {@linkplain TableKind#timeOffset number of time} of which there was nothing yet at a commit, or {@link #NOTHING_NEW}: keys have
     * none, the commit does not say how late its data was, or data is being moved, which all is of the commit.
     */
    long firstNew(CommitState commit) {
        if (commit.dataUpTo() == CommitState.UNKNOWN) {
            return NOTHING_NEW;
        }
        if (kind == TableKind.VERSIONED) {
            return commit.dataUpTo() + 1;
        }
        return segmentMillis > 0 ? Math.floorDiv(commit.dataUpTo(), segmentMillis) + 1 : NOTHING_NEW;
    }

    /**
     * The shape that an existing table has which is opened as this one; the length of segments may be another.
     *
     * @throws ProcessorStateException when it is of another kind or format
     */
    TableShape found(String storeName, byte[] stored) {
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
