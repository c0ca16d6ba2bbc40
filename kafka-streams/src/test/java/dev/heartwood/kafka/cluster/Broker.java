package dev.heartwood.kafka.cluster;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.Uuid;

/** One Kafka broker, its own controller, on loopback. */
final class Broker implements AutoCloseable {
    private final ChildProcess process;
    private final String address;

    private Broker(ChildProcess process, String address) {
        this.process = process;
        this.address = address;
    }

    /** Starts a broker that keeps everything in a directory and does not compact topics; returns when it answers. */
    static Broker start(Path directory) {
        try {
            int port = freePort();
            int controllerPort = freePort();
            Path configuration = directory.resolve("server.properties");
            Files.createDirectories(directory);
            Files.writeString(
                    configuration,
                    """
                    process.roles=broker,controller
                    node.id=1
                    controller.quorum.bootstrap.servers=127.0.0.1:%2$d
                    listeners=PLAINTEXT://127.0.0.1:%1$d,CONTROLLER://127.0.0.1:%2$d
                    advertised.listeners=PLAINTEXT://127.0.0.1:%1$d,CONTROLLER://127.0.0.1:%2$d
                    listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
                    controller.listener.names=CONTROLLER
                    log.dirs=%3$s
                    offsets.topic.replication.factor=1
                    offsets.topic.num.partitions=4
                    transaction.state.log.replication.factor=1
                    transaction.state.log.min.isr=1
                    transaction.state.log.num.partitions=4
                    share.coordinator.state.topic.replication.factor=1
                    share.coordinator.state.topic.min.isr=1
                    group.initial.rebalance.delay.ms=0
                    log.retention.ms=-1
                    log.cleaner.backoff.ms=3600000
                    """
                            .formatted(port, controllerPort, directory.resolve("log")));
            ChildProcess format = ChildProcess.start(
                    directory.resolve("format.out"),
                    "256m",
                    "kafka.tools.StorageTool",
                    List.of("format", "--standalone", "-t", Uuid.randomUuid().toString(), "-c", configuration.toString()));
            if (format.join() != 0) {
                throw new IllegalStateException("the broker's storage cannot be made: " + format.said());
            }
            ChildProcess process = ChildProcess.start(
                    directory.resolve("broker.out"), "512m", "kafka.Kafka", List.of(configuration.toString()));
            Broker broker = new Broker(process, "127.0.0.1:" + port);
            broker.awaitAnswer();
            return broker;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    private void awaitAnswer() {
        try (Admin admin = admin()) {
            while (true) {
                try {
                    admin.describeCluster().nodes().get();
                    return;
                } catch (ExecutionException e) {
                    if (!process.isAlive()) {
                        throw new IllegalStateException("the broker has ended: " + process.said(), e);
                    }
                } catch (InterruptedException e) {
                    throw new IllegalStateException("interrupted", e);
                }
            }
        }
    }

    String address() {
        return address;
    }

    Admin admin() {
        return Admin.create(Map.of(
                AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, address,
                AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, 5_000,
                AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, 5_000));
    }

    /** Makes topics with a number of partitions each. */
    void createTopics(List<String> names, int partitions) {
        try (Admin admin = admin()) {
            admin.createTopics(names.stream()
                            .map(name -> new NewTopic(name, partitions, (short) 1))
                            .toList())
                    .all()
                    .get();
        } catch (ExecutionException e) {
            throw new IllegalStateException("topics cannot be made", e);
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted", e);
        }
    }

    @Override
    public void close() {
        process.close();
    }
}
