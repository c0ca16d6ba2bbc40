package dev.heartwood.kafka.cluster;

import java.nio.file.Path;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerInterceptor;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/** Counts the commits of an application with one stream thread, which hears of each when it is done. */
public final class CommitCounter implements ConsumerInterceptor<byte[], byte[]> {
    private Counters counters;

    @Override
    public void configure(Map<String, ?> configs) {
        counters = Counters.open(Path.of(configs.get(Counters.FILE).toString()));
    }

    @Override
    public ConsumerRecords<byte[], byte[]> onConsume(ConsumerRecords<byte[], byte[]> records) {
        return records;
    }

    @Override
    public void onCommit(Map<TopicPartition, OffsetAndMetadata> offsets) {
        counters.commit();
    }

    @Override
    public void close() {}
}
