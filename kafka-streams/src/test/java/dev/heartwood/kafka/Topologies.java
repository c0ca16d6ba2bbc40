package dev.heartwood.kafka;

import java.time.Duration;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.EmitStrategy;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.KTable;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.SessionWindows;
import org.apache.kafka.streams.kstream.SlidingWindows;
import org.apache.kafka.streams.kstream.StreamJoined;
import org.apache.kafka.streams.kstream.Suppressed;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.kstream.Windowed;

/** One small topology for each kind of operator that has state. They read the topics left and right and write the topic out. */
enum Topologies {
    COUNT {
        @Override
        void build(StreamsBuilder builder) {
            left(builder).count().toStream().mapValues(String::valueOf).to("out", STRINGS);
        }
    },
    REDUCE_OF_TABLE {
        @Override
        void build(StreamsBuilder builder) {
            rightTable(builder)
                    .groupBy(
                            (key, value) -> KeyValue.pair(group(value), value),
                            Grouped.with(Serdes.String(), Serdes.String()))
                    .aggregate(
                            () -> "",
                            (key, value, all) -> all + value,
                            (key, value, all) -> all.replaceFirst(value, ""),
                            Materialized.with(Serdes.String(), Serdes.String()))
                    .toStream()
                    .to("out", STRINGS);
        }
    },
    TUMBLING {
        @Override
        void build(StreamsBuilder builder) {
            out(left(builder).windowedBy(TimeWindows.ofSizeAndGrace(WINDOW, GRACE)).count());
        }
    },
    HOPPING {
        @Override
        void build(StreamsBuilder builder) {
            out(left(builder)
                    .windowedBy(TimeWindows.ofSizeAndGrace(WINDOW, GRACE).advanceBy(WINDOW.dividedBy(4)))
                    .reduce((a, b) -> a.length() > 40 ? b : a + b));
        }
    },
    SLIDING {
        @Override
        void build(StreamsBuilder builder) {
            out(left(builder)
                    .windowedBy(SlidingWindows.ofTimeDifferenceAndGrace(WINDOW, GRACE))
                    .count());
        }
    },
    TUMBLING_ON_CLOSE {
        @Override
        void build(StreamsBuilder builder) {
            onClose(builder, TimeWindows.ofSizeAndGrace(WINDOW, GRACE));
        }
    },
    /** A window closes when another begins, so that it is as old as its retention. */
    TUMBLING_ON_CLOSE_NO_GRACE {
        @Override
        void build(StreamsBuilder builder) {
            onClose(builder, TimeWindows.ofSizeWithNoGrace(WINDOW));
        }
    },
    TUMBLING_ON_CLOSE_LONG_GRACE {
        @Override
        void build(StreamsBuilder builder) {
            onClose(builder, TimeWindows.ofSizeAndGrace(WINDOW, WINDOW));
        }
    },
    HOPPING_ON_CLOSE {
        @Override
        void build(StreamsBuilder builder) {
            onClose(builder, TimeWindows.ofSizeAndGrace(WINDOW, GRACE).advanceBy(WINDOW.dividedBy(4)));
        }
    },
    SLIDING_ON_CLOSE {
        @Override
        void build(StreamsBuilder builder) {
            out(left(builder)
                    .windowedBy(SlidingWindows.ofTimeDifferenceAndGrace(WINDOW, GRACE))
                    .emitStrategy(EmitStrategy.onWindowClose())
                    .count());
        }
    },
    SESSIONS_ON_CLOSE {
        @Override
        void build(StreamsBuilder builder) {
            onClose(builder, SessionWindows.ofInactivityGapAndGrace(SHORT, SHORT));
        }
    },
    SESSIONS_ON_CLOSE_NO_GRACE {
        @Override
        void build(StreamsBuilder builder) {
            onClose(builder, SessionWindows.ofInactivityGapWithNoGrace(SHORT));
        }
    },
    SUPPRESSED {
        @Override
        void build(StreamsBuilder builder) {
            out(left(builder)
                    .windowedBy(TimeWindows.ofSizeAndGrace(WINDOW, GRACE))
                    .count()
                    .suppress(Suppressed.untilWindowCloses(Suppressed.BufferConfig.unbounded())));
        }
    },
    SESSIONS {
        @Override
        void build(StreamsBuilder builder) {
            out(left(builder)
                    .windowedBy(SessionWindows.ofInactivityGapAndGrace(WINDOW, GRACE))
                    .count());
        }
    },
    STREAM_STREAM_INNER {
        @Override
        void build(StreamsBuilder builder) {
            leftStream(builder)
                    .join(rightStream(builder), Topologies::both, JOIN, JOINED)
                    .to("out", STRINGS);
        }
    },
    STREAM_STREAM_LEFT {
        @Override
        void build(StreamsBuilder builder) {
            leftStream(builder)
                    .leftJoin(rightStream(builder), Topologies::both, JOIN, JOINED)
                    .to("out", STRINGS);
        }
    },
    STREAM_STREAM_OUTER {
        @Override
        void build(StreamsBuilder builder) {
            leftStream(builder)
                    .outerJoin(rightStream(builder), Topologies::both, JOIN, JOINED)
                    .to("out", STRINGS);
        }
    },
    STREAM_TABLE {
        @Override
        void build(StreamsBuilder builder) {
            leftStream(builder).leftJoin(rightTable(builder), Topologies::both).to("out", STRINGS);
        }
    },
    STREAM_GLOBAL_TABLE {
        @Override
        void build(StreamsBuilder builder) {
            leftStream(builder)
                    .leftJoin(builder.globalTable("right", CONSUMED), (key, value) -> key, Topologies::both)
                    .to("out", STRINGS);
        }
    },
    TABLE_TABLE {
        @Override
        void build(StreamsBuilder builder) {
            KTable<String, String> left = builder.table("left", CONSUMED);
            left.outerJoin(rightTable(builder), Topologies::both).toStream().to("out", STRINGS);
        }
    },
    FOREIGN_KEY {
        @Override
        void build(StreamsBuilder builder) {
            KTable<String, String> left = builder.table("left", CONSUMED);
            left.leftJoin(rightTable(builder), Topologies::group, Topologies::both)
                    .toStream()
                    .to("out", STRINGS);
        }
    };

