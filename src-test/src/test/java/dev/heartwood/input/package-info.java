/** What the engine says to bad input: a typed, clear error before anything changes. */
package dev.heartwood.input;
