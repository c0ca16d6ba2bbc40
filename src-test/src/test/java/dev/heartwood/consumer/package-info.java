/** What a user of the published jars does: one dependency, one program. */
package dev.heartwood.consumer;
