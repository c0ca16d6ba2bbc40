package dev.heartwood.engine.trunk;

/** The compaction policies there are. */
public enum TrunkPolicies {
    /** As many runs in a leaf as anywhere. */
    SIZE_TIERED(1) {
        @Override
        CompactionPolicy policy(TreeShape shape) {
            return new TieredPolicy(shape, shape.runsMax());
        }
    },
    /** Few runs in the leaves. */
    LAZY_LEVELING(2) {
        @Override
        CompactionPolicy policy(TreeShape shape) {
            return new TieredPolicy(shape, 2);
        }
    },
    /** Levels that double in size, of which each holds a key once. */
    LEVEL_TIERED(3) {
        @Override
        CompactionPolicy policy(TreeShape shape) {
            return new LevelTieredPolicy(shape);
        }
    };

    private final int code;

    TrunkPolicies(int code) {
        this.code = code;
    }

    /** The number that stands for the policy in the image of a node; never 0. */
    int code() {
        return code;
    }

    abstract CompactionPolicy policy(TreeShape shape);
}
