package dev.heartwood.testkit;

import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions.IoMode;
import dev.heartwood.engine.device.FileStorage;
import dev.heartwood.engine.device.Storage;
import java.nio.file.Path;
import java.util.List;
import java.util.random.RandomGenerator;

/** The engine on real files, opened as users open it. */
public final class FileStoreHost implements StoreHost {
    private final OptionMatrix matrix;
    private final TestDirectory directory;

    /** A host of an empty store in a directory of its own. */
    public FileStoreHost(long seed) {
        matrix = new OptionMatrix(seed);
        directory = new TestDirectory("store");
    }

    @Override
    public KeyValueStore open(RandomGenerator random) {
        return Heartwood.open(directory.path(), matrix.nextOnFiles(random));
    }

    @Override
    public void verify() {
        verify(directory.path());
    }

    /** Checks the closed store of a directory as a whole; a log that is still to be replayed is part of it. */
    public static void verify(Path directory) {
        try (Storage storage = FileStorage.reading(directory, IoMode.DIRECT)) {
            List<String> problems = EngineAccess.problems(storage);
            if (!problems.isEmpty()) {
                throw new AssertionError("verification found:\n" + String.join("\n", problems));
            }
        }
    }

    @Override
    public void close() {
        directory.close();
    }
}
