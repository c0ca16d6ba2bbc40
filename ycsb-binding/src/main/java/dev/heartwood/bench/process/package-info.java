/**
 * The process that runs one engine, and the driver's end of the line to it. Above {@code bench.engine} and {@code
 * bench.workload}, below the driver.
 *
 * <p>Each engine lives in a JVM of its own, started fresh and alive for the whole run; the driver lets one at a
 * time run a phase while the others idle, so that all meet the same state of the machine. They talk in lines:
 *
 * <pre>
 *   driver to engine     warmup RECORDS THREADS PHASES | run PHASE THREADS OPERATIONS SECONDS | settle | retune DISTANCE | describe | quit
 *   engine to driver     ready | progress OPERATIONS | result name=value ... | text LINE | done | error MESSAGE
 * </pre>
 *
 * <p>Lines to the driver begin with a mark, so that what a library prints, or a JVM that crashes, is not mistaken for them; that is
 * shown. The engine's process ends when its input ends, or when the driver kills it, and not by Ctrl-C, which reaches both.
 *
 * <p>Invariants:
 *
 * <ol>
 *   <li>Every thread of a phase has its own session, buffers, histogram and random stream; they share the
 *       number of the next record and nothing else.
 *   <li>A phase begins, with its time and all that is counted of it, when every thread has its session, and its full queue where it
 *       has one.
 *   <li>Latency is the time from the end of one operation to the end of the next of that thread: it includes every
 *       pause, the making of the key, some tens of nanoseconds, that of a value to write, which grows with its length, and where
 *       everything is checked the checking. No schedule says when the next operation is due, as each thread waits for its answer:
 *       percentiles are service times, in which a stall is one sample of each thread, however many would have come meanwhile.
 *   <li>Where everything is checked, a scan returns its records in order, and as many as there must be: the last keys that the store
 *       has are worked out before the phase begins. Else it returns one at least.
 *   <li>Bytes read and written are those that the kernel charges to the process in {@code /proc/self/io}, without what was
 *       deleted before it was written, for all engines alike. What is deleted that an earlier phase was charged for is taken off
 *       here, so a phase may come to less than nothing, which is shown as nothing and counts where phases are added up; the peak of resident memory is reset before every phase.
 *   <li>What a process reads, writes and computes after a result and before the next one begins is told with the next: what its engine
 *       does while the others take their turn, closing and opening stores, the filling of queues, and, where everything is checked, working out
 *       the last keys, for which a cycle gives an engine some time that no step counts. In no figure are what opens the first store,
 *       a warm-up, and the last closing.
 *   <li>A store is deleted only when this benchmark made it, which a file beside it says.
 * </ol>
 */
package dev.heartwood.bench.process;
