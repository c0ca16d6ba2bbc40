package dev.heartwood.bench.report;

import java.util.Set;

/** The style of the page; light or dark as the reader's system is. */
final class PageStyle {
    private static final String CSS = """
            :root { color-scheme: light dark; --ink: #1d232a; --dim: #66707c; --line: #d9dee4; --ground: #fff;
              --heartwood: #1f8a5b; --rocksdb: #c9822b; --rocksdb-compacted: #8f5a1a; --lmdb: #3b7dd8; --mvstore: #8b62c9; }
            @media (prefers-color-scheme: dark) { :root { --ink: #e3e7ec; --dim: #98a3b0; --line: #333b45;
              --ground: #14181d; --heartwood: #3fbf85; --rocksdb: #e2a24e; --rocksdb-compacted: #b5823a; --lmdb: #6ba3ee; --mvstore: #b08ae6; } }
            body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--ground);
              max-width: 1120px; margin: 2.5rem auto; padding: 0 1.25rem; }
            h1 { font-size: 1.6rem; margin: 0 0 .25rem; }
            h2 { font-size: 1.15rem; margin: 0 0 .75rem; }
            section { border-top: 1px solid var(--line); padding-top: 1.25rem; margin-top: 1.75rem; }
            .facts, figcaption { color: var(--dim); }
            .facts { margin: 0 0 .75rem; }
            .legend span { margin-right: 1.25rem; }
            .legend i { display: inline-block; width: .8em; height: .8em; border-radius: 2px; margin-right: .4em; }
            .charts { display: flex; flex-wrap: wrap; gap: .5rem 2.5rem; }
            figure { margin: 0 0 1rem; max-width: 100%; }
            figcaption { font-size: 13px; margin-bottom: .3rem; }
            svg { max-width: 100%; height: auto; }
            svg text { font-size: 12px; fill: var(--ink); font-variant-numeric: tabular-nums; }
            .grid { stroke: var(--line); }
            .scroll { overflow-x: auto; }
            table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; }
            th, td { padding: .2rem .7rem .2rem 0; text-align: right; white-space: nowrap; }
            th { color: var(--dim); font-weight: 500; border-bottom: 1px solid var(--line); }
            th:first-child, td:first-child { text-align: left; }
            .best { font-weight: 700; }
            .engine-heartwood { fill: var(--heartwood); stroke: var(--heartwood); background: var(--heartwood); }
            .engine-rocksdb { fill: var(--rocksdb); stroke: var(--rocksdb); background: var(--rocksdb); }
            .engine-rocksdb-compacted { fill: var(--rocksdb-compacted); stroke: var(--rocksdb-compacted); background: var(--rocksdb-compacted); }
            .engine-lmdb { fill: var(--lmdb); stroke: var(--lmdb); background: var(--lmdb); }
            .engine-mvstore { fill: var(--mvstore); stroke: var(--mvstore); background: var(--mvstore); }
            line { stroke-width: 1.5; }
            rect { stroke: none; }
            .mark { fill: var(--ink); }
            .curve { fill: none; stroke-width: 1.75; }
            """;

    private PageStyle() {}

    /** The style of a page about these, each with a colour: engines one of their own, settings from around the circle. */
    static String of(Set<String> names) {
        StringBuilder css = new StringBuilder(CSS);
        int number = 0;
        for (String name : names) {
            if (!CSS.contains(".engine-" + name + " ")) {
                String colour = "hsl(" + 360 * number++ / names.size() + " 55% 48%)";
                css.append(String.format(".engine-%1$s { fill: %2$s; stroke: %2$s; background: %2$s; }%n", name, colour));
            }
        }
        return css.toString();
    }
}
