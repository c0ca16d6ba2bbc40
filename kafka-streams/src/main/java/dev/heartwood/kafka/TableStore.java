package dev.heartwood.kafka;

import java.nio.file.Files;
import java.util.Collection;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.apache.kafka.streams.processor.internals.ChangelogRecordDeserializationHelper;
import org.apache.kafka.streams.processor.internals.RecordBatchingStateRestoreCallback;
import org.apache.kafka.streams.query.Position;
import org.apache.kafka.streams.query.PositionBound;
import org.apache.kafka.streams.query.Query;
import org.apache.kafka.streams.query.QueryConfig;
import org.apache.kafka.streams.query.QueryResult;
import org.apache.kafka.streams.state.internals.StoreQueryUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What all kinds of stores have in common: they are a {@link StateTable} between {@code init} and {@code close}. Kafka Streams may
 * initialise a store again after it has closed it.
 *
 * <p>{@code approximateNumUncommittedBytes} and {@code getCommittedPosition} are what Kafka Streams 4.4 asks transactional stores.
 */
abstract class TableStore implements StateStore {
    private static final Logger LOG = LoggerFactory.getLogger(TableStore.class);

    /** Where Kafka Streams up to 4.2 keeps the offsets of the stores that a task has, in the task's directory. */
    private static final String OFFSETS_OF_OLD = ".checkpoint";

    private final String name;
    private final TableFilter.Expiry expiry;
    private final TableShape shape;
    private Time time = Time.SYSTEM;
    private StateStoreContext context;
    private boolean consistencyEnabled;
    /** Kafka Streams may yet commit offsets of another store to this one. Belongs to the thread that initialises it. */
    private boolean awaitsOffsetsOfOld;

    private volatile StateTable table;

    TableStore(String name, TableShape shape, TableFilter.Expiry expiry) {
        this.name = name;
        this.shape = shape;
        this.expiry = expiry;
    }

    /** Has the store go by another clock from its next opening on. For tests. */
    final void goBy(Time time) {
        this.time = time;
    }

    @Override
    public final String name() {
        return name;
    }

    @Override
    public final void init(StateStoreContext context, StateStore root) {
        this.context = context;
        consistencyEnabled = StreamsConfig.InternalConfig.getBoolean(
                context.appConfigs(), StreamsConfig.InternalConfig.IQ_CONSISTENCY_OFFSET_VECTOR_ENABLED, false);
        open();
        awaitsOffsetsOfOld = Files.exists(context.stateDir().toPath().resolve(OFFSETS_OF_OLD));
        context.register(root, (RecordBatchingStateRestoreCallback) this::restoreBatch);
    }

    private void open() {
        table = new TableOpener(context, name, shape, expiry, time).open();
        opened(context);
    }

    /** Called when the table is open, before the store is registered. */
    void opened(StateStoreContext context) {}

    /** A store that has been closed is opened by what is restored into it, as Kafka Streams' own are. */
    private void restoreBatch(Collection<ConsumerRecord<byte[], byte[]>> records) {
        if (!isOpen()) {
            open();
        }
        table().restore(batch -> restore(records, batch));
    }

    /** Puts restored records into the batch. */
    abstract void restore(Collection<ConsumerRecord<byte[], byte[]>> records, RestoreBatch batch);

    /** Takes over the position that a restored record carries, for when the batch is written. */
    final void restorePosition(ConsumerRecord<byte[], byte[]> record, RestoreBatch batch) {
        ChangelogRecordDeserializationHelper.applyChecksAndUpdatePosition(record, consistencyEnabled, batch.position());
    }

    /** Moves the position on to the record being processed. */
    final void updatePosition() {
        Position position = table().position();
        synchronized (position) {
            StoreQueryUtils.updatePosition(position, context);
        }
    }

    /** The open table. */
    final StateTable table() {
        StateTable open = table;
        if (open == null || !open.isOpen()) {
            throw new InvalidStateStoreException("Store " + name + " is currently closed");
        }
        return open;
    }

    final TableShape shape() {
        return shape;
    }

    final StateStoreContext context() {
        return context;
    }

    /**
     * Makes what was written so far what the offsets stand for. Where a task has run on Kafka Streams 4.2 or earlier, the first start on a
     * later one commits the offsets that it finds to whatever store has the changelog now, before it asks for any. They say what the store
     * had that was there then; this one's own are in its table. So those are not taken over.
     */
    @Override
    public final void commit(Map<TopicPartition, Long> changelogOffsets) {
        if (awaitsOffsetsOfOld && !changelogOffsets.isEmpty()) {
            LOG.info("Store {} does not take over {}, which an earlier version of Kafka Streams kept for the store in its place", name, changelogOffsets);
            return;
        }
        StateTable open = table;
        if (open != null) {
            open.commit(changelogOffsets);
        }
    }

    @Override
    public final Long committedOffset(TopicPartition partition) {
        awaitsOffsetsOfOld = false;
        return table().committedOffset(partition);
    }

    @Override
    @SuppressWarnings("deprecation")
    public final boolean managesOffsets() {
        return true;
    }

    @Override
    public final boolean persistent() {
        return true;
    }

    @Override
    public final boolean isOpen() {
        StateTable open = table;
        return open != null && open.isOpen();
    }

    @Override
    public final void close() {
        StateTable open = table;
        if (open != null) {
            open.close();
        }
    }

    @Override
    public <R> QueryResult<R> query(Query<R> query, PositionBound bound, QueryConfig config) {
        return StoreQueryUtils.handleBasicQueries(query, bound, config, this, getPosition(), context);
    }

    /** A copy, so that a query neither waits for the writer nor makes it wait. */
    @Override
    public final Position getPosition() {
        StateTable open = table;
        if (open == null) {
            return Position.emptyPosition();
        }
        Position position = open.position();
        synchronized (position) {
            return position.copy();
        }
    }

    /** Bytes written since the last commit. */
    public final long approximateNumUncommittedBytes() {
        StateTable open = table;
        return open == null ? 0 : open.writtenBytes();
    }

    /** The position that the last commit stands for. */
    public final Position getCommittedPosition() {
        StateTable open = table;
        return open == null ? Position.emptyPosition() : open.committedPosition();
    }
}
