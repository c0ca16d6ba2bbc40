package dev.heartwood.engine.trunk;

/** The compaction policies there are. */
public enum TrunkPolicies {
    /** As many runs in a leaf as anywhere. */
    SIZE_TIERED {
        @Override
        CompactionPolicy policy(TreeShape shape) {
            return new TieredPolicy(shape, shape.runsMax());
        }
    },
    /** Few runs in the leaves. */
    LAZY_LEVELING {
        @Override
        CompactionPolicy policy(TreeShape shape) {
            return new TieredPolicy(shape, 2);
        }
    };

    abstract CompactionPolicy policy(TreeShape shape);
}
