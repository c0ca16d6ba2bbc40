/**
 * Turns results into text, JSON and a page. Above {@code bench.process}, whose results it reads; below the
 * driver. Stateless but for what each report was made with. The page loads nothing from anywhere: style and
 * charts are inside.
 */
package dev.heartwood.bench.report;
