/**
 * Rules of the code that a machine can check; every message names what to use instead. {@code ArchitectureLintTest} reads the
 * compiled classes, {@code SourceLintTest} the files.
 */
package dev.heartwood.lint;
