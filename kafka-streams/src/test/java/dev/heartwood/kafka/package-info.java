/**
 * Tests of the state stores. {@code StoreContext} stands for Kafka Streams where a whole topology would say no more; the suites that
 * Kafka publishes for its own stores are subclassed in its package {@code org.apache.kafka.streams.state.internals}.
 */
package dev.heartwood.kafka;
