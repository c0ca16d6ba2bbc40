/**
 * What every call of a store has: its epoch and scratch ({@code Operation}, of which {@code Operations} has one for each slot), whether
 * the store is open ({@code StoreCalls}), the form in which keys are stored ({@code KeyForm}), and what is done with code of the user's:
 * operators that make a value of operands ({@code EntryResolver}), and which threads are in one ({@code UserCode}).
 *
 * <p>Layer: above {@code trunk}; below {@code background}, {@code write} and {@code read}.
 *
 * <h2>Invariants</h2>
 *
 * <ol>
 *   <li>Every call runs inside an epoch while it touches shared memory, and never waits for another call's memory inside one.
 *   <li>Keys change their form where they enter and leave ({@code KeyForm}); log, memtable and tree see stored keys only, and order them
 *       by bytes. So do operators and filters of the user see the user's keys only.
 *   <li>Within an operator or a filter of the user's nothing begins that may wait for merges, packing or calls ({@code UserCode}).
 * </ol>
 */
package dev.heartwood.engine.call;
