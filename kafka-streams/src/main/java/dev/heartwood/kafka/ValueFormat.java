package dev.heartwood.kafka;

import org.apache.kafka.streams.DslStoreFormat;

/** What Kafka Streams puts before a value; the stores pass it through as it is. */
enum ValueFormat {
    /** The value alone. */
    PLAIN,
    /** A timestamp, then the value. */
    TIMESTAMPED,
    /** Headers, then a timestamp (not in session stores), then the value. */
    HEADERS;

    static ValueFormat of(DslStoreFormat format) {
        return switch (format) {
            case PLAIN -> PLAIN;
            case TIMESTAMPED -> TIMESTAMPED;
            case HEADERS -> HEADERS;
        };
    }
}
