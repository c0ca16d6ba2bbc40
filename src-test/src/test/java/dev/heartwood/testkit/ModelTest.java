package dev.heartwood.testkit;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.Durability;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.NavigableMap;
import org.junit.jupiter.api.Test;

class ModelTest {
    private final Model model = new Model(new TailMergeOperator());

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static Write put(String key, String value) {
        return new Write(Write.Kind.PUT, bytes(key), bytes(value));
    }

    private static Write merge(String key, String operand) {
        return new Write(Write.Kind.MERGE, bytes(key), bytes(operand));
    }

    private int step(Durability level, Write... writes) {
        int step = model.begin(level, List.of(writes));
        model.acknowledge(step);
        return step;
    }

    private static NavigableMap<byte[], byte[]> map(String... keysAndValues) {
        NavigableMap<byte[], byte[]> map = Model.newMap();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            map.put(bytes(keysAndValues[i]), bytes(keysAndValues[i + 1]));
        }
        return map;
    }

    @Test
    void bufferedWritesSurviveAKillAndMayDieWithThePower() {
        step(Durability.SYNC, put("a", "1"));
        step(Durability.BUFFERED, put("b", "2"));
        assertNull(model.explain(CrashKind.KILL, map("a", "1", "b", "2")));
        assertNotNull(model.explain(CrashKind.KILL, map("a", "1")));
        assertNull(model.explain(CrashKind.POWER_LOSS, map("a", "1")));
        assertNotNull(model.explain(CrashKind.POWER_LOSS, map()));
        assertNotNull(model.explain(CrashKind.POWER_LOSS, map("b", "2")));
    }

    @Test
    void aSyncCoversWhatCameBefore() {
        step(Durability.BUFFERED, put("a", "1"));
        model.synced();
        assertNotNull(model.explain(CrashKind.POWER_LOSS, map()));
        assertNull(model.explain(CrashKind.POWER_LOSS, map("a", "1")));
    }

    @Test
    void aBatchIsWhole() {
        step(Durability.BUFFERED, put("a", "1"), put("b", "1"));
        assertNull(model.explain(CrashKind.POWER_LOSS, map()));
        assertNotNull(model.explain(CrashKind.POWER_LOSS, map("a", "1")));
        assertNull(model.explain(CrashKind.POWER_LOSS, map("a", "1", "b", "1")));
    }

    @Test
    void aWriteInFlightMayHaveHappened() {
        step(Durability.SYNC, put("a", "1"));
        model.begin(Durability.SYNC, List.of(put("b", "2")));
        assertNull(model.explain(CrashKind.KILL, map("a", "1")));
        assertNull(model.explain(CrashKind.KILL, map("a", "1", "b", "2")));
    }

    @Test
    void unloggedWritesAreMissingUnlessACheckpointHeldThem() {
        step(Durability.NONE, put("a", "1"));
        step(Durability.SYNC, put("b", "2"));
        step(Durability.NONE, put("c", "3"));
        assertNull(model.explain(CrashKind.KILL, map("b", "2")));
        assertNull(model.explain(CrashKind.KILL, map("a", "1", "b", "2")));
        assertNull(model.explain(CrashKind.KILL, map("a", "1", "b", "2", "c", "3")));
        assertNotNull(model.explain(CrashKind.KILL, map("b", "2", "c", "3")));
        model.checkpointed();
        assertNull(model.explain(CrashKind.KILL, map("a", "1", "b", "2", "c", "3")));
        assertNotNull(model.explain(CrashKind.KILL, map("a", "1", "b", "2")));
    }

    @Test
    void whatWasFoundIsTheNewGround() {
        step(Durability.BUFFERED, put("a", "1"));
        step(Durability.BUFFERED, put("b", "2"));
        model.adopt(CrashKind.POWER_LOSS, map("a", "1"));
        assertNull(model.explain(CrashKind.POWER_LOSS, map("a", "1")));
        assertNotNull(model.explain(CrashKind.POWER_LOSS, map()));
        assertNotNull(model.explain(CrashKind.KILL, map("a", "1", "b", "2")));
    }

    @Test
    void aRefusedStepHasNotHappened() {
        step(Durability.BUFFERED, put("a", "1"));
        model.begin(Durability.BUFFERED, List.of(put("a", "2")));
        model.refuse();
        assertNull(model.explain(CrashKind.KILL, map("a", "1")));
        assertNotNull(model.explain(CrashKind.KILL, map("a", "2")));
    }

    @Test
    void ofADiscardedKeyTheLastOperandsMayBeLeft() {
        step(Durability.BUFFERED, put("a", "1"), merge("a", "2"), put("b", "1"));
        step(Durability.BUFFERED, merge("a", "34"), put("b", "23"));
        for (String left : List.of("1234", "234", "34")) {
            assertTrue(model.mayBeLeft(bytes("a"), bytes(left)), left);
        }
        for (String never : List.of("12", "2", "4", "1", "134")) {
            assertFalse(model.mayBeLeft(bytes("a"), bytes(never)), never);
        }
        assertTrue(model.mayBeLeft(bytes("b"), bytes("23")));
        assertFalse(model.mayBeLeft(bytes("b"), bytes("1")), "an older value");
        assertFalse(model.mayBeLeft(bytes("b"), bytes("3")), "the end of a put");

        model.discarded(map("a", "1234"));
        step(Durability.BUFFERED, merge("a", "5"));
        for (String left : List.of("12345", "345", "45", "5")) {
            assertTrue(model.mayBeLeft(bytes("a"), bytes(left)), left);
        }
        for (String never : List.of("1234", "125", "4")) {
            assertFalse(model.mayBeLeft(bytes("a"), bytes(never)), never);
        }
    }
}
