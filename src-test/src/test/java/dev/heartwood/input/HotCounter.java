package dev.heartwood.input;

import dev.heartwood.ByteSize;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.MergeOperator;
import dev.heartwood.StoreOptions;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;

/** A process that adds to one counter without a pause, by an operator that combines nothing, and looks what it has come to. */
final class HotCounter {
    private static final byte[] KEY = {1};

    private HotCounter() {}

    private static final class Sum implements MergeOperator {
        @Override
        public String name() {
            return "sum";
        }

        @Override
        public byte[] merge(byte[] key, byte[] existing, List<byte[]> operands) {
            long sum = existing == null ? 0 : number(existing);
            for (byte[] operand : operands) {
                sum += number(operand);
            }
            return bytes(sum);
        }
    }

    /** Arguments: the directory, how often something is added, the store's memory in MiB. */
    public static void main(String[] args) {
        StoreOptions options = StoreOptions.builder()
                .memory(ByteSize.mib(Integer.parseInt(args[2])))
                .workers(2)
                .mergeOperator(new Sum())
                .build();
        Path directory = Path.of(args[0]);
        int times = Integer.parseInt(args[1]);
        try (KeyValueStore store = Heartwood.open(directory, options)) {
            for (int i = 0; i < times; i++) {
                store.merge(KEY, bytes(i));
            }
            // What is still in memory then is not in the tree, and settling is for what is.
            store.checkpoint();
            store.settle();
        }
        try (KeyValueStore store = Heartwood.open(directory, options)) {
            long found = number(store.get(KEY));
            if (found != times * (times - 1L) / 2) {
                throw new AssertionError("the counter is at " + found);
            }
        }
    }

    private static long number(byte[] value) {
        return ByteBuffer.wrap(value).getLong();
    }

    private static byte[] bytes(long number) {
        return ByteBuffer.allocate(8).putLong(number).array();
    }
}
