package dev.heartwood.kafka.cluster;

import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.JoinWindows;
import org.apache.kafka.streams.kstream.KGroupedStream;
import org.apache.kafka.streams.kstream.KStream;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.SessionWindows;
import org.apache.kafka.streams.kstream.SlidingWindows;
import org.apache.kafka.streams.kstream.StreamJoined;
import org.apache.kafka.streams.kstream.TimeWindows;

/** What an application does. */
enum Workload {
    /** Word count, windowed count, session count, a stream-stream join and a foreign-key join. */
    MANY {
        @Override
        void build(StreamsBuilder builder, Runnable onRecord) {
            KStream<String, String> left = builder.<String, String>stream(LEFT, CONSUMED);
            KStream<String, String> right = builder.stream(RIGHT, CONSUMED);
            KGroupedStream<String, String> words = left.groupByKey(Grouped.with(Serdes.String(), Serdes.String()));
            words.count().toStream().mapValues(String::valueOf).to("count", PRODUCED);
            words.windowedBy(TimeWindows.ofSizeAndGrace(Duration.ofSeconds(30), LONG))
                    .count()
                    .toStream((key, count) -> key.key() + "@" + key.window().start())
                    .mapValues(String::valueOf)
                    .to("windowed", PRODUCED);
            words.windowedBy(SessionWindows.ofInactivityGapAndGrace(Duration.ofSeconds(5), LONG))
                    .count()
                    .toStream((key, count) ->
                            key.key() + "@" + key.window().start() + "-" + key.window().end())
                    .mapValues(count -> count == null ? null : String.valueOf(count))
                    .to("sessions", PRODUCED);
            left.join(
                            right,
                            (a, b) -> a + "+" + b,
                            JoinWindows.ofTimeDifferenceAndGrace(Duration.ofSeconds(3), LONG),
                            StreamJoined.with(Serdes.String(), Serdes.String(), Serdes.String()))
                    .map((key, value) -> KeyValue.pair(key + "/" + value, value))
                    .to("joined", PRODUCED);
            builder.table("orders", CONSUMED, Materialized.with(Serdes.String(), Serdes.String()))
                    .join(
                            builder.table("customers", CONSUMED, Materialized.with(Serdes.String(), Serdes.String())),
                            order -> order.substring(0, 2),
                            (order, customer) -> order + "+" + customer)
                    .toStream()
                    .to("foreign", PRODUCED);
        }
    },
    /** A table of the last value of each key, which is the whole state: a read and a write for each record. */
    TABLE {
        @Override
        void build(StreamsBuilder builder, Runnable onRecord) {
            counted(builder, LEFT, onRecord)
                    .groupByKey(Grouped.with(Serdes.String(), Serdes.String()))
                    .reduce((before, now) -> now, Materialized.as("table"));
        }
    },
    /** As {@link #TABLE}, in many tables, each for some of the keys. */
    TABLES {
        @Override
        void build(StreamsBuilder builder, Runnable onRecord) {
            KStream<String, String> left = counted(builder, LEFT, onRecord);
            for (int i = 0; i < TABLES_COUNT; i++) {
                int number = i;
                left.filter((key, value) -> Math.floorMod(key.hashCode(), TABLES_COUNT) == number)
                        .groupByKey(Grouped.with(Serdes.String(), Serdes.String()))
                        .reduce((before, now) -> now, Materialized.as("table" + number));
            }
        }
    },
    /** The last value of each key in each tumbling window of five minutes. */
    WINDOWS {
        @Override
        void build(StreamsBuilder builder, Runnable onRecord) {
            counted(builder, LEFT, onRecord)
                    .groupByKey(Grouped.with(Serdes.String(), Serdes.String()))
                    .windowedBy(TimeWindows.ofSizeAndGrace(Duration.ofMinutes(5), MINUTE))
                    .reduce((before, now) -> now, Materialized.as("windows"));
        }
    },
    /** The last value of each key in each sliding window of a minute. */
    SLIDING {
        @Override
        void build(StreamsBuilder builder, Runnable onRecord) {
            counted(builder, LEFT, onRecord)
                    .groupByKey(Grouped.with(Serdes.String(), Serdes.String()))
                    .windowedBy(SlidingWindows.ofTimeDifferenceAndGrace(MINUTE, MINUTE))
                    .reduce((before, now) -> now, Materialized.as("sliding"));
        }
    },
    /** The last value of each key in each session, which a minute without a record ends. */
    SESSIONS {
        @Override
        void build(StreamsBuilder builder, Runnable onRecord) {
            counted(builder, LEFT, onRecord)
                    .groupByKey(Grouped.with(Serdes.String(), Serdes.String()))
                    .windowedBy(SessionWindows.ofInactivityGapAndGrace(MINUTE, MINUTE))
                    .reduce((before, now) -> now, Materialized.as("sessions"));
        }
    },
    /** Pairs of records of two streams that have a key in common and are less than a minute apart. */
    JOIN {
        @Override
        List<String> inputs() {
            return List.of(LEFT, RIGHT);
        }

        @Override
        void build(StreamsBuilder builder, Runnable onRecord) {
            counted(builder, LEFT, onRecord)
                    .join(
                            counted(builder, RIGHT, onRecord),
                            (left, right) -> left,
                            JoinWindows.ofTimeDifferenceAndGrace(MINUTE, MINUTE),
                            StreamJoined.with(Serdes.String(), Serdes.String(), Serdes.String()));
        }
    };

    /** Partitions of the input of the demonstration; each table is a store for each of them. */
    static final int PARTITIONS = 2;

    /** The tables of {@link #TABLES}. */
    static final int TABLES_COUNT = 50;

    static final String LEFT = "left";
    static final String RIGHT = "right";

    private static final Duration LONG = Duration.ofHours(1);
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final Consumed<String, String> CONSUMED = Consumed.with(Serdes.String(), Serdes.String());
    private static final Produced<String, String> PRODUCED = Produced.with(Serdes.String(), Serdes.String());

    /** Builds the topology; the demonstration's run {@code onRecord} for each record of their input. */
    abstract void build(StreamsBuilder builder, Runnable onRecord);

    /** The topics of the demonstration's input, among which its records take turns. */
    List<String> inputs() {
        return List.of(LEFT);
    }

    /**
     * The stores that the demonstration puts side by side. Those in memory look through all times there are to find a key's
     * windows or sessions, and would hold the others up.
     */
    Set<StoreKind> kinds() {
        return this == TABLE ? EnumSet.allOf(StoreKind.class) : EnumSet.of(StoreKind.HEARTWOOD, StoreKind.ROCKSDB);
    }

    private static KStream<String, String> counted(StreamsBuilder builder, String topic, Runnable onRecord) {
        return builder.<String, String>stream(topic, CONSUMED).peek((key, value) -> onRecord.run());
    }
}
