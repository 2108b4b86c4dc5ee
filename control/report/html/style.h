// The page's style sheet: two palettes, chosen by what the reader's machine prefers.
#pragma once

namespace railyard::report {

// Lines have dash patterns and widths of their own, too: of those that coincide each stays visible. They take the colours of Okabe and Ito ("Color Universal Design", 2008), which people with all kinds of colour
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
body { margin: 0 auto; padding: 1.2rem; max-width: 84rem; background: var(--paper); color: var(--ink);
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
.t { text-align: left; } .long { white-space: normal; overflow-wrap: anywhere; min-width: 15rem; }
/* What a row is about stays in sight of its figures while they scroll. */
.wide > table > * > tr > :first-child { position: sticky; left: 0; z-index: 1; min-width: 5rem; }
.wide > table > * > tr > .long:first-child { min-width: 8.5rem; }
.wide > table > tbody > tr > td:first-child { background: var(--paper); }
tr.bad td:first-child { border-left: 3px solid var(--bad); }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .6rem; margin: .8rem 0; }
.tile { background: var(--band); border: 1px solid var(--edge); border-radius: 8px; padding: .5rem .7rem; }
.tile b { display: block; font-size: 1.25rem; font-weight: 650; } .tile span { color: var(--quiet); font-size: .85rem; }
.verdicts { list-style: none; padding: 0; margin: .6rem 0; } .verdicts li { padding: .25rem 0 .25rem 5rem;
  position: relative; } .verdicts b { margin-right: .3rem; }
.pill { position: absolute; left: 0; width: 4.2rem; text-align: center; border-radius: 1rem; padding: .05rem 0; font-size: .85rem; font-weight: 650; background: var(--band); color: var(--quiet); }
.pill.pass { background: var(--good-paper); color: var(--good); } .pill.fail { background: var(--bad-paper);
  color: var(--bad); }
figure { margin: .5rem 0 1rem; }
.chart .y { margin: 0; color: var(--quiet); font-size: .82rem; }
.plot { display: grid; grid-template-columns: auto minmax(0, 1fr); column-gap: .5rem; padding-right: 1.6rem;
  font-size: .78rem; color: var(--quiet); font-variant-numeric: tabular-nums; }
.area { position: relative; grid-column: 2; height: 17rem; margin-top: .5rem; } .strips .area { height: 3.4rem; margin: 0; }
.area svg { position: absolute; inset: 0; width: 100%; height: 100%; overflow: visible; }
.area path, .legend path { vector-effect: non-scaling-stroke; fill: none; }
.ys { position: relative; grid-column: 1; text-align: right; margin-top: .5rem; } .strips .ys { margin: 0; }
.ys em { visibility: hidden; font-style: normal; white-space: nowrap; }
.ys span { position: absolute; right: 0; transform: translateY(-50%); white-space: nowrap; line-height: 1; }
.xs { position: relative; grid-column: 2; height: 2.9em; margin-top: .35rem; font-variant-numeric: tabular-nums; }
.xs span { position: absolute; top: 0; transform: translateX(-50%); white-space: nowrap; }
.xs b { position: absolute; top: 1.45em; left: 0; right: 0; text-align: center; font-weight: 400; }
.strips .name { grid-column: 1 / -1; margin: .55rem 0 .3rem; font-size: .82rem; overflow-wrap: anywhere; }
.strips .name b { color: var(--ink); font-weight: 600; margin-right: .5rem; }
.area .grid { stroke: var(--edge); stroke-width: .7; }
.area path.mark { stroke: var(--mark); stroke-width: 1.3; stroke-dasharray: 5 4; }
.area span.mark { position: absolute; top: 0; padding: 0 .4rem; color: var(--mark); white-space: nowrap; }
.line { stroke-width: 2; stroke-linejoin: round; } .area path.fill { fill-opacity: .22; stroke-width: 1.2; }
.c0 { stroke: var(--c0); } .c1 { stroke: var(--c1); } .c2 { stroke: var(--c2); } .c3 { stroke: var(--c3); }
.c4 { stroke: var(--c4); } .c5 { stroke: var(--c5); } .c6 { stroke: var(--c6); } .c7 { stroke: var(--c7); }
.area .fill.c0 { fill: var(--c0); } .area .fill.c1 { fill: var(--c1); } .area .fill.c2 { fill: var(--c2); }
.area .fill.c3 { fill: var(--c3); } .area .fill.c4 { fill: var(--c4); } .area .fill.c5 { fill: var(--c5); }
.area .fill.c6 { fill: var(--c6); } .area .fill.c7 { fill: var(--c7); }
.line.c0 { stroke-width: 3.2; } .line.c1 { stroke-dasharray: 9 4; stroke-width: 2.6; } .line.c2 { stroke-dasharray: 3 3;
  stroke-width: 2.4; } .line.c3 { stroke-dasharray: 12 3 3 3; } .line.c4 { stroke-dasharray: 6 6; }
.line.c5 { stroke-dasharray: 2 5; } .line.c6 { stroke-dasharray: 14 6; stroke-width: 1.6; }
.line.c7 { stroke-dasharray: 8 3 2 3 2 3; stroke-width: 1.6; }
.line.dots { stroke-width: 8; stroke-linecap: round; stroke-dasharray: none; }
.legend { font-size: .85rem; color: var(--quiet); } .legend span { display: inline-block; margin-right: 1.1rem;
  overflow-wrap: anywhere; } .legend svg { width: 36px; height: 8px; margin-right: .4rem; vertical-align: middle; }
.timeline .rows { display: grid; grid-template-columns: auto minmax(0, 1fr); column-gap: .5rem; }
.timeline .names { font: 10px/14px ui-monospace, monospace; color: var(--quiet); } .timeline .names span { display: block;
  height: 14px; max-width: 12rem; overflow: hidden; white-space: nowrap; text-overflow: ellipsis; }
.timeline svg { width: 100%; background: var(--band); } .timeline figcaption { font-size: .85rem; color: var(--quiet); }
.timeline .k { fill: var(--c0); background: var(--c0); } .timeline .x { fill: var(--c4); background: var(--c4); }
.timeline b { display: inline-block; width: .8rem; height: .8rem; margin-left: .6rem; border: 1px solid var(--edge); }
.bars { font-size: .82rem; font-variant-numeric: tabular-nums; } .bars .row { display: grid; align-items: center;
  grid-template: "name track end" / minmax(0, 15rem) minmax(0, 1fr) 6rem; column-gap: .6rem; padding: .12rem 0; }
.bars .name { grid-area: name; overflow-wrap: anywhere; } .bars .end { grid-area: end; color: var(--quiet); }
.bars .track { grid-area: track; position: relative; height: .7rem; background: var(--band); }
.bars .track i { position: absolute; top: 0; bottom: 0; min-width: 2px; background: var(--c0); border-radius: 2px; }
.bars .track i.open { background: none; border: 1.5px dashed var(--c0); }
.bars .xs { grid-area: track; color: var(--quiet); }
.topology { border-radius: 12px; } .topology > div { margin: 0 auto; } .topology svg { display: block; width: 100%;
  height: auto; }
@media (prefers-color-scheme: dark) { .topology svg { filter: invert(.92) hue-rotate(180deg); } }
@media (max-width: 46rem) {
  body { padding: .9rem; } .area { height: 13rem; } .xs .odd { display: none; }
  .bars .row { grid-template: "name end" "track track" / minmax(0, 1fr) auto; }
  .wide > table > * > tr > .long:first-child { max-width: 9.5rem; }
}
@media print { body { max-width: none; } nav { display: none; } section { break-inside: avoid; } }
)";

}  // namespace railyard::report
