/**
 * How the budget of an environment is divided ({@code MemoryPlan}, {@code MemtableSizes}), and what nobody needs is lent: what memtables
 * leave to the record cache or the page cache ({@code MemtableLoan}), what merges leave to the page cache ({@code PageLoan}).
 * {@code IdleMemory} looks once a second what that is.
 *
 * <p>Layer: above {@code auto}, which decides what is lent to whom; below {@code store}, whose environment owns the pools.
 */
package dev.heartwood.engine.budget;
