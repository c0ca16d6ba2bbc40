/**
 * The operating system and native memory, through the Foreign Function and Memory API.
 *
 * <p>Layer: above {@code base} only. This package is the only user of {@link java.lang.foreign.Linker} and of {@code
 * reinterpret}; everything above it handles native memory as {@code long} addresses through {@link
 * dev.heartwood.engine.os.Memory}. It runs on Linux, on x86-64 and AArch64; what differs between the two is in
 * {@link dev.heartwood.engine.os.Platform}, which whoever comes in from outside asks first: anything else is refused there,
 * as are kernels whose memory pages are not of 4096 bytes.
 *
 * <p>Native memory: {@link dev.heartwood.engine.os.MemoryPool} gives out blocks of one mapping; {@link
 * dev.heartwood.engine.os.Memory} reads and writes them; {@link dev.heartwood.engine.os.MemoryRegions} knows what is
 * mapped; {@link dev.heartwood.engine.os.Crc32c}, {@link dev.heartwood.engine.os.KeyHasher} and {@link
 * dev.heartwood.engine.os.HashedKeys} run over them.
 *
 * <p>Calls: {@link dev.heartwood.engine.os.FileCalls} on descriptors, {@link dev.heartwood.engine.os.PathCalls} on
 * paths, {@link dev.heartwood.engine.os.NativeMemory} on mappings, {@link dev.heartwood.engine.os.FileLocks}, {@link
 * dev.heartwood.engine.os.FileStatus}, and {@link dev.heartwood.engine.os.Ring}, which is {@link dev.heartwood.engine.os.Uring} for
 * io_uring or {@link dev.heartwood.engine.os.Aio} for Linux AIO. They are the C library's calls and no more: no loop, no exception; the
 * layer above decides what a result means.
 *
 * <p>Invariants:
 *
 * <ol>
 *   <li>An address that reaches {@code Memory}, or a call that transfers data, lies in a region registered with {@link
 *       dev.heartwood.engine.os.MemoryRegions}; checked under {@code assert}.
 *   <li>Multi-byte values are little-endian, in memory and on disk; but the hash that a hashed key begins with is ordered as bytes
 *       are, so big-endian.
 *   <li>Every native call that can fail captures errno in the same downcall, and returns it negated in place of its
 *       result.
 *   <li>No call that can block is {@code critical}.
 *   <li>Every descriptor is close-on-exec from the call that makes it.
 *   <li>Calls that move data allocate nothing on the Java heap.
 *   <li>Blocks that a {@code MemoryPool} has given out do not overlap, and its bookkeeping is not in the memory it
 *       gives out.
 * </ol>
 *
 * <p>Shared fields: those of {@code MemoryPool}, guarded by its lock; {@code KeptBlocks}, atomic; {@code MemoryRegions}, a concurrent map. The
 * memory that captures errno, and the {@code IoVector}, belong to a thread. The indices that a {@code Ring}
 * shares with the kernel are read with acquire and written with release.
 *
 * <p>Lock order: the lock of {@code MemoryPool} is taken last; nothing is called under it.
 */
package dev.heartwood.engine.os;
