/**
 * A real broker and real application instances, each in a process of its own on loopback, so that they can be killed. The test and
 * the demonstration ({@code bin/heartwood kafka-demo}) use the same rooms: {@code ChildProcess} starts a JVM, {@code Broker} runs
 * Kafka in one, {@code Application} runs a topology in one.
 */
package dev.heartwood.kafka.cluster;
