package dev.heartwood.engine.trunk;

import dev.heartwood.engine.branch.Branch;

/**
 * A branch as the trunk sees it: the immutable B-tree and the sample of its keys. Runs are shared by nodes; the branch counts the
 * references.
 *
 * @param branch the B-tree
 * @param sample how its data spreads over the keys
 * @param kept which of its entries are there for a view alone
 */
record Run(Branch branch, KeySample sample, KeptVersions kept) {
    /** A run of which all entries count. */
    Run(Branch branch, KeySample sample) {
        this(branch, sample, KeptVersions.NONE);
    }
}
