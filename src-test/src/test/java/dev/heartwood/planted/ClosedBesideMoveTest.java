package dev.heartwood.planted;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.classfile.CodeTransform;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * A cursor was moved again just when its store, which was being closed, had found that no cursor moved, and was about to have this one let
 * go of the page that it stood on: where assertions are enabled it did not, and the closing waited for that page for ever.
 */
class ClosedBesideMoveTest {
    @Test
    void aMoveThatFindsTheStoreClosedIsWaitedForToo() throws ReflectiveOperationException {
        PlantedEngine engine = new PlantedEngine(
                List.of("dev.heartwood.engine.store.EngineCursor", "dev.heartwood.engine.read.ViewWalk"),
                List.of("next", "letGo"),
                planted -> before("CursorUse", "takeToLetGo", "takes", planted)
                        .andThen(before("StoreCalls", "requireOpen", "moves", planted))
                        .andThen(before("ViewWalk", "leave", "letsGo", planted)));
        // Else a closing that fails would not end.
        engine.setDefaultAssertionStatus(false);
        Class<?> closed = engine.loadClass(ClosedBesideMove.class.getName());
        ((Runnable) closed.getConstructor().newInstance()).run();
        assertEquals(3, engine.places());
    }

    private static CodeTransform before(String owner, String method, String hook, Runnable planted) {
        return Edits.onCalls(owner, method, planted, (builder, call) -> builder.invokestatic(
                        ClassDesc.of(ClosedBesideMove.class.getName()), hook, MethodTypeDesc.of(ConstantDescs.CD_void))
                .with(call));
    }
}
