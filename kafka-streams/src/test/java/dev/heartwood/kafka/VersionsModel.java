package dev.heartwood.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.state.VersionedKeyValueStore;
import org.apache.kafka.streams.state.VersionedRecord;

/** What a versioned store must show: all versions of all keys, with null where a key was deleted. */
final class VersionsModel {
    private final long retentionMillis;
    private final Map<Bytes, NavigableMap<Long, Bytes>> versions = new HashMap<>();
    private long streamTime = -1;
    private long observedTime = -1;

    VersionsModel(long retentionMillis) {
        this.retentionMillis = retentionMillis;
    }

    /** Another model that is as this one is now. */
    VersionsModel copy() {
        VersionsModel copy = new VersionsModel(retentionMillis);
        versions.forEach((key, ofKey) -> copy.versions.put(key, new TreeMap<>(ofKey)));
        copy.streamTime = streamTime;
        copy.observedTime = observedTime;
        return copy;
    }

    /** The store is opened again, and its time begins anew. */
    void reopened() {
        observedTime = -1;
    }

    /** What ended before the retention of this may have left the disk. */
    long streamTime() {
        return streamTime;
    }

    /** The time, or the first one of which a store that was opened again has everything. */
    long notGone(long time) {
        return observedTime < streamTime ? Math.max(time, streamTime - retentionMillis) : time;
    }

    /** Whether a store that was opened again may have nothing of a time. */
    boolean mayBeGone(long time) {
        return time < notGone(time);
    }

    /** What {@link VersionedKeyValueStore#put} returns. */
    long put(Bytes key, byte[] value, long time) {
        if (time < observedTime - retentionMillis) {
            return VersionedKeyValueStore.PUT_RETURN_CODE_NOT_PUT;
        }
        observedTime = Math.max(observedTime, time);
        streamTime = Math.max(streamTime, time);
        NavigableMap<Long, Bytes> ofKey = versions.computeIfAbsent(key, k -> new TreeMap<>());
        ofKey.put(time, value == null ? null : Bytes.wrap(value));
        Long next = ofKey.higherKey(time);
        return next == null ? VersionedKeyValueStore.PUT_RETURN_CODE_VALID_TO_UNDEFINED : next;
    }

    /** A version as it is shown. */
    record Shown(Bytes value, long from, Long to) {}

    private Shown version(Bytes key, Map.Entry<Long, Bytes> entry) {
        return entry == null || entry.getValue() == null
                ? null
                : new Shown(entry.getValue(), entry.getKey(), versions.get(key).higherKey(entry.getKey()));
    }

    Shown latest(Bytes key) {
        return versions.containsKey(key) ? version(key, versions.get(key).lastEntry()) : null;
    }

    Shown asOf(Bytes key, long time) {
        if (time < observedTime - retentionMillis) {
            Shown latest = latest(key);
            return latest != null && latest.from() <= time ? latest : null;
        }
        return versions.containsKey(key) ? version(key, versions.get(key).floorEntry(time)) : null;
    }

    /** The versions that were valid within a span of the history, the oldest first. */
    List<Shown> within(Bytes key, long from, long to) {
        List<Shown> found = new ArrayList<>();
        if (versions.containsKey(key)) {
            versions.get(key).entrySet().forEach(entry -> {
                Shown version = version(key, entry);
                if (version != null && version.from() <= to && (version.to() == null || version.to() > from)) {
                    found.add(version);
                }
            });
        }
        return found;
    }

    static void check(Shown expected, VersionedRecord<byte[]> found) {
        if (expected == null) {
            assertNull(found);
        } else {
            assertEquals(expected, shown(found));
        }
    }

    static Shown shown(VersionedRecord<byte[]> record) {
        return record == null
                ? null
                : new Shown(Bytes.wrap(record.value()), record.timestamp(), record.validTo().orElse(null));
    }
}
