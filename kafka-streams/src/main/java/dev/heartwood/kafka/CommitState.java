package dev.heartwood.kafka;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.errors.ProcessorStateException;
import org.apache.kafka.streams.query.Position;
import org.apache.kafka.streams.state.internals.PositionSerde;

/**
 * What a commit records, as one value, so that it is atomic. Immutable.
 *
 * @param epoch the number of the commit; undo records carry the epoch of the commit they lead back to
 * @param streamTime the largest timestamp seen, by which its data expires, or -1
 * @param dataUpTo no data of the commit has a timestamp after this, if its keys have times; {@link #UNKNOWN} when that is not known
 * @param offsets the changelog offsets that the data stands for
 * @param position the position of the input that the data stands for; not shared
 * @param madeAt the wall-clock time, in milliseconds, at which the offsets were right, or {@link #NO_TIME}
 */
record CommitState(
        long epoch, long streamTime, long dataUpTo, Map<TopicPartition, Long> offsets, Position position, long madeAt) {
    /** The {@link #dataUpTo} of a commit that does not say how late its data is. */
    static final long UNKNOWN = Long.MAX_VALUE;

    /** The {@link #madeAt} of a commit that does not say when it was made. */
    static final long NO_TIME = -1;

    /** Of a commit of nothing: what is written after it has no records that lead back, for which versions before would look. */
    private static final byte VERSION_OF_NOTHING = 5;

    private static final byte VERSION = 4;
    private static final byte VERSION_WITHOUT_TIME = 3;
    /** Did not know of the data of a versioned store that a killed process had left. */
    private static final byte VERSION_OF_SEGMENTS = 2;
    private static final byte VERSION_WITHOUT_DATA_UP_TO = 1;

    /** The state of a table that was never committed. */
    static CommitState none() {
        return new CommitState(0, -1, -1, Map.of(), Position.emptyPosition(), NO_TIME);
    }

    /**
     * The offsets after a commit of {@code changes}: none when it is empty, and no value means that an offset goes. So does one that becomes
     * unknown over data: Kafka Streams commits that of stores whose offset it has not asked for yet when it gives up their task, and would read the
     * changelog into them from its beginning, which does not have the deletions of before any more.
     *
     * @param mayBegin whether a store that has no offset is empty
     */
    Map<TopicPartition, Long> offsetsAfter(Map<TopicPartition, Long> changes, boolean mayBegin) {
        if (changes.isEmpty()) {
            return Map.of();
        }
        Map<TopicPartition, Long> after = new HashMap<>(offsets);
        changes.forEach((partition, offset) -> {
            Long before = offsets.get(partition);
            boolean begins = before == null ? mayBegin : before < 0;
            if (offset == null || offset < 0 && !begins) {
                after.remove(partition);
            } else {
                after.put(partition, offset);
            }
        });
        return Map.copyOf(after);
    }

    /** Whether the data stands for some offset; Kafka Streams also commits that it knows none, as a negative one. */
    boolean knowsOffsets() {
        for (long offset : offsets.values()) {
            if (offset >= 0) {
                return true;
            }
        }
        return false;
    }

    /**
     * Whether the data of this commit is none: there was no commit yet, or one by which Kafka Streams said that it knew no offset, which it does of an
     * empty store only. A commit without any offsets is one of a store without a changelog, and has data.
     */
    boolean isOfNothing() {
        return epoch == 0 || !offsets.isEmpty() && !knowsOffsets();
    }

    /** This commit, whose offsets were right at a later time too. */
    CommitState rightAt(long wallMillis) {
        return new CommitState(epoch, streamTime, dataUpTo, offsets, position, wallMillis);
    }

    /** This commit, whose data expires by another time. */
    CommitState at(long otherStreamTime) {
        return new CommitState(epoch, otherStreamTime, dataUpTo, offsets, position, madeAt);
    }

    /** Whether it was made at most so long before a time, and not after it. */
    boolean isYoung(long wallMillis, long ageMaxMillis) {
        return madeAt != NO_TIME && madeAt <= wallMillis && wallMillis - madeAt <= ageMaxMillis;
    }

    /** Whether it was made longer than that before a time; one that was made after it was not, for a clock may have been set back. */
    boolean isOld(long wallMillis, long ageMaxMillis) {
        return wallMillis - madeAt > ageMaxMillis;
    }

    byte[] encoded() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeByte(isOfNothing() ? VERSION_OF_NOTHING : VERSION);
            out.writeLong(epoch);
            out.writeLong(streamTime);
            out.writeLong(dataUpTo);
            out.writeInt(offsets.size());
            for (Map.Entry<TopicPartition, Long> entry : offsets.entrySet()) {
                out.writeUTF(entry.getKey().topic());
                out.writeInt(entry.getKey().partition());
                out.writeLong(entry.getValue());
            }
            byte[] positionBytes = PositionSerde.serialize(position).array();
            out.writeInt(positionBytes.length);
            out.write(positionBytes);
            out.writeLong(madeAt);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    static CommitState decode(String storeName, TableKind kind, byte[] encoded) {
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(encoded))) {
            byte version = in.readByte();
            if (version < VERSION_WITHOUT_DATA_UP_TO || version > VERSION_OF_NOTHING) {
                throw new ProcessorStateException("The last commit of store " + storeName + " has version " + version
                        + ", which this version of Heartwood does not know");
            }
            long epoch = in.readLong();
            long streamTime = in.readLong();
            long dataUpTo = version == VERSION_WITHOUT_DATA_UP_TO ? UNKNOWN : in.readLong();
            if (version == VERSION_OF_SEGMENTS && kind == TableKind.VERSIONED) {
                dataUpTo = UNKNOWN;
            }
            int count = in.readInt();
            Map<TopicPartition, Long> offsets = new HashMap<>();
            for (int i = 0; i < count; i++) {
                TopicPartition partition = new TopicPartition(in.readUTF(), in.readInt());
                offsets.put(partition, in.readLong());
            }
            Position position = PositionSerde.deserialize(ByteBuffer.wrap(in.readNBytes(in.readInt())));
            long madeAt = version <= VERSION_WITHOUT_TIME ? NO_TIME : in.readLong();
            return new CommitState(epoch, streamTime, dataUpTo, Map.copyOf(offsets), position, madeAt);
        } catch (IOException | IllegalArgumentException e) {
            throw new ProcessorStateException("The last commit of store " + storeName + " cannot be read", e);
        }
    }
}
