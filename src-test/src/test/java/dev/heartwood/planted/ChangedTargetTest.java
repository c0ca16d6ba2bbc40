package dev.heartwood.planted;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.classfile.CodeTransform;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * A program that changes the target of a seek beside it has that seek show what it may, but no other: two seeks that were said to begin
 * where they had not hid keys from all later cursors.
 */
class ChangedTargetTest {
    @Test
    void aSeekWhoseTargetChangesHidesNothingFromOthers() throws ReflectiveOperationException {
        PlantedEngine engine = new PlantedEngine(
                List.of("dev.heartwood.engine.read.ViewWalk"),
                List.of("seek"),
                planted -> before("ViewWalk", "telling", "begins", planted).andThen(before("TreeCursor", "seek", "looksUp", planted)));
        ((Runnable) engine.loadClass(TargetChangedBesideSeek.class.getName()).getConstructor().newInstance()).run();
        assertEquals(2, engine.places());
    }

    private static CodeTransform before(String owner, String method, String hook, Runnable planted) {
        return Edits.onCalls(owner, method, planted, (builder, call) -> builder.invokestatic(
                        ClassDesc.of(TargetChangedBesideSeek.class.getName()), hook, MethodTypeDesc.of(ConstantDescs.CD_void))
                .with(call));
    }
}
