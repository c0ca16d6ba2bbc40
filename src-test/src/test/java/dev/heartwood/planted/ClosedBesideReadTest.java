package dev.heartwood.planted;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.classfile.CodeBuilder;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * A read of a snapshot that is closed beside it has memtables that nobody can take from it, and writers wait for it. Where it finds no frame it
 * waits for calls, but not for such writers: they have left their epochs.
 */
class ClosedBesideReadTest {
    @Test
    void aReadThatWaitsDoesNotWaitForWhoWaitsForIt() throws ReflectiveOperationException {
        runPlanted(ClosedBesideRead.class);
    }

    /** A store is not closed beneath it: what it looks into next, and what it gives back, would be others'. */
    @Test
    void whoClosesTheStoreWaitsForAReadThatWaits() throws ReflectiveOperationException {
        runPlanted(StoreClosedBesideRead.class);
    }

    private static void runPlanted(Class<?> reads) throws ReflectiveOperationException {
        PlantedEngine engine = new PlantedEngine(
                List.of("dev.heartwood.engine.store.PointReads", "dev.heartwood.engine.store.Operations"),
                List.of("get", "runOutside"),
                planted -> Edits.onCalls("PointReads", "find", planted, (builder, call) -> hook(builder, "finds").with(call))
                        .andThen(Edits.onCalls("Runnable", "run", planted, (builder, call) -> hook(builder, "waits").with(call))));
        Class<?> read = engine.loadClass(reads.getName());
        ((Runnable) read.getConstructor().newInstance()).run();
        assertEquals(5, engine.places());
    }

    private static CodeBuilder hook(CodeBuilder builder, String name) {
        return builder.invokestatic(
                ClassDesc.of(WaitingRead.class.getName()), name, MethodTypeDesc.of(ConstantDescs.CD_void));
    }
}
