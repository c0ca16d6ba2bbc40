package dev.heartwood.bench;

import dev.heartwood.bench.engine.EngineKind;
import dev.heartwood.bench.engine.EngineSettings;

/**
 * One of those that a run compares: an engine, or Heartwood under one of several settings.
 *
 * @param name what it is called in the results
 * @param kind the engine
 * @param settings how it is opened
 */
record Contestant(String name, EngineKind kind, EngineSettings settings) {}
