package dev.heartwood.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.heartwood.testkit.TestDirectory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.StoreSupplier;

/** One of Heartwood's stores beside one of Kafka Streams' own: what is done to both must show the same in both. */
final class StorePair<S extends StateStore> implements AutoCloseable {
    private static final byte[] ALPHABET = {1, 'a', 'b', (byte) 0xff};

    private final TestDirectory directory = new TestDirectory("pair");
    private final SplittableRandom random;
    private final StoreSupplier<S> ours;
    private final StoreSupplier<S> theirs;
    private StoreContext ourContext;
    private StoreContext theirContext;
    private S our;
    private S their;
    private long offset;
    private int restores;

    StorePair(SplittableRandom random, StoreSupplier<S> ours, StoreSupplier<S> theirs) {
        this.random = random;
        this.ours = ours;
        this.theirs = theirs;
        open();
    }

    private void open() {
        ourContext = new StoreContext(directory.path().resolve("ours" + restores), Map.of());
        theirContext = new StoreContext(directory.path().resolve("theirs" + restores), Map.of());
        our = ourContext.open(ours.get());
        their = theirContext.open(theirs.get());
    }

    /** Commits and opens both again. */
    void reopen() {
        commit();
        our.close();
        their.close();
        open();
        assertEquals(offset, our.committedOffset(StoreContext.CHANGELOG));
        assertEquals(their.committedOffset(StoreContext.CHANGELOG), our.committedOffset(StoreContext.CHANGELOG));
    }

    /** Begins both anew, without their files, and restores what Kafka Streams' own store had. */
    void restore(Function<S, List<KeyValue<byte[], byte[]>>> changelogOf) {
        List<KeyValue<byte[], byte[]>> changelog = changelogOf.apply(their);
        our.close();
        their.close();
        restores++;
        open();
        ourContext.streams().restore(our.name(), changelog);
        theirContext.streams().restore(their.name(), changelog);
        same("what was restored", changelogOf.andThen(StorePair::comparable));
    }

    private static List<KeyValue<Bytes, Bytes>> comparable(List<KeyValue<byte[], byte[]>> entries) {
        return entries.stream()
                .map(entry -> KeyValue.pair(Bytes.wrap(entry.key), Bytes.wrap(entry.value)))
                .toList();
    }

    void commit() {
        offset++;
        ourContext.processing(offset, 0);
        theirContext.processing(offset, 0);
        our.commit(Map.of(StoreContext.CHANGELOG, offset));
        their.commit(Map.of(StoreContext.CHANGELOG, offset));
    }

    /** Does the same to both and compares what comes back. */
    <R> void same(String what, Function<S, R> action) {
        assertEquals(outcome(their, action), outcome(our, action), what);
    }

    private static <S, R> Object outcome(S store, Function<S, R> action) {
        Object result = action.apply(store);
        return result instanceof byte[] bytes ? Bytes.wrap(bytes) : result;
    }

    /** Compares what iterators show, in their order. */
    <K> void sameEntries(String what, Function<S, ? extends KeyValueIterator<K, byte[]>> fetch) {
        same(what, store -> entries(() -> fetch.apply(store)));
    }

    private static <K> List<KeyValue<K, Bytes>> entries(Supplier<? extends KeyValueIterator<K, byte[]>> fetch) {
        List<KeyValue<K, Bytes>> entries = new ArrayList<>();
        try (KeyValueIterator<K, byte[]> iterator = fetch.get()) {
            while (iterator.hasNext()) {
                assertEquals(iterator.peekNextKey(), iterator.peekNextKey());
                KeyValue<K, byte[]> entry = iterator.next();
                entries.add(KeyValue.pair(entry.key, Bytes.wrap(entry.value)));
            }
        }
        return entries;
    }

    /**
     * A short key; many are prefixes of others. None has a zero, because Kafka Streams' own window and session stores leave
     * out some entries of a range whose upper bound has one.
     */
    Bytes key() {
        byte[] key = new byte[random.nextInt(1, 5)];
        for (int i = 0; i < key.length; i++) {
            key[i] = ALPHABET[random.nextInt(ALPHABET.length)];
        }
        return Bytes.wrap(key);
    }

    /** A bound of a range; sometimes there is none. */
    Bytes bound() {
        return random.nextInt(4) == 0 ? null : key();
    }

    /** A value, or now and then none. */
    byte[] value() {
        if (random.nextInt(6) == 0) {
            return null;
        }
        byte[] value = new byte[random.nextInt(random.nextInt(20) == 0 ? 3_000 : 30)];
        Arrays.fill(value, (byte) random.nextInt());
        return value;
    }

    @Override
    public void close() {
        our.close();
        their.close();
        directory.close();
    }
}
