package dev.heartwood.engine.os;

import static org.jetbrains.lincheck.datastructures.ManagedStrategyGuaranteeKt.forClasses;

import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;

/** Model checking by Lincheck of what uses memory of pools that outlive an invocation. */
public final class PoolModelChecking {
    private PoolModelChecking() {}

    /** The pools known are not put back to what they were before an earlier invocation, as all static fields are else that are met. */
    public static ModelCheckingOptions options() {
        return new ModelCheckingOptions()
                .addGuarantee(forClasses(MemoryRegions.class.getName()).allMethods().ignore());
    }
}
