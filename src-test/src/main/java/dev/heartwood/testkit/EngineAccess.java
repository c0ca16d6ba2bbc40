package dev.heartwood.testkit;

import dev.heartwood.ByteSize;
import dev.heartwood.Environment;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.log.LogInspection;
import dev.heartwood.engine.salvage.Salvage;
import dev.heartwood.engine.salvage.SalvageReport;
import dev.heartwood.engine.store.EngineEnvironment;
import dev.heartwood.engine.verify.OpenedStore;
import dev.heartwood.engine.verify.Progress;
import dev.heartwood.engine.verify.StoreVerifier;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;

/** The doors of the engine that users do not have: over any storage, verification of a closed store, salvage. */
public final class EngineAccess {
    private EngineAccess() {}

    /** An environment whose stores live on the given storages. */
    public static Environment open(EnvironmentOptions options, Function<Path, Storage> storages) {
        return EngineEnvironment.open(options, storages);
    }

    /** Copies what can be read of a damaged store to another directory; {@code lost} is given what cannot. */
    public static SalvageReport salvage(
            Storage from, Path to, Function<Path, Storage> storages, Consumer<String> lost) {
        EnvironmentOptions options = EnvironmentOptions.builder().memory(ByteSize.mib(32)).build();
        try (EngineEnvironment environment = EngineEnvironment.open(options, storages);
                Storage target = storages.apply(to)) {
            return Salvage.run(from, target, store -> environment.openForSalvage(to, store), lost, Progress.SILENT);
        }
    }

    /** Has views that are open in an environment of the engine give memtables back, as when somebody wants their memory. */
    public static void recallMemtables(Environment environment) {
        ((EngineEnvironment) environment).recallMemtables();
    }

    /** The log of a store that is not open, as the next open will find it. */
    public static LogInspection log(Storage storage) {
        try (OpenedStore store = new OpenedStore(storage)) {
            return LogInspection.of(storage, store.newest().storeId(), store.newest().generation());
        }
    }

    /** Everything that is wrong with a closed store, one line each; empty when it is sound. */
    public static List<String> problems(Storage storage) {
        return StoreVerifier.problems(storage);
    }
}