    static final Duration WINDOW = Duration.ofSeconds(20);
    static final Duration GRACE = Duration.ofSeconds(10);
    static final Duration SHORT = Duration.ofMillis(1_500);

    private static final Consumed<String, String> CONSUMED = Consumed.with(Serdes.String(), Serdes.String());
    private static final Produced<String, String> STRINGS = Produced.with(Serdes.String(), Serdes.String());
    private static final JoinWindows JOIN = JoinWindows.ofTimeDifferenceAndGrace(WINDOW, GRACE);
    private static final StreamJoined<String, String, String> JOINED =
            StreamJoined.with(Serdes.String(), Serdes.String(), Serdes.String());

    abstract void build(StreamsBuilder builder);

    boolean isEmittedOnClose() {
        return name().contains("_ON_CLOSE");
    }

    /**
     * Whether all records are of one minute, in which Kafka Streams' own stores drop nothing: they may drop sessions that are about to be emitted at
     * the end of each, which is one of their time segments, and when stream time jumps.
     */
    boolean isWithinAMinute() {
        return this == SESSIONS_ON_CLOSE || this == SESSIONS_ON_CLOSE_NO_GRACE;
    }

    /** Whether what closes together comes by its time from Kafka Streams' own stores, and by segments and keys from Heartwood's. */
    boolean comesByTime() {
        return this == SLIDING_ON_CLOSE || isWithinAMinute();
    }

    private static KStream<String, String> leftStream(StreamsBuilder builder) {
        return builder.stream("left", CONSUMED);
    }

    private static KStream<String, String> rightStream(StreamsBuilder builder) {
        return builder.stream("right", CONSUMED);
    }

    private static KTable<String, String> rightTable(StreamsBuilder builder) {
        return builder.table("right", CONSUMED, Materialized.with(Serdes.String(), Serdes.String()));
    }

    private static KGroupedStream<String, String> left(StreamsBuilder builder) {
        return leftStream(builder).groupByKey(Grouped.with(Serdes.String(), Serdes.String()));
    }

    private static String both(String left, String right) {
        return left + "+" + right;
    }

    /** The key that a value points to. */
    private static String group(String value) {
        return "k" + Math.floorMod(value.hashCode(), 7);
    }

    private static void onClose(StreamsBuilder builder, TimeWindows windows) {
        out(left(builder).windowedBy(windows).emitStrategy(EmitStrategy.onWindowClose()).count());
    }

    private static void onClose(StreamsBuilder builder, SessionWindows sessions) {
        out(left(builder).windowedBy(sessions).emitStrategy(EmitStrategy.onWindowClose()).count());
    }

    private static <V> void out(KTable<Windowed<String>, V> table) {
        table.toStream()
                .map((key, value) -> KeyValue.pair(key.key() + key.window(), String.valueOf(value)))
                .to("out", STRINGS);
    }
}
