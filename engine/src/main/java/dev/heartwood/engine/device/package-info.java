/**
 * The seam to storage: files, directories, the log's mapping. Everything above reaches the outside only through {@link
 * dev.heartwood.engine.device.Storage}, which has a simulated twin in the test kit.
 *
 * <p>Layer: above {@code base}, {@code os} and {@code task}. Invariants:
 *
 * <ol>
 *   <li>Positions, lengths and addresses of data-file I/O are multiples of 4096; checked always.
 *   <li>A call that returns has transferred everything; short transfers, EINTR and EAGAIN are looped over inside. A
 *       sync that failed is not repeated.
 *   <li>A failed call throws {@link dev.heartwood.NoSpaceException} for ENOSPC and EDQUOT, and for EFBIG when a file is
 *       to be made longer, {@link dev.heartwood.CorruptionException} when a file ends before the range that is read, {@link
 *       dev.heartwood.InsufficientMemoryException} for ENOMEM when contents were to be read or a file mapped, and {@link
 *       dev.heartwood.StoreIoException} with errno by name for the rest: a {@link
 *       dev.heartwood.ReadFailedException} when contents were to be read and nothing was to be changed.
 *   <li>Descriptors are close-on-exec. A store holds one for its directory, one for its lock and one for its data
 *       file; a mapped file holds none. Rings of io_uring hold one each while they are used or idle, and none once the last
 *       storage is closed; those of AIO hold none, and are kept for good, as many as were used at once.
 *   <li>A mapped file has its blocks allocated before its address is known, and its pages populated before they are in its window, so
 *       that an access does not meet a full device, nor, short of later damage to the device, an unreadable block. A file that is mapped
 *       to be read has a window up to the first page that cannot be.
 *   <li>A small file is written beside its place, synced, renamed into place, and the directory is synced.
 *   <li>The lock file and the data file are both locked, by open file description: another name of either is the same
 *       lock. Who only reads ({@code FileAccess.READ}) shares the lock on the data file with others who do, and that on the
 *       lock file too where the file system is read-only or the user may only read; either keeps those out who write.
 * </ol>
 *
 * <p>{@link dev.heartwood.engine.device.FileStorage} is the storage of a directory. Its data file is a
 * {@code FileDevice}, which is given its system calls ({@code DeviceCalls}: through the Foreign Function and Memory
 * API, or through jnr-ffi) and its queues ({@code RingQueue} over io_uring or AIO, or {@code ImmediateQueue}, which performs
 * operations when they are submitted). {@code DeviceBinding} pairs them by {@link dev.heartwood.DeviceKind}. A synchronous read is a pread on the
 * calling thread, and with io_uring and O_DIRECT, if it is short, one operation of a ring that the thread looks at until it is done
 * ({@code PolledReads}), while nobody else wants its processor ({@code PollingPatience}).
 *
 * <p>Files in a store's directory: {@code LOCK} holds the process number of the holder in decimal; a name that ends in
 * {@code .unfinished} is a small file whose writer died. Neither is listed. A block special file may stand in place of
 * the data file: it has the size it has, and is opened exclusively.
 *
 * <p>Lock order: {@code FileStorage.stateLock}, then {@code Directory.lock} or {@code RingPool.lock}; {@code
 * FileDevice.allocationLock} stands alone.
 *
 * <pre>
 * Shared field                read        written     guarded by
 * FileStorage.storeLock       plain       plain       stateLock
 * FileStorage.closed          plain       plain       stateLock
 * Directory.descriptor        volatile    volatile    lock
 * FileDevice.descriptor       volatile    volatile    allocationLock
 * FileDevice.size             volatile    volatile    allocationLock
 * FileDevice.references       plain       plain       allocationLock
 * FileDevice.discards         volatile    volatile    - (only ever set to false)
 * RingPool.idle, users        plain       plain       lock
 * PolledReads.threads         CAS         CAS         -
 * PollingPatience.*           plain       plain       - (hints)
 * MappedSegment.closed        volatile    CAS         -
 * MappedSegment.window*       plain       plain       the one thread that slides and touches; close follows it
 * </pre>
 *
 * <p>{@code IoQueue}s belong to one thread at a time and guard nothing.
 */
package dev.heartwood.engine.device;
