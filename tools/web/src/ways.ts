// What is drawn over the fabric: the way of a flow, the next hops of a route, who pauses whom.
import { signal } from '@preact/signals';

import { ask } from './api';
import { happenings, layout } from './store';
import type { Layout } from './types';

// From the end of a link that sends to its other one; `main`: the way taken, or the only one.
export interface Arrow {
  end: number;
  main: boolean;
}
export interface Overlay {
  kind: 'path' | 'route' | 'pauses';
  title: string;
  arrows: Arrow[];
  roots: number[]; // ends: where congestion begins
}
export const overlay = signal<Overlay | null>(null);

export interface NextHop {
  port: string;
  to: string;
  weight: number;
  up: boolean;
}
export interface Path {
  name?: string;
  from: string;
  to: string;
  flow: { dscp: number; source_port: number; destination_qp: number | null; entropy: number | null; any_entropy: boolean };
  hops: { hop: number; node: string; in: string; class: number; policy: string | null; next_hops: NextHop[]; out: string | null }[];
  arrives: boolean;
  lost: string[];
}
export interface PauseTree {
  root: string; // "leaf1:1 class 3"
  levels: string[][];
}

const known = new WeakMap<Layout, Map<string, number>>();

// The number of the end at a port, "leaf1:3"; -1: there is no link.
export function endAt(of: Layout, port: string): number {
  let ends = known.get(of);
  if (!ends) {
    ends = new Map(of.links.flatMap((l, i): [string, number][] => [[l.a, 2 * i], [l.b, 2 * i + 1]]));
    known.set(of, ends);
  }
  return ends.get(port) ?? -1;
}

// All that a packet may take; where it depends on the packet or the moment, every next hop is as good.
export function arrowsOfPath(of: Layout, path: Path): Arrow[] {
  const out: Arrow[] = [{ end: endAt(of, path.from), main: true }];
  for (const hop of path.hops)
    for (const n of hop.next_hops) {
      const taken = hop.out === null ? n.up : hop.out === n.port;
      if (taken) out.push({ end: endAt(of, n.port), main: hop.out !== null });
    }
  return out.filter((a) => a.end >= 0);
}

export const portOfQueue = (queue: string) => queue.split(' ')[0] ?? '';

// A queue that is paused has been told so by the other end of its link: arrows lead from who pauses to who is paused.
export function arrowsOfTrees(of: Layout, trees: PauseTree[]): { arrows: Arrow[]; roots: number[] } {
  const arrows = new Map<number, boolean>();
  for (const tree of trees)
    tree.levels.forEach((level, depth) => {
      for (const queue of level) {
        const end = endAt(of, portOfQueue(queue));
        if (end >= 0) arrows.set(end ^ 1, (arrows.get(end ^ 1) ?? false) || depth === 0);
      }
    });
  const roots = [...new Set(trees.map((t) => endAt(of, portOfQueue(t.root))).filter((e) => e >= 0))];
  return { arrows: [...arrows].map(([end, main]) => ({ end, main })), roots };
}

let shown: { flow: string } | null = null;
export const shownPath = signal<Path | null>(null);

export async function showFlow(flow: string): Promise<Path> {
  shown = { flow };
  const path = await ask<Path>('POST', '/path', { flow });
  const of = layout.value;
  if (of && shown?.flow === flow) {
    shownPath.value = path;
    overlay.value = { kind: 'path', title: `Path of ${flow}`, arrows: arrowsOfPath(of, path), roots: [] };
  }
  return path;
}

export function showRoute(of: Layout, node: string, prefix: string, hops: NextHop[]): void {
  clearOverlay();
  overlay.value = {
    kind: 'route', title: `Next hops of ${node} for ${prefix}`, roots: [],
    arrows: hops.map((h) => ({ end: endAt(of, h.port), main: h.up })).filter((a) => a.end >= 0),
  };
}

export function showTrees(of: Layout, title: string, trees: PauseTree[]): void {
  if (overlay.value?.kind !== 'pauses') clearOverlay();
  overlay.value = { kind: 'pauses', title, ...arrowsOfTrees(of, trees) };
}

export function clearOverlay(): void {
  shown = null;
  shownPath.value = null;
  overlay.value = null;
}

// Paths move when links and faults do: the one that is shown is asked for again.
let seen = 0;
let pending = 0;
export function followHappenings(): () => void {
  return happenings.subscribe((all) => {
    const last = all.at(-1);
    if (!last || last.number <= seen) return;
    const matters = all.some((h) => h.number > seen && h.kind !== 'log');
    seen = last.number;
    if (!matters || !shown) return;
    window.clearTimeout(pending);
    pending = window.setTimeout(() => {
      if (shown) void showFlow(shown.flow).catch(() => undefined);
    }, 300);
  });
}
