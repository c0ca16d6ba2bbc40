package dev.heartwood.engine.trunk;

import dev.heartwood.CorruptionException;
import dev.heartwood.engine.cache.CachedFile;
import dev.heartwood.engine.filter.Maplet;
import dev.heartwood.engine.page.PageType;

/** Says which runs may hold keys of one group, by the maplets of their bundles. Belongs to one thread, outside of epochs. */
final class GroupFilter {
    private final CachedFile file;
    private final long hash;

    /** A filter for the group with a hash, as {@code TreeStorage.filterHash} makes it. */
    GroupFilter(CachedFile file, long hash) {
        this.file = file;
        this.hash = hash;
    }

    /** The runs of a bundle that may hold keys of the group. A damaged maplet excludes none: the runs themselves are asked. */
    long candidates(Maplet maplet) {
        long page = maplet.pageNumberOf(hash);
        if (page < 0) {
            return 0;
        }
        long address;
        try {
            address = file.lockSharedPatiently(page, PageType.FILTER, maplet.id());
        } catch (CorruptionException reportedWhereItWasRead) {
            return maplet.values();
        }
        try {
            return maplet.lookupInPage(file, address, hash);
        } catch (CorruptionException e) {
            return maplet.values();
        } finally {
            file.unlockShared(address);
        }
    }
}
