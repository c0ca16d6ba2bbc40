/** A program of a user: one dependency, one class. {@code ConsumerTest} builds it against the packaged jars and runs it. */
package consumer;
