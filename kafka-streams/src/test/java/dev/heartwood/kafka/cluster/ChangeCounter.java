package dev.heartwood.kafka.cluster;

import java.nio.file.Path;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;

/** Counts what an application with one stream thread sends to its changelogs. */
public final class ChangeCounter implements ProducerInterceptor<byte[], byte[]> {
    private Counters counters;

    @Override
    public void configure(Map<String, ?> configs) {
        counters = Counters.open(Path.of(configs.get(Counters.FILE).toString()));
    }

    @Override
    public ProducerRecord<byte[], byte[]> onSend(ProducerRecord<byte[], byte[]> record) {
        if (record.topic().endsWith("-changelog")) {
            counters.increment(Counters.Counter.CHANGES);
        }
        return record;
    }

    @Override
    public void onAcknowledgement(RecordMetadata metadata, Exception exception) {}

    @Override
    public void close() {}
}
