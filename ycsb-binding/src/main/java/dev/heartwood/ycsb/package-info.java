/**
 * Lets the stock YCSB client drive Heartwood: {@link dev.heartwood.ycsb.HeartwoodClient} is its {@code
 * site.ycsb.DB}. Knows the public interface only.
 *
 * <p>Invariants:
 *
 * <ol>
 *   <li>All client threads of a process share one {@link dev.heartwood.Environment} per directory and in it one
 *       store per table, opened by the first that needs it and closed by the last client's cleanup.
 *   <li>An update reads, changes and writes a record under a lock on its key, so that updates of different
 *       fields by different threads are all kept. Inserts and deletes take the same lock; reads and scans take
 *       none.
 *   <li>A key is the UTF-8 of the YCSB key; a value holds the fields one after the other (see {@link
 *       dev.heartwood.ycsb.FieldCodec}).
 * </ol>
 *
 * <p>Properties: {@code heartwood.dir} (default {@code heartwood-ycsb}), {@code heartwood.memory} (default
 * 256m), and any other {@code heartwood.NAME} is an option of the store as {@link
 * dev.heartwood.StoreOptions.Builder#set} takes it, for example {@code heartwood.durability=sync}.
 */
package dev.heartwood.ycsb;
