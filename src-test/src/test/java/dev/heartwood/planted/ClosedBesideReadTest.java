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
    private static final ClassDesc READ = ClassDesc.of(WaitingRead.class.getName());
    private static final ClassDesc BESIDE_OPERATOR = ClassDesc.of(StoreClosedBesideOperator.class.getName());
    private static final MethodTypeDesc TAKES_BOOLEAN = MethodTypeDesc.of(ConstantDescs.CD_void, ConstantDescs.CD_boolean);

    @Test
    void aReadThatWaitsDoesNotWaitForWhoWaitsForIt() throws ReflectiveOperationException {
        runPlanted(ClosedBesideRead.class);
    }

    /** A store is not closed beneath it: what it looks into next, and what it gives back, would be others'. */
    @Test
    void whoClosesTheStoreWaitsForAReadThatWaits() throws ReflectiveOperationException {
        runPlanted(StoreClosedBesideRead.class);
    }

    /** Between the gathering of operands and the call of the operator, who closes saw no call: the operator was called of a closed store. */
    @Test
    void whoClosesTheStoreWaitsForAReadThatIsAboutToCallTheOperator() throws ReflectiveOperationException {
        PlantedEngine engine = new PlantedEngine(
                List.of("dev.heartwood.engine.read.ReadCalls", "dev.heartwood.engine.call.Operations"),
                List.of("get", "runOutside", "awaitUsers"),
                planted -> Edits.onCalls("ReadCalls", "take", planted, (builder, call) -> hook(builder, BESIDE_OPERATOR, "takes").with(call))
                        .andThen(Edits.onCalls("Runnable", "run", planted, (builder, call) -> hook(builder, READ, "waits").with(call)))
                        .andThen(Edits.onCalls("Operation", "uses", planted, (builder, call) -> builder.with(call)
                                .dup()
                                .invokestatic(BESIDE_OPERATOR, "looked", TAKES_BOOLEAN))));
        run(engine, StoreClosedBesideOperator.class);
        assertEquals(7, engine.places());
    }

    private static void run(PlantedEngine engine, Class<?> test) throws ReflectiveOperationException {
        ((Runnable) engine.loadClass(test.getName()).getConstructor().newInstance()).run();
    }

    private static void runPlanted(Class<?> reads) throws ReflectiveOperationException {
        PlantedEngine engine = new PlantedEngine(
                List.of("dev.heartwood.engine.read.PointReads", "dev.heartwood.engine.call.Operations"),
                List.of("get", "runOutside"),
                planted -> Edits.onCalls("PointReads", "find", planted, (builder, call) -> hook(builder, READ, "finds").with(call))
                        .andThen(Edits.onCalls("Runnable", "run", planted, (builder, call) -> hook(builder, READ, "waits").with(call))));
        run(engine, reads);
        assertEquals(5, engine.places());
    }

    private static CodeBuilder hook(CodeBuilder builder, ClassDesc owner, String name) {
        return builder.invokestatic(owner, name, MethodTypeDesc.of(ConstantDescs.CD_void));
    }
}
