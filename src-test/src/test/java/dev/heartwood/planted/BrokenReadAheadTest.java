package dev.heartwood.planted;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeTransform;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/**
 * Where the Java heap was full while reading ahead looked for frames, or verified what was read, pages stayed marked as being loaded: who wanted
 * one, or dropped it when the store was closed, looked again and again for ever.
 */
class BrokenReadAheadTest {
    private static final String LANE = "dev.heartwood.engine.cache.PrefetchLane";

    private static final String LOADER = "dev.heartwood.engine.cache.PageLoader";

    @Test
    void whileFramesAreTaken() throws ReflectiveOperationException {
        int index = 4; // the last parameter, behind a request and the long number of a page
        run(LANE, "claimNext", planted -> Edits.onCalls("FrameSource", "takeReady", planted, (builder, call) -> hook(
                        builder.iload(index), "takes", ConstantDescs.CD_int)
                .with(call)));
    }

    @Test
    void whileWhatWasReadIsVerified() throws ReflectiveOperationException {
        run(LOADER, "verifyOrAbandon", planted -> Edits.onCalls(
                "PageSeal", "verify", planted, (builder, call) -> hook(builder, "verifies").with(call)));
    }

    private static void run(String className, String method, Function<Runnable, CodeTransform> edit)
            throws ReflectiveOperationException {
        // The other method's name is that of one class alone.
        PlantedEngine engine = new PlantedEngine(
                List.of(className, "dev.heartwood.engine.cache.Prefetcher"),
                List.of(method, "await"),
                planted -> edit.apply(planted)
                        .andThen(Edits.onCalls(
                                "PrefetchLane", "enter", planted, (builder, call) -> hook(builder, "waits").with(call))));
        Class<?> broken = engine.loadClass(BrokenReadAhead.class.getName());
        ((Runnable) broken.getConstructor().newInstance()).run();
        assertEquals(2, engine.places());
    }

    private static CodeBuilder hook(CodeBuilder builder, String name, ClassDesc... parameters) {
        return builder.invokestatic(
                ClassDesc.of(BrokenReadAhead.class.getName()), name, MethodTypeDesc.of(ConstantDescs.CD_void, parameters));
    }
}
