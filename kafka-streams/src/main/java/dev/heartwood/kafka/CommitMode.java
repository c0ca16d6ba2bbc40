package dev.heartwood.kafka;

import java.util.Map;
import org.apache.kafka.streams.StreamsConfig;

/** What becomes of writes after the last commit. */
enum CommitMode {
    /** At least once: they stay, and are written again from the changelog. */
    KEEP,
    /** Exactly once: they are undone when the store is opened. */
    UNDO,
    /** With transactional stores: as {@link #UNDO}, whatever the guarantee, and readers may ask for what is committed only. */
    TRANSACTIONAL;

    /** The key of Kafka Streams 4.4 that turns transactional stores on. */
    static final String TRANSACTIONAL_KEY = "enable.transactional.statestores";

    static CommitMode of(Map<String, ?> configs) {
        if (Boolean.parseBoolean(String.valueOf(configs.get(TRANSACTIONAL_KEY)))) {
            return TRANSACTIONAL;
        }
        return isExactlyOnce(configs) ? UNDO : KEEP;
    }

    /** Whether writes after the last commit must not be seen; Kafka Streams deletes what has no way back to it then. */
    static boolean isExactlyOnce(Map<String, ?> configs) {
        return StreamsConfig.EXACTLY_ONCE_V2.equals(configs.get(StreamsConfig.PROCESSING_GUARANTEE_CONFIG));
    }

    boolean undoes() {
        return this != KEEP;
    }

    boolean snapshots() {
        return this == TRANSACTIONAL;
    }
}
