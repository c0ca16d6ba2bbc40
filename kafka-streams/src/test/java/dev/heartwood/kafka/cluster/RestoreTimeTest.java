package dev.heartwood.kafka.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.kafka.cluster.RestoreTime.Restored;
import java.util.List;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

/** Of two restores at one speed the longer one seemed faster, since each began slowly. */
class RestoreTimeTest {
    private static final TopicPartition PARTITION = new TopicPartition("changelog", 0);

    @Test
    void restoresAreComparedAsFarAsTheShortestGoes() {
        Restored shorter = Restored.of("100010 3000 2000 2999");
        Restored longer = Restored.of("250000 6000 2000 3000 4000 5000 6000");
        assertEquals(33_344, shorter.perSecond(100_010));
        assertEquals(33_333, longer.perSecond(100_010));
        assertEquals(41_666, longer.perSecond(250_000));
        assertEquals(50_000, Restored.of("10000 200").perSecond(10_000));
    }

    @Test
    void saysHowFarItHadComeWhen() {
        RestoreTime time = new RestoreTime();
        time.onRestoreStart(PARTITION, "s", 0, 130_000);
        time.onBatchRestored(PARTITION, "s", 0, 30_000);
        time.onBatchRestored(PARTITION, "s", 0, 100_000);
        time.onRestoreEnd(PARTITION, "s", 130_000);
        Restored said = Restored.of(time.said());
        assertEquals(130_000, said.records());
        assertEquals(2, said.notedMillis().size());
        assertTrue(said.notedMillis().getLast() <= said.millis());
        assertEquals(List.of(), Restored.of(new RestoreTime().said()).notedMillis());
    }
}
