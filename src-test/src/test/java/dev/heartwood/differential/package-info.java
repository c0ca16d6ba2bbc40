/** The engine against the model, operation by operation. */
package dev.heartwood.differential;
