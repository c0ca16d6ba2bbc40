package dev.heartwood.jmh;

import dev.heartwood.engine.cache.DistributedLock;
import dev.heartwood.engine.os.MemoryPool;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.concurrent.locks.StampedLock;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/**
 * One lock, all threads: acquire for reading, read a field, release; and the same for writing. Beside the locks of the JDK. Run
 * with {@code -t 1} and {@code -t 2}.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Fork(
        value = 1,
        jvmArgsAppend = {"--enable-native-access=ALL-UNNAMED"})
public class DistributedLockBenchmark {
    private static final int LOCKS = 1024;
    private static final int STRIPES = 4;
    private static final int LOCK = 17;

    private final StampedLock stamped = new StampedLock();
    private final ReentrantReadWriteLock reentrant = new ReentrantReadWriteLock();
    private MemoryPool pool;
    private DistributedLock locks;
    private long value;

    @Setup
    public void open() {
        pool = MemoryPool.open(1 << 20);
        locks = new DistributedLock(pool.allocate(DistributedLock.bytes(LOCKS, STRIPES)), LOCKS, STRIPES);
    }

    @TearDown
    public void close() {
        pool.close();
    }

    @Benchmark
    public long readDistributed() {
        locks.lockRead(LOCK);
        long read = value;
        locks.unlockRead(LOCK);
        return read;
    }

    @Benchmark
    public long readStamped() {
        long stamp = stamped.readLock();
        long read = value;
        stamped.unlockRead(stamp);
        return read;
    }

    @Benchmark
    public long readReentrant() {
        reentrant.readLock().lock();
        long read = value;
        reentrant.readLock().unlock();
        return read;
    }

    @Benchmark
    public long writeDistributed() {
        locks.lockWrite(LOCK);
        long read = ++value;
        locks.unlockWrite(LOCK);
        return read;
    }

    @Benchmark
    public long writeStamped() {
        long stamp = stamped.writeLock();
        long read = ++value;
        stamped.unlockWrite(stamp);
        return read;
    }

    @Benchmark
    public long writeReentrant() {
        reentrant.writeLock().lock();
        long read = ++value;
        reentrant.writeLock().unlock();
        return read;
    }
}
