package dev.heartwood.kafka.cluster;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * The input of the demonstration: every key once, in a random order, then records of random keys, each key as likely as any other.
 * By their timestamps a record of each key comes once a minute on average.
 *
 * @param keys how many keys there are
 * @param valueBytes the length of a value, 12 or more
 */
record DemoInput(int keys, int valueBytes) {
    private static final int NUMBER_BYTES = 12;
    private static final long KEY_MILLIS = 60_000;
    private static final long SEED = 1;

    /** About what the state of all keys takes, without what a store adds. */
    long stateBytes() {
        return (long) keys * (key(0).length() + Long.BYTES + valueBytes);
    }

    private static String key(int number) {
        return String.format("key%09d", number);
    }

    /** Produces so many records, to some topics in turn. */
    void produce(Broker broker, List<String> topics, int count) {
        // Of today, if it can be: what is older than its topic's retention the broker deletes, and what lies ahead it refuses.
        long span = count * KEY_MILLIS / keys;
        long begin = System.currentTimeMillis() - Math.max(span, Duration.ofHours(3).toMillis());
        AtomicReference<Exception> refused = new AtomicReference<>();
        int[] order = shuffled();
        SplittableRandom random = new SplittableRandom(SEED);
        String filler = "v".repeat(valueBytes - NUMBER_BYTES);
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(
                // One request at a time: a broker that does not lead a new topic yet fails the first, and those behind it would never fit.
                Map.of(
                        "bootstrap.servers",
                        broker.address(),
                        "linger.ms",
                        20,
                        "batch.size",
                        1 << 18,
                        "max.in.flight.requests.per.connection",
                        1),
                new StringSerializer(),
                new StringSerializer())) {
            for (int i = 0; i < count; i++) {
                String key = key(i < keys ? order[i] : random.nextInt(keys));
                String topic = topics.get(i % topics.size());
                long timestamp = begin + i * KEY_MILLIS / keys;
                producer.send(
                        new ProducerRecord<>(topic, null, timestamp, key, String.format("%012d", i) + filler),
                        (metadata, failure) -> refused.compareAndSet(null, failure));
            }
        }
        if (refused.get() != null) {
            throw new IllegalStateException("the broker did not take all of the input", refused.get());
        }
    }

    private int[] shuffled() {
        SplittableRandom random = new SplittableRandom(SEED);
        int[] order = new int[keys];
        for (int i = 0; i < keys; i++) {
            int other = random.nextInt(i + 1);
            order[i] = order[other];
            order[other] = i;
        }
        return order;
    }
}
