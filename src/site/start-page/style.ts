/** The stylesheet of the start page, in TypeScript, so that the build need not copy a file. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --ground: #faf9f6;
  --surface: #fff;
  --sunken: #f1efe9;
  --line: #dedad1;
  --text: #1c2326;
  --quiet: #566066;
  --accent: #0b5d66;
  --on-accent: #fff;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #12171a;
    --surface: #1a2125;
    --sunken: #0d1113;
    --line: #303a40;
    --text: #e6eaec;
    --quiet: #a5b0b6;
    --accent: #74cbd2;
    --on-accent: #0c1a1c;
  }
}
* { box-sizing: border-box; }
html { scroll-behavior: smooth; -webkit-text-size-adjust: 100%; }
body {
  margin: 0;
  background: var(--ground);
  color: var(--text);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
}
body > * { max-width: 62rem; margin-inline: auto; padding-inline: clamp(1rem, 4vw, 2rem); }
h1, h2, h3, p, ul, ol, dl, dd { margin: 0; padding: 0; }
ul, ol { list-style: none; }
h1 { font-size: clamp(1.8rem, 5vw, 2.6rem); line-height: 1.15; letter-spacing: -0.02em; text-wrap: balance; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; line-height: 1.3; }
h3 { font-size: 1.05rem; line-height: 1.35; overflow-wrap: anywhere; }
a { color: var(--accent); text-underline-offset: 0.18em; text-decoration-thickness: 1px; }
a:hover { text-decoration-thickness: 2px; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
code { font: 0.875em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 1rem; top: 0.5rem; }
.top { display: flex; flex-wrap: wrap; gap: 0.25rem 1.5rem; align-items: center; justify-content: space-between; padding-block: 1.1rem; }
.top li a { display: inline-block; text-decoration: none; }
.top li a:hover { text-decoration: underline; }
.top li a::first-letter { text-transform: uppercase; }
.top ul, .row { display: flex; flex-wrap: wrap; gap: 0.25rem 1.1rem; }
.brand { font-weight: 700; letter-spacing: -0.01em; color: var(--text); text-decoration: none; }
.brand::before {
  content: "";
  display: inline-block;
  width: 0.8em;
  height: 0.8em;
  margin-right: 0.5em;
  border-radius: 0.22em;
  background: var(--accent);
}
.hero { padding-block: clamp(1.5rem, 6vw, 3.5rem) clamp(1.5rem, 4vw, 2.5rem); }
.hero p { max-width: 44rem; margin-top: 0.9rem; font-size: 1.1rem; color: var(--quiet); }
.hero .row { margin-top: 1.4rem; gap: 0.75rem; font-size: 1rem; }
.button { padding: 0.55rem 1.1rem; border: 1px solid var(--accent); border-radius: 8px; text-decoration: none; font-weight: 600; }
.button:hover { text-decoration: underline; }
.main { background: var(--accent); color: var(--on-accent); }
section { margin-bottom: clamp(2rem, 5vw, 3rem); }
section > h2 { margin-bottom: 0.9rem; }
.quiet { color: var(--quiet); }
.small { font-size: 0.9rem; }
.grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 21rem), 1fr)); gap: 1rem; }
.card { display: grid; align-content: start; gap: 0.6rem; min-width: 0; padding: 1.15rem 1.25rem; background: var(--surface); border: 1px solid var(--line); border-radius: 12px; scroll-margin-top: 1rem; }
.card h2:not(:first-child) { margin-top: 0.7rem; }
.card:target { border-color: var(--accent); box-shadow: 0 0 0 2px var(--accent); }
.line { display: block; padding: 0.55rem 0.75rem; background: var(--sunken); border-radius: 8px; white-space: pre-wrap; overflow-wrap: anywhere; user-select: all; -webkit-user-select: all; }
.steps { counter-reset: step; display: grid; gap: 1.25rem; }
.steps > li { counter-increment: step; display: grid; gap: 0.5rem; padding-left: 2.6rem; position: relative; min-width: 0; }
.steps > li::before {
  content: counter(step);
  position: absolute;
  left: 0;
  width: 1.7rem;
  height: 1.7rem;
  border: 1px solid var(--line);
  border-radius: 50%;
  text-align: center;
  font-size: 0.9rem;
  line-height: 1.6rem;
  color: var(--quiet);
}
.pairs { display: grid; gap: 0.7rem; }
.links { display: grid; gap: 0.3rem; justify-items: start; }
.pairs > div { display: grid; grid-template-columns: 1fr auto; gap: 0 1rem; }
.pairs dd { text-align: right; font-variant-numeric: tabular-nums; }
.pairs .small { grid-column: 1 / -1; text-align: left; }
.lines { white-space: pre-line; overflow-wrap: anywhere; }
.prose { max-width: 44rem; margin-bottom: 0.8rem; overflow-wrap: anywhere; }
[aria-current="true"] { font-weight: 700; color: var(--text); text-decoration: none; }
footer { padding-block: 1.25rem 2rem; font-size: 0.9rem; color: var(--quiet); }
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
`.replaceAll(/\s*\n\s*/g, ' ');
