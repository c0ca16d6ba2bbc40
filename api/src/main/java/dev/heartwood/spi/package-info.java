/** The seam through which {@link dev.heartwood.Heartwood} finds the engine. Not for applications. */
package dev.heartwood.spi;
