package dev.heartwood.planted;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What fails half way, on a Java heap that is full for a moment, leaves nothing half done behind. */
class FailedOnceTest {
    /** Whoever closed the store waited for ever for what was to be applied. */
    @Test
    void aReadThatFailsAsItEndsIsNotWaitedFor() throws ReflectiveOperationException {
        run(FailedReadEnd.class, "read.ReadCalls", "end", "SnapshotState", "release");
    }

    /** Back to what it was tuned to before was no change, and so the store did not decide by itself any more. */
    @Test
    void aStoreThatWasTunedHalfWayCanBeTunedBack() throws ReflectiveOperationException {
        run(HalfTuned.class, "store.Tuner", "tune", "Tuner", "forgetNodes");
    }

    /** Whoever packed a key of that bucket waited for it for ever. */
    @Test
    void aBucketOfRecordsThatFailedToRememberAKeyIsNotLocked() throws ReflectiveOperationException {
        run(FailedRecords.WhileRemembered.class, "record.RecordCache", "offer", "RecordTable", "remember");
    }

    @Test
    void aBucketOfRecordsThatFailedToDropOneIsNotLocked() throws ReflectiveOperationException {
        run(FailedRecords.WhileDropped.class, "record.RecordCache", "forget", "RecordTable", "drop");
    }

    /** Whoever closed the store waited for ever for its page. */
    @Test
    void aCursorThatFailsAsItIsClosedHoldsNoPage() throws ReflectiveOperationException {
        run(FailedScanCount.WhileClosed.class, "trunk.TreeCursor", "countScan", "TrunkEvents", "scanned");
    }

    /** It went on in memory that others had by then. */
    @Test
    void aCursorThatFailsAsItGivesMemtablesBackHoldsNone() throws ReflectiveOperationException {
        run(FailedScanCount.WhileGivenBack.class, "trunk.TreeCursor", "countScan", "TrunkEvents", "scanned");
    }

    /** It went on with runs that had been closed, whose pages nobody let go of any more. */
    @Test
    void aCursorThatFailsBetweenTwoLeavesOpensThemAnew() throws ReflectiveOperationException {
        run(FailedScanCount.WhileMoved.class, "trunk.TreeCursor", "countScan", "TrunkEvents", "scanned");
    }

    /** Runs a test in an engine that fails once after a call. */
    private static void run(Class<?> test, String within, String method, String owner, String called) throws ReflectiveOperationException {
        PlantedEngine engine = new PlantedEngine(
                List.of("dev.heartwood.engine." + within),
                List.of(method),
                planted -> Edits.onCalls(owner, called, planted, (builder, call) -> builder.with(call)
                        .invokestatic(
                                ClassDesc.of(FailingOnce.class.getName()), "reached", MethodTypeDesc.of(ConstantDescs.CD_void))));
        ((Runnable) engine.loadClass(test.getName()).getConstructor().newInstance()).run();
        assertEquals(1, engine.places());
    }
}
