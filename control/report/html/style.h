// The page's style sheet: two palettes, chosen by what the reader's machine prefers.
#pragma once

namespace railyard::report {

// Lines take the colours of Okabe and Ito ("Color Universal Design", 2008), which people with all kinds of colour
// vision tell apart; on dark paper lighter ones.
inline constexpr const char* kStyle = R"(
:root { color-scheme: light dark; --paper: #ffffff; --ink: #0f172a; --quiet: #475569; --edge: #cbd5e1; --band: #f3f5f9;
  --good: #00664a; --bad: #a32b00; --good-paper: #dff3ec; --bad-paper: #fbe5dc; --mark: #a32b00;
  --c0: #0072b2; --c1: #d55e00; --c2: #009e73; --c3: #cc79a7; --c4: #e69f00; --c5: #56b4e9; --c6: #332288;
  --c7: #999933; }
@media (prefers-color-scheme: dark) { :root { --paper: #10151d; --ink: #e6ebf2; --quiet: #9fb0c5; --edge: #33415a;
  --band: #182030; --good: #6fd3ae; --bad: #ff9d7a; --good-paper: #14342a; --bad-paper: #40211a; --mark: #ff9d7a;
  --c0: #56b4e9; --c1: #ff9d5c; --c2: #3fd0a4; --c3: #e6a3c7; --c4: #f2c14e; --c5: #9fd6f5; --c6: #a99bf0;
  --c7: #cfcf6a; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.2rem; max-width: 72rem; background: var(--paper); color: var(--ink);
  font: 15px/1.45 system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
h1 { font-size: 1.5rem; margin: 0 0 .2rem; } h2 { font-size: 1.15rem; margin: 1.8rem 0 .5rem; } h3 { font-size: 1rem;
  margin: 1.1rem 0 .3rem; }
p { margin: .4rem 0; } .lead, .note { color: var(--quiet); } .note { font-size: .88rem; }
nav a { margin-right: .9rem; } a { color: var(--c0); }
code, pre { font: 13px/1.4 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
pre { background: var(--band); border: 1px solid var(--edge); border-radius: 6px; padding: .6rem; overflow-x: auto;
  white-space: pre-wrap; overflow-wrap: anywhere; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { padding: .22rem .6rem; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--edge); }
th { color: var(--quiet); font-weight: 600; background: var(--band); } th[title] { text-decoration: underline dotted; }
.t { text-align: left; } tr.bad td:first-child { border-left: 3px solid var(--bad); }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .6rem; margin: .8rem 0; }
.tile { background: var(--band); border: 1px solid var(--edge); border-radius: 8px; padding: .5rem .7rem; }
.tile b { display: block; font-size: 1.25rem; font-weight: 650; } .tile span { color: var(--quiet); font-size: .85rem; }
.verdicts { list-style: none; padding: 0; margin: .6rem 0; } .verdicts li { padding: .25rem 0; }
.pill { display: inline-block; min-width: 3.2rem; text-align: center; border-radius: 1rem; padding: 0 .6rem;
  margin-right: .6rem; font-size: .85rem; font-weight: 650; background: var(--band); color: var(--quiet); }
.pill.pass { background: var(--good-paper); color: var(--good); } .pill.fail { background: var(--bad-paper);
  color: var(--bad); }
figure { margin: .5rem 0; } .chart { width: 100%; max-width: 56rem; height: auto; display: block; }
.chart text { fill: var(--quiet); font: 11px system-ui, Arial, sans-serif; } .chart .axis { font-size: 12px; }
.grid { stroke: var(--edge); stroke-width: .6; } .mark { stroke: var(--mark); stroke-width: 1.2;
  stroke-dasharray: 5 4; }
.line { fill: none; stroke-width: 1.8; stroke-linejoin: round; } .bar { fill: var(--c0); } .bar.open { fill: none;
  stroke: var(--c0); stroke-dasharray: 3 2; }
.c0 { stroke: var(--c0); } .c1 { stroke: var(--c1); } .c2 { stroke: var(--c2); } .c3 { stroke: var(--c3); }
.c4 { stroke: var(--c4); } .c5 { stroke: var(--c5); } .c6 { stroke: var(--c6); } .c7 { stroke: var(--c7); }
.legend { font-size: .85rem; color: var(--quiet); } .legend span { margin-right: 1rem; white-space: nowrap; }
.legend i { display: inline-block; width: 1rem; height: .22rem; margin-right: .35rem; vertical-align: middle; }
.k0 { background: var(--c0); } .k1 { background: var(--c1); } .k2 { background: var(--c2); }
.k3 { background: var(--c3); } .k4 { background: var(--c4); } .k5 { background: var(--c5); }
.k6 { background: var(--c6); } .k7 { background: var(--c7); }
@media print { body { max-width: none; } nav { display: none; } section { break-inside: avoid; } }
)";

}  // namespace railyard::report
