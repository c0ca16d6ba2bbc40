package dev.heartwood.kafka.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.kafka.HeartwoodDslStoreSuppliers;
import dev.heartwood.testkit.TestDirectory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.TopologyTestDriver;
import org.junit.jupiter.api.Test;

/** Two instances with standbys at a real broker; one is killed under load and started again. The answer is the expected one. */
class ClusterTest {
    private static final int PARTITIONS = 2;
    private static final int RECORDS = 3_000;
    private static final List<String> INPUTS = List.of(Workload.LEFT, Workload.RIGHT, "orders", "customers");
    private static final List<String> OUTPUTS = List.of("count", "windowed", "sessions", "joined", "foreign");

    /** How often nothing may come in a row, a second each, before the answer is taken as final. */
    private static final int QUIET_POLLS_MAX = 90;

    private record Input(String topic, String key, String value, long timestamp) {}

    @Test
    void exactlyOnceGivesTheExpectedAnswerThroughAKill() {
        run(StreamsConfig.EXACTLY_ONCE_V2);
    }

    @Test
    void atLeastOnceMissesNothingThroughAKill() {
        run(StreamsConfig.AT_LEAST_ONCE);
    }

    private static void run(String guarantee) {
        List<Input> inputs = inputs();
        boolean isExact = guarantee.equals(StreamsConfig.EXACTLY_ONCE_V2);
        try (TestDirectory directory = new TestDirectory("cluster");
                Broker broker = Broker.start(directory.path().resolve("broker"))) {
            broker.createTopics(INPUTS, PARTITIONS);
            broker.createTopics(OUTPUTS, PARTITIONS);
            Map<String, String> expected = expected(inputs, directory.path());
            Path one = configuration(directory.path(), broker, guarantee, "one");
            Path two = configuration(directory.path(), broker, guarantee, "two");
            try (ChildProcess first = start(one);
                    ChildProcess second = start(two)) {
                produce(broker, inputs.subList(0, RECORDS / 2));
                Answers answers = new Answers(broker, isExact);
                answers.await(expected.size() / 4, first, second);
                first.kill();
                produce(broker, inputs.subList(RECORDS / 2, RECORDS));
                try (ChildProcess again = start(one)) {
                    answers.awaitAll(expected, again, second);
                }
                answers.close();
            }
        }
    }

    private static ChildProcess start(Path configuration) {
        return ChildProcess.start(
                configuration.resolveSibling(configuration.getFileName() + ".out"),
                "300m",
                Application.class.getName(),
                List.of(configuration.toString(), Workload.MANY.name()));
    }

