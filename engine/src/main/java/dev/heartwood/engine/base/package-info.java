/**
 * What everything else stands on: units, hashing, time, randomness, the epochs that protect readers. The lowest layer; imports
 * the JDK and the API only.
 */
package dev.heartwood.engine.base;
