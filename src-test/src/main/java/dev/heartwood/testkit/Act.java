package dev.heartwood.testkit;

import dev.heartwood.Durability;
import dev.heartwood.KeyValueStore;
import dev.heartwood.WriteBatch;
import java.util.Arrays;
import java.util.List;

/** The few operations of which exhaustive campaigns make every short sequence. */
public enum Act {
    PUT(Durability.BUFFERED),
    PUT_SYNCED(Durability.SYNC),
    PUT_UNLOGGED(Durability.NONE),
    PUT_LARGE(Durability.BUFFERED),
    DELETE(Durability.BUFFERED),
    MERGE(Durability.SYNC),
    BATCH(Durability.BUFFERED),
    SYNC(null),
    CHECKPOINT(null);

    private static final byte[] KEY = {'a'};
    private static final byte[] OTHER_KEY = {'b', 'b'};
    private static final int LARGE_BYTES = 9000;

    private final Durability level;

    Act(Durability level) {
        this.level = level;
    }

    /** What this writes when it is the act of that number. */
    private List<Write> writes(int number) {
        byte[] value = {(byte) number, (byte) ordinal()};
        return switch (this) {
            case PUT, PUT_SYNCED, PUT_UNLOGGED -> List.of(new Write(Write.Kind.PUT, KEY, value));
            case PUT_LARGE -> List.of(new Write(Write.Kind.PUT, KEY, large(number)));
            case DELETE -> List.of(new Write(Write.Kind.DELETE, KEY, null));
            case MERGE -> List.of(new Write(Write.Kind.MERGE, KEY, value));
            case BATCH -> List.of(
                    new Write(Write.Kind.PUT, KEY, value), new Write(Write.Kind.PUT, OTHER_KEY, large(number)));
            case SYNC, CHECKPOINT -> List.of();
        };
    }

    private static byte[] large(int number) {
        byte[] value = new byte[LARGE_BYTES];
        Arrays.fill(value, (byte) (number + 1));
        return value;
    }

    /** Carries the act out. */
    public void perform(KeyValueStore store, int number) {
        switch (this) {
            case SYNC -> store.sync();
            case CHECKPOINT -> store.checkpoint();
            case BATCH -> {
                try (WriteBatch batch = store.newBatch()) {
                    writes(number).forEach(write -> batch.put(write.key(), write.value()));
                    store.write(batch, level);
                }
            }
            default -> {
                Write write = writes(number).getFirst();
                switch (write.kind()) {
                    case PUT -> store.put(write.key(), write.value(), level);
                    case DELETE -> store.delete(write.key(), level);
                    case MERGE -> store.merge(write.key(), write.value(), level);
                }
            }
        }
    }

    /** Tells the model that the act has begun and, when it returned, what it promised. */
    public void tell(Model model, int number, boolean returned) {
        List<Write> writes = writes(number);
        if (!writes.isEmpty()) {
            int step = model.begin(level, writes);
            if (returned) {
                model.acknowledge(step);
            }
        } else if (returned && this == SYNC) {
            model.synced();
        } else if (returned && this == CHECKPOINT) {
            model.checkpointed();
        }
    }
}
