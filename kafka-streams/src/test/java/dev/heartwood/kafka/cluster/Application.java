package dev.heartwood.kafka.cluster;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.TopologyConfig;

/** One instance of an application: a process that runs a topology until it is ended. It says what it does in lines. */
public final class Application {
    /** What it says when all its tasks run. */
    static final String RUNNING = "RUNNING";

    /** What it says before it runs, followed by how many records it has restored and the milliseconds that this took. */
    static final String RESTORED = "RESTORED ";

    private Application() {}

    /** Arguments: a file with the configuration, and the name of a topology of {@link Workload}. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        Properties properties = new Properties();
        try (var in = Files.newInputStream(Path.of(arguments[0]))) {
            properties.load(in);
        }
        KafkaStreams streams = new KafkaStreams(topology(Workload.valueOf(arguments[1]), properties), properties);
        RestoreTime restored = new RestoreTime();
        streams.setGlobalStateRestoreListener(restored);
        streams.setStateListener((now, before) -> {
            if (now == KafkaStreams.State.RUNNING) {
                System.out.println(RESTORED + restored.said());
                System.out.println(RUNNING);
            } else {
                System.out.println("state " + now);
            }
        });
        CountDownLatch ended = new CountDownLatch(1);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            streams.close();
            ended.countDown();
        }));
        streams.start();
        ended.await();
    }

    static Topology topology(Workload workload, Properties properties) {
        StreamsBuilder builder = new StreamsBuilder(new TopologyConfig(new StreamsConfig(properties)));
        workload.build(builder);
        return builder.build(properties);
    }
}
