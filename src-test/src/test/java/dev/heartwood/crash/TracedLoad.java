package dev.heartwood.crash;

import dev.heartwood.ByteSize;
import dev.heartwood.DeviceKind;
import dev.heartwood.Durability;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreException;
import dev.heartwood.StoreOptions;
import dev.heartwood.testkit.History;
import dev.heartwood.testkit.TailMergeOperator;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/** The process whose system calls {@link TracedProcessTest} has go wrong: takes the steps of a history, writing down each. */
final class TracedLoad {
    static final int REFUSED_EXIT = 3;
    private static final int STEPS = 120;

    private TracedLoad() {}

    static StoreOptions options() {
        return StoreOptions.builder()
                .memory(EnvironmentOptions.MEMORY_MIN)
                .memtable(ByteSize.kib(64))
                .fanout(4)
                .checkpointDistance(2)
                .device(DeviceKind.POSIX)
                .mergeOperator(new TailMergeOperator())
                .build();
    }

    static History history(long seed) {
        return new History(seed, STEPS, History.Sizes.LARGE, Durability.SYNC, Durability.BUFFERED);
    }

    static Path acknowledgements(Path directory) {
        return directory.resolveSibling("acknowledged");
    }

    /** Arguments: the directory and the seed. */
    public static void main(String[] args) throws IOException {
        Path directory = Path.of(args[0]);
        History history = history(Long.parseLong(args[1]));
        try (FileOutputStream acknowledged =
                        new FileOutputStream(acknowledgements(directory).toFile());
                KeyValueStore store = Heartwood.open(directory, options())) {
            while (history.begun() < history.size()) {
                history.advance(store);
                acknowledged.write(ByteBuffer.allocate(4).putInt(history.acknowledged()).array());
                if (history.begun() % 40 == 0) {
                    store.settle();
                }
            }
        } catch (StoreException refused) {
            System.out.println(refused);
            System.exit(REFUSED_EXIT);
        }
    }
}