    private static Path configuration(Path directory, Broker broker, String guarantee, String instance) {
        Properties properties = properties(directory.resolve(instance));
        properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, broker.address());
        properties.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, guarantee);
        properties.put(StreamsConfig.NUM_STANDBY_REPLICAS_CONFIG, "1");
        properties.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, "200");
        properties.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, "0");
        properties.put(StreamsConfig.consumerPrefix("session.timeout.ms"), "6000");
        properties.put(StreamsConfig.consumerPrefix("auto.offset.reset"), "earliest");
        properties.put(
                StreamsConfig.DSL_STORE_SUPPLIERS_CLASS_CONFIG, HeartwoodDslStoreSuppliers.class.getName());
        properties.put("heartwood.memory.max.bytes", "64m");
        Path file = directory.resolve(instance + ".properties");
        try (var out = Files.newOutputStream(file)) {
            properties.store(out, null);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return file;
    }

    private static Properties properties(Path stateDirectory) {
        Properties properties = new Properties();
        properties.put(StreamsConfig.APPLICATION_ID_CONFIG, "cluster");
        properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "127.0.0.1:9");
        properties.put(StreamsConfig.STATE_DIR_CONFIG, stateDirectory.toString());
        return properties;
    }

    private static List<Input> inputs() {
        SplittableRandom random = new SplittableRandom(1);
        List<Input> inputs = new ArrayList<>();
        // Of today: what is older than its topic's retention the broker deletes.
        long now = System.currentTimeMillis() - Duration.ofHours(2).toMillis();
        for (int i = 0; i < RECORDS; i++) {
            now += random.nextInt(500);
            String topic = INPUTS.get(random.nextInt(INPUTS.size()));
            String key = topic.equals("customers") ? "c" + random.nextInt(5) : "k" + random.nextInt(20);
            String value = topic.equals("orders") ? "c" + random.nextInt(5) + "-" + i : "v" + i;
            inputs.add(new Input(topic, key, value, now));
        }
        return inputs;
    }

    private static void produce(Broker broker, List<Input> inputs) {
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", broker.address()), new StringSerializer(), new StringSerializer())) {
            inputs.forEach(input -> producer.send(
                    new ProducerRecord<>(input.topic(), null, input.timestamp(), input.key(), input.value())));
        }
    }

    /** The last value of each key of each output, from Kafka Streams' own stores in one process. */
    private static Map<String, String> expected(List<Input> inputs, Path directory) {
        Properties properties = properties(directory.resolve("expected"));
        Map<String, String> answers = new TreeMap<>();
        try (TopologyTestDriver driver =
                new TopologyTestDriver(Application.topology(Workload.MANY, properties, () -> {}), properties)) {
            Map<String, TestInputTopic<String, String>> topics = new TreeMap<>();
            INPUTS.forEach(topic -> topics.put(
                    topic, driver.createInputTopic(topic, new StringSerializer(), new StringSerializer())));
            inputs.forEach(input -> topics.get(input.topic()).pipeInput(input.key(), input.value(), input.timestamp()));
            for (String topic : OUTPUTS) {
                driver.createOutputTopic(topic, new StringDeserializer(), new StringDeserializer())
                        .readRecordsToList()
                        .forEach(record -> put(answers, topic, record.key(), record.value()));
            }
        }
        return answers;
    }

    private static void put(Map<String, String> answers, String topic, String key, String value) {
        if (value == null) {
            answers.remove(topic + " " + key);
        } else {
            answers.put(topic + " " + key, value);
        }
    }

    /** What has come out of the application so far. */
    private static final class Answers implements AutoCloseable {
        private final KafkaConsumer<String, String> consumer;
        private final Map<String, String> last = new TreeMap<>();
        private final boolean isExact;

        Answers(Broker broker, boolean isExact) {
            this.isExact = isExact;
            consumer = new KafkaConsumer<>(
                    Map.of(
                            "bootstrap.servers", broker.address(),
                            "group.id", "answers",
                            "auto.offset.reset", "earliest",
                            "isolation.level", "read_committed"),
                    new StringDeserializer(),
                    new StringDeserializer());
            consumer.subscribe(OUTPUTS);
        }

        void await(int count, ChildProcess... applications) {
            poll(() -> last.size() >= count, applications);
            assertTrue(last.size() >= count, () -> "only " + last.size() + " answers" + said(applications));
        }

        void awaitAll(Map<String, String> expected, ChildProcess... applications) {
            poll(() -> isAnswer(expected), applications);
            if (isExact) {
                assertEquals(expected, last, () -> said(applications));
            } else {
                assertTrue(isAnswer(expected), () -> "expected at least " + expected + ", found " + last + said(applications));
            }
        }

        /** Under at-least-once a count may be too high, but nothing is missing. */
        private boolean isAnswer(Map<String, String> expected) {
            if (isExact) {
                return last.equals(expected);
            }
            return expected.entrySet().stream().allMatch(entry -> {
                String found = last.get(entry.getKey());
                boolean isCount = Character.isDigit(entry.getValue().charAt(0));
                return found != null
                        && (isCount
                                ? Long.parseLong(found) >= Long.parseLong(entry.getValue())
                                : found.equals(entry.getValue()));
            });
        }

        private void poll(java.util.function.BooleanSupplier isDone, ChildProcess... applications) {
            int quiet = 0;
            while (!isDone.getAsBoolean() && quiet < QUIET_POLLS_MAX) {
                quiet++;
                for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofSeconds(1))) {
                    put(last, record.topic(), record.key(), record.value());
                    quiet = 0;
                }
                for (ChildProcess application : applications) {
                    assertTrue(application.isAlive(), () -> "an instance has ended: " + application.said());
                }
            }
        }

        private static String said(ChildProcess... applications) {
            StringBuilder said = new StringBuilder();
            for (ChildProcess application : applications) {
                said.append("\nan instance said:\n").append(application.said());
            }
            return said.toString();
        }

        @Override
        public void close() {
            consumer.close();
        }
    }
}
