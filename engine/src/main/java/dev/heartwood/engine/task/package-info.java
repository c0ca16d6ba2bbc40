/**
 * Background work: the only place that makes threads.
 *
 * <p>Layer: above {@code base}. Work is submitted by {@link dev.heartwood.engine.task.Priority}; a task never waits for another
 * task, so any number of threads makes progress. The test kit has a deterministic twin of {@link
 * dev.heartwood.engine.task.Workers}.
 */
package dev.heartwood.engine.task;
