package dev.heartwood.engine.node;

import dev.heartwood.engine.branch.Branch;

/**
 * A branch as the trunk sees it: the immutable B-tree and the sample of its keys. Runs are shared by nodes; the branch counts the
 * references.
 *
 * @param branch the B-tree
 * @param sample how its data spreads over the keys
 * @param kept how many of its entries are there for views alone
 */
public record Run(Branch branch, KeySample sample, KeptVersions kept) {
    /** A run of which all entries count. */
    public Run(Branch branch, KeySample sample) {
        this(branch, sample, KeptVersions.NONE);
    }
}
