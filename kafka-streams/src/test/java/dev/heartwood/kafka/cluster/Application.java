package dev.heartwood.kafka.cluster;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.TopologyConfig;

/** One instance of an application: a process that runs a topology until it is ended. It says what it does in lines. */
public final class Application {
    /** What it says when all its tasks run. */
    static final String RUNNING = "RUNNING";

    /** What it says before it runs, followed by what it has restored: {@link RestoreTime#said}. */
    static final String RESTORED = "RESTORED ";

    private static final long LOOK_MILLIS = 200;
    private static final Pattern STREAM_THREAD = Pattern.compile(".*-StreamThread-\\d+");

    private Application() {}

    /** Arguments: a file with the configuration, and the name of a topology of {@link Workload}. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        Properties properties = new Properties();
        try (var in = Files.newInputStream(Path.of(arguments[0]))) {
            properties.load(in);
        }
        String file = properties.getProperty(Counters.FILE);
        Counters counters = file == null ? null : Counters.open(Path.of(file));
        Runnable count = counters == null ? () -> {} : () -> counters.increment(Counters.Counter.PROCESSED);
        Workload workload = Workload.valueOf(arguments[1]);
        KafkaStreams streams = new KafkaStreams(topology(workload, properties, count), properties);
        RestoreTime restored = new RestoreTime();
        streams.setGlobalStateRestoreListener(restored);
        streams.setStateListener((now, before) -> {
            if (now == KafkaStreams.State.RUNNING) {
                System.out.println(RESTORED + restored.said());
                System.out.println(RUNNING);
            } else {
                System.out.println("state " + now);
            }
            if (now == KafkaStreams.State.ERROR) {
                Runtime.getRuntime().halt(1);
            }
        });
        CountDownLatch ended = new CountDownLatch(1);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            streams.close();
            ended.countDown();
        }));
        streams.start();
        while (!ended.await(LOOK_MILLIS, TimeUnit.MILLISECONDS)) {
            if (counters != null) {
                counters.raise(Counters.Counter.MEMORY_USED_MAX, memoryUsed(streams));
                counters.set(Counters.Counter.STREAM_NANOS, streamNanos());
            }
        }
    }

    /** Processor time that the stream threads of this process have taken. */
    private static long streamNanos() {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        return Arrays.stream(threads.getThreadInfo(threads.getAllThreadIds()))
                .filter(thread -> thread != null && STREAM_THREAD.matcher(thread.getThreadName()).matches())
                .mapToLong(thread -> Math.max(0, threads.getThreadCpuTime(thread.getThreadId())))
                .sum();
    }

    /** What all stores of the instance use of their budget, by the metric that each of them shows; 0 when none does. */
    private static long memoryUsed(KafkaStreams streams) {
        return streams.metrics().values().stream()
                .filter(metric -> metric.metricName().name().equals("instance-memory-used-bytes"))
                .findFirst()
                .map(metric -> ((Number) metric.metricValue()).longValue())
                .orElse(0L);
    }

    /** The topology of a workload; {@code count} is run for each record of its input. */
    static Topology topology(Workload workload, Properties properties, Runnable count) {
        StreamsBuilder builder = new StreamsBuilder(new TopologyConfig(new StreamsConfig(properties)));
        workload.build(builder, count);
        return builder.build(properties);
    }
}
