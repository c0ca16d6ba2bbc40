package dev.heartwood.engine.write;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.extent.Promised;
import dev.heartwood.engine.log.BatchPayload;
import dev.heartwood.engine.memtable.Memtable;
import dev.heartwood.engine.os.KeyHasher;

/**
 * A batch in native memory, in the form that the log stores.
 *
 * @param count the number of entries
 * @param userBytes bytes of keys and values
 * @param payloadAddress where the payload is
 * @param payloadLength its length
 * @param space what space on the device it is for
 */
public record BatchEntries(int count, long userBytes, long payloadAddress, long payloadLength, Promised space) {
    /**
     * Inserts every entry, from {@code sequence} on, and makes them visible at once; {@code dead} hears of them before.
     *
     * @throws IllegalStateException when the payload does not have {@code count} entries; none is visible then
     */
    public void insertInto(Memtable memtable, int lane, long sequence, DeadRanges dead) {
        long batch = memtable.beginBatch(lane);
        BatchPayload entries = new BatchPayload();
        entries.reset(payloadAddress, payloadLength);
        long next = sequence;
        while (entries.next()) {
            if (entries.kind != Entries.DELETE) {
                dead.written(entries.keyAddress, entries.keyLength);
            }
            memtable.insertInBatch(
                    batch,
                    KeyHasher.hash(entries.keyAddress, entries.keyLength),
                    entries.keyAddress,
                    entries.keyLength,
                    next++,
                    entries.kind,
                    entries.valueAddress,
                    entries.valueLength);
        }
        if (next != sequence + count) {
            throw new IllegalStateException("a batch of " + count + " entries has " + (next - sequence) + " that are whole");
        }
        memtable.commitBatch(batch);
    }
}
