package dev.heartwood.planted;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.classfile.Opcode;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * The budget of native memory runs out for a moment at every block that is asked for: a call fails by name or the store stops
 * taking writes, no batch is halved, no lock and no memory stays behind, and with memory again everything goes on.
 */
class MemoryCountdownTest {
    @Test
    void everyBlockMayBeRefused() throws ReflectiveOperationException {
        run(MemoryCountdown.class);
    }

    /** Nodes that no memory could be had to read were listed as damaged, and what is below them was not looked at. */
    @Test
    void wantOfMemoryIsNotTakenForDamage() throws ReflectiveOperationException {
        run(ChecksWithoutMemory.class);
    }

    private static void run(Class<? extends Runnable> scenario) throws ReflectiveOperationException {
        PlantedEngine engine = new PlantedEngine(
                List.of("dev.heartwood.engine.os.MemoryPool"),
                List.of("allocate"),
                planted -> Edits.atStart(planted, code -> code.invokestatic(
                                ClassDesc.of(MemoryCountdown.class.getName()),
                                "refuses",
                                MethodTypeDesc.of(ConstantDescs.CD_boolean))
                        .ifThen(Opcode.IFNE, refused -> refused.lconst_0().lreturn())));
        Class<?> loaded = engine.loadClass(scenario.getName());
        ((Runnable) loaded.getConstructor().newInstance()).run();
        assertEquals(1, engine.places());
    }
}
