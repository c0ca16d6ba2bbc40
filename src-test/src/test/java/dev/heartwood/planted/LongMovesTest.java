package dev.heartwood.planted;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Moves of cursors that were under way when a writer wanted memory had it refused, although they were about to end; and one that passed
 * many deleted keys held memtables until its end.
 */
class LongMovesTest {
    @Test
    void movesAreWaitedForAndGiveWay() throws ReflectiveOperationException {
        PlantedEngine engine = new PlantedEngine(
                List.of("dev.heartwood.engine.read.VisibleEntries"),
                List.of("showForwards", "showBackwards"),
                planted -> Edits.onCalls("VisibleEntries", "isShown", planted, (builder, call) -> builder.invokestatic(
                                ClassDesc.of(LongMoves.class.getName()), "passes", MethodTypeDesc.of(ConstantDescs.CD_void))
                        .with(call)));
        Class<?> moves = engine.loadClass(LongMoves.class.getName());
        ((Runnable) moves.getConstructor().newInstance()).run();
        assertEquals(2, engine.places());
    }
}
