package dev.heartwood.planted;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** An error, as of a full Java heap, at the beginning of a method; what was taken before is given back. */
class PlantedErrorTest {
    @ParameterizedTest
    @ValueSource(strings = {"store.Tuner", "store.Scrubber", "background.Background", "node.TreeStorage", "checkpoint.Checkpointer"})
    void whileAPartOfAStoreIsClosed(String className) throws ReflectiveOperationException {
        strike(className, "close", PlantedError.WhileClosing.class);
    }

    @Test
    void whileAClosingStoreLooksForWhatWasWrittenMeanwhile() throws ReflectiveOperationException {
        strike("store.StoreParts", "isDurable", PlantedError.WhileClosing.class);
    }

    @ParameterizedTest
    @CsvSource({"record.RecordCache, <init>", "budget.MemtableLoan, <init>", "store.WriteBackTurns, <init>"})
    void whileAnEnvironmentIsOpened(String className, String method) throws ReflectiveOperationException {
        strike(className, method, PlantedError.WhileOpeningAnEnvironment.class);
    }

    @Test
    void whileWorkersAreStarted() throws ReflectiveOperationException {
        strike("task.ThreadWorkers", "start", PlantedError.WhileOpeningAnEnvironmentLater.class);
    }

    @ParameterizedTest
    @CsvSource({
        "write.WritePath, <init>",
        "write.MemtableRotation, <init>",
        "background.MemtablePacking, <init>",
        "store.StoreLifecycle, <init>",
        "store.Scrubber, start",
        "store.Tuner, start",
        "store.EngineEnvironment, add"
    })
    void whileAStoreIsOpened(String className, String method) throws ReflectiveOperationException {
        strike(className, method, PlantedError.WhileOpening.class);
    }

    @ParameterizedTest
    @CsvSource({
        "write.WritePath, drain",
        "read.ReadPath, pin",
        "read.SnapshotState, <init>",
        "read.SnapshotHold, <init>",
        "store.EngineSnapshot, <init>",
        "store.OpenViews, add"
    })
    void whileASnapshotIsOpened(String className, String method) throws ReflectiveOperationException {
        strike(className, method, PlantedError.WhileOpeningSnapshots.class);
    }

    @ParameterizedTest
    @CsvSource({
        "read.SnapshotState, retainSources",
        "read.ViewSources, entries",
        "read.ViewWalk, <init>",
        "read.VisibleEntries, <init>",
        "store.EngineCursor, <init>",
        "background.Background, scanned",
        "store.OpenViews, add"
    })
    void whileACursorIsOpened(String className, String method) throws ReflectiveOperationException {
        strike(className, method, PlantedError.WhileOpeningCursors.class);
    }

    @Test
    void whileARangeIsDiscarded() throws ReflectiveOperationException {
        strike("node.TrunkVersion", "releaseLater", PlantedError.WhileDiscarding.class);
    }

    /** What a range had let go of was in use until the store was opened again. */
    @Test
    void beforeARangeIsDiscarded() throws ReflectiveOperationException {
        strike("trunk.MergePlanner", "debt", PlantedError.BeforeDiscarding.class);
    }

    @Test
    void whileAMemtableIsPacked() throws ReflectiveOperationException {
        strike("base.Epochs", "defer", PlantedError.WhilePacking.class);
    }

    /** It is no reason to take no more: merges go on, by which nodes have fewer runs. */
    @Test
    void whileACheckpointWritesANodeThatIsTooLarge() throws ReflectiveOperationException {
        strike("image.NodePages", "write", PlantedError.WhileWritingNodes.class);
    }

    private static void strike(String className, String method, Class<? extends Runnable> scenario)
            throws ReflectiveOperationException {
        PlantedEngine engine = new PlantedEngine(
                List.of("dev.heartwood.engine." + className),
                List.of(method),
                planted -> Edits.atStart(planted, code -> code.invokestatic(
                        ClassDesc.of(PlantedError.class.getName()), "strike", MethodTypeDesc.of(ConstantDescs.CD_void))));
        Class<?> loaded = engine.loadClass(scenario.getName());
        ((Runnable) loaded.getConstructor().newInstance()).run();
        assertEquals(1, engine.places());
    }
}
