/**
 * Background work: the only place that makes threads.
 *
 * <p>Layer: above {@code base}. Work is submitted by {@link dev.heartwood.engine.task.Priority}; a task never waits for another
 * task, so any number of threads makes progress, and one that has more and more to do ends now and then for what waits ({@link
 * dev.heartwood.engine.task.Turns}). What may wait, as code of the user's, runs apart, on a thread of its own. What is done again and again
 * has a {@link dev.heartwood.engine.task.Timer}, which a full Java heap does not keep from being started. The test kit has a deterministic twin of {@link
 * dev.heartwood.engine.task.Workers}. What computes for long without waiting for anything gives its processor to others now and
 * then ({@link dev.heartwood.engine.task.TimeSlice}).
 */
package dev.heartwood.engine.task;
