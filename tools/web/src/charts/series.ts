// What a chart shows over time: the daemon's history, and the samples that come, for at most ten minutes.
import type { Happening, History, Sample } from '../types';

export const kKept = 600; // s

export interface Columns {
  t: number[];
  out: number[];
  in: number[];
  depth: number[];
  marked: number[];
  pauses: number[];
  drops: number[];
}

export const kNames = ['out', 'in', 'depth', 'marked', 'pauses', 'drops'] as const;

export function empty(): Columns {
  return { t: [], out: [], in: [], depth: [], marked: [], pauses: [], drops: [] };
}

// Ends: those that send; of the whole lab only hosts', so that no frame counts twice. Counts are of `counted`.
export type Values = Record<(typeof kNames)[number], number>;

export function valueOf(s: Sample, ends: number[], counted: number[]): Values {
  let out = 0;
  let come = 0;
  for (const e of ends) {
    out += s.bps[e] ?? 0;
    come += s.bps[e ^ 1] ?? 0;
  }
  let depth = 0;
  let marked = 0;
  let pauses = 0;
  let drops = 0;
  for (const e of counted) {
    depth = Math.max(depth, s.depth[e] ?? 0);
    marked += s.marked[e] ?? 0;
    pauses += s.pauses[e] ?? 0;
    drops += s.drops[e] ?? 0;
  }
  return { out, in: come, depth, marked, pauses, drops };
}

export class Series {
  columns: Columns = empty();

  // From the daemon; samples that are newer stay behind it.
  begin(history: History): void {
    const newer = this.columns.t.findIndex((t) => t > (history.t.at(-1) ?? 0));
    const rest = newer < 0 ? empty() : slice(this.columns, newer);
    this.columns = {
      t: [...history.t, ...rest.t],
      out: [...history.out, ...rest.out],
      in: [...history.in, ...rest.in],
      depth: [...history.depth, ...rest.depth],
      marked: [...history.marked, ...rest.marked],
      pauses: [...history.pauses, ...rest.pauses],
      drops: [...history.drops, ...rest.drops],
    };
  }

  add(s: Sample, ends: number[], counted: number[]): void {
    const c = this.columns;
    if (s.unix_seconds <= (c.t.at(-1) ?? 0)) return;
    const v = valueOf(s, ends, counted);
    c.t.push(s.unix_seconds);
    for (const name of kNames) c[name].push(v[name]);
    // In blocks, which is cheaper than one by one.
    const oldest = s.unix_seconds - kKept;
    if ((c.t[0] ?? oldest) < oldest - 10) {
      const keep = c.t.findIndex((t) => t >= oldest);
      this.columns = slice(c, Math.max(0, keep));
    }
  }
}

function slice(c: Columns, from: number): Columns {
  return {
    t: c.t.slice(from), out: c.out.slice(from), in: c.in.slice(from), depth: c.depth.slice(from),
    marked: c.marked.slice(from), pauses: c.pauses.slice(from), drops: c.drops.slice(from),
  };
}

// What is marked on the line of time: all but what the log says.
export function marksOf(happenings: Happening[], from: number, to: number): Happening[] {
  return happenings.filter((h) => h.kind !== 'log' && h.unix_seconds >= from && h.unix_seconds <= to);
}
