/**
 * What every page of the data file has in common: the header that says what it is and lets a reader refuse it when it is
 * something else.
 *
 * <p>Layer: above {@code device}. A page is {@value dev.heartwood.engine.page.PageLayout#PAGE_BYTES} bytes; an extent is
 * {@value dev.heartwood.engine.page.PageLayout#EXTENT_PAGES} pages. Page numbers count pages from the start of the data file.
 */
package dev.heartwood.engine.page;
