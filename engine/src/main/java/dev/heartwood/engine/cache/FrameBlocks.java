package dev.heartwood.engine.cache;

import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.page.PageLayout;
import java.util.ArrayList;

/**
 * The native memory of one cache: blocks for the frames and one block for their metadata. The pool gives powers of two only, so
 * a size that is none is put together from several blocks. Not thread-safe: taken and given back once.
 */
final class FrameBlocks implements AutoCloseable {
    private static final long BLOCK_BYTES_MIN = 16 * PageLayout.PAGE_BYTES;

    private record Block(long address, long bytes) {}

    private final MemoryPool pool;
    private final ArrayList<Block> frameBlocks = new ArrayList<>();
    private final Block metadata;
    private final long bytes;

    /** Takes about {@code bytes} for frames and their metadata together. */
    FrameBlocks(MemoryPool pool, long bytes, int metadataBytesPerFrame) {
        this.pool = pool;
        try {
            long framesMax = bytes / PageLayout.PAGE_BYTES;
            long metadataBytes = MemoryPool.blockBytes(Math.max(1, framesMax * metadataBytesPerFrame));
            takeFrames((bytes - metadataBytes) & -BLOCK_BYTES_MIN);
            if (frameBlocks.isEmpty()) {
                throw new InsufficientMemoryException("no memory for a page cache of " + bytes
                        + " bytes, which calls and cursors hold now: close cursors, or raise the memory option");
            }
            // The metadata is indexed by the distance from the lowest frame, so gaps between blocks need some, too.
            metadata = take(metadataBytes(spanFrames(), metadataBytesPerFrame));
            if (metadata == null) {
                throw new InsufficientMemoryException("no memory for the metadata of a page cache of " + bytes
                        + " bytes, which calls and cursors hold now: close cursors, or raise the memory option");
            }
        } catch (Throwable e) {
            giveBack();
            throw e;
        }
        this.bytes = metadata.bytes + frameBlocks.stream().mapToLong(Block::bytes).sum();
    }

    /** The block for the metadata of so many frames. Frame 0 stands for none, and has some, too. */
    static long metadataBytes(int spanFrames, int metadataBytesPerFrame) {
        return MemoryPool.blockBytes((spanFrames + 1L) * metadataBytesPerFrame);
    }

    private void takeFrames(long bytes) {
        long wanted = Long.highestOneBit(bytes);
        long left = bytes;
        while (wanted >= BLOCK_BYTES_MIN && left > 0) {
            Block block = wanted <= left ? take(wanted) : null;
            if (block != null) {
                frameBlocks.add(block);
                left -= wanted;
            } else {
                wanted >>>= 1;
            }
        }
    }

    private Block take(long bytes) {
        long address = pool.allocate(bytes);
        return address == 0 ? null : new Block(address, bytes);
    }

    long metadataAddress() {
        return metadata.address;
    }

    /** The address of the first frame. */
    long lowest() {
        return frameBlocks.stream().mapToLong(Block::address).min().orElseThrow();
    }

    /** The frames from the first to the last, with those in gaps, which are not ours. */
    int spanFrames() {
        long end = frameBlocks.stream().mapToLong(b -> b.address + b.bytes).max().orElseThrow();
        return Math.toIntExact((end - lowest()) / PageLayout.PAGE_BYTES);
    }

    /** The number of blocks of frames. */
    int blocks() {
        return frameBlocks.size();
    }

    /** The address of the first frame of a block. */
    long blockAddress(int block) {
        return frameBlocks.get(block).address;
    }

    /** The frames of a block. */
    int blockFrames(int block) {
        return (int) (frameBlocks.get(block).bytes / PageLayout.PAGE_BYTES);
    }

    /** Our frames. */
    int frames() {
        return (int) (frameBlocks.stream().mapToLong(Block::bytes).sum() / PageLayout.PAGE_BYTES);
    }

    /** Whether an address lies in one of our frames. Asked for each page that a cursor leaves: without an iterator. */
    boolean contains(long address) {
        for (int i = 0; i < frameBlocks.size(); i++) {
            Block block = frameBlocks.get(i);
            if (address >= block.address && address < block.address + block.bytes) {
                return true;
            }
        }
        return false;
    }

    /** The bytes taken from the pool. Asked by any thread, be it while they are given back. */
    long bytes() {
        return bytes;
    }

    @Override
    public void close() {
        giveBack();
        pool.free(metadata.address, metadata.bytes);
    }

    private void giveBack() {
        for (Block block : frameBlocks) {
            pool.free(block.address, block.bytes);
        }
        frameBlocks.clear();
    }
}
