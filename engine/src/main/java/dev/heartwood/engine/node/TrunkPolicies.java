package dev.heartwood.engine.node;

import dev.heartwood.CompactionPolicyKind;

/** The compaction policies there are. */
public enum TrunkPolicies {
    /** As many runs in a leaf as anywhere. */
    SIZE_TIERED(1) {
        @Override
        public CompactionPolicy policy(TreeShape shape) {
            return new TieredPolicy(shape, shape.runsMax());
        }
    },
    /** Few runs in the leaves. */
    LAZY_LEVELING(2) {
        @Override
        public CompactionPolicy policy(TreeShape shape) {
            return new TieredPolicy(shape, 2);
        }
    },
    /** Levels that double in size, of which each holds a key once. */
    LEVEL_TIERED(3) {
        @Override
        public CompactionPolicy policy(TreeShape shape) {
            return new LevelTieredPolicy(shape);
        }
    };

    private final int code;

    TrunkPolicies(int code) {
        this.code = code;
    }

    /** What the nodes of a store have that have none of their own; {@code AUTO} is no policy of a node, and gives them what it begins with. */
    public static TrunkPolicies of(CompactionPolicyKind kind) {
        return switch (kind) {
            case SIZE_TIERED, AUTO -> SIZE_TIERED;
            case LAZY_LEVELING -> LAZY_LEVELING;
            case LEVEL_TIERED -> LEVEL_TIERED;
        };
    }

    /** The number that stands for the policy in the image of a node; never 0. */
    public int code() {
        return code;
    }

    public abstract CompactionPolicy policy(TreeShape shape);
}
