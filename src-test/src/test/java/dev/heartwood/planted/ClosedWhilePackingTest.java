package dev.heartwood.planted;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Packing that was asked for while the store closed was begun after the memtable's memory had been given back: who asked had seen that
 * the store was open, and who closed it that nobody packed.
 */
class ClosedWhilePackingTest {
    @Test
    void nothingIsPackedOnceTheStoreIsClosed() throws ReflectiveOperationException {
        PlantedEngine engine = new PlantedEngine(
                List.of("dev.heartwood.engine.background.MemtablePacking"),
                List.of("packSoon"),
                planted -> Edits.onCalls("Generations", "oldestSealed", planted, (builder, call) -> builder.with(call)
                        .invokestatic(
                                ClassDesc.of(ClosedWhilePacking.class.getName()),
                                "looked",
                                MethodTypeDesc.of(ConstantDescs.CD_void))));
        Class<?> closed = engine.loadClass(ClosedWhilePacking.class.getName());
        ((Runnable) closed.getConstructor().newInstance()).run();
        assertEquals(1, engine.places());
    }
}
