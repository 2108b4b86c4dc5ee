// Lines of the picture as points, to draw and to hit.

import type { Layout } from '../types';

export interface Point {
  x: number;
  y: number;
}

const kCurveSteps = 24;

// Of a strand's numbers; curves as chords.
export function points(strand: number[], arc: boolean): Point[] {
  const p: Point[] = [];
  for (let i = 0; i + 1 < strand.length; i += 2) p.push({ x: strand[i]!, y: strand[i + 1]! });
  if (!arc || p.length !== 4) return p;
  const [a, b, c, d] = p as [Point, Point, Point, Point];
  const out: Point[] = [];
  for (let i = 0; i <= kCurveSteps; ++i) {
    const t = i / kCurveSteps;
    const u = 1 - t;
    out.push({
      x: u * u * u * a.x + 3 * u * u * t * b.x + 3 * u * t * t * c.x + t * t * t * d.x,
      y: u * u * u * a.y + 3 * u * u * t * b.y + 3 * u * t * t * c.y + t * t * t * d.y,
    });
  }
  return out;
}

const length = (a: Point, b: Point) => Math.hypot(b.x - a.x, b.y - a.y);

// The point after a share of the way.
export function along(line: Point[], share: number): Point {
  let total = 0;
  for (let i = 1; i < line.length; ++i) total += length(line[i - 1]!, line[i]!);
  let left = total * share;
  for (let i = 1; i < line.length; ++i) {
    const step = length(line[i - 1]!, line[i]!);
    if (left <= step && step > 0) {
      const t = left / step;
      return { x: line[i - 1]!.x + (line[i]!.x - line[i - 1]!.x) * t, y: line[i - 1]!.y + (line[i]!.y - line[i - 1]!.y) * t };
    }
    left -= step;
  }
  return line.at(-1) ?? { x: 0, y: 0 };
}

// Both halves, each from its end to the middle.
export function halves(line: Point[]): [Point[], Point[]] {
  let total = 0;
  for (let i = 1; i < line.length; ++i) total += length(line[i - 1]!, line[i]!);
  let left = total / 2;
  for (let i = 1; i < line.length; ++i) {
    const step = length(line[i - 1]!, line[i]!);
    if (left <= step) {
      const middle = along([line[i - 1]!, line[i]!], step > 0 ? left / step : 0);
      return [[...line.slice(0, i), middle], [...line.slice(i).reverse(), middle]];
    }
    left -= step;
  }
  return [line, []];
}

// From a point to the nearest of a line.
export function distance(p: Point, line: Point[]): number {
  let least = Infinity;
  for (let i = 1; i < line.length; ++i) {
    const a = line[i - 1]!;
    const b = line[i]!;
    const dx = b.x - a.x;
    const dy = b.y - a.y;
    const square = dx * dx + dy * dy;
    const t = square === 0 ? 0 : Math.max(0, Math.min(1, ((p.x - a.x) * dx + (p.y - a.y) * dy) / square));
    least = Math.min(least, Math.hypot(p.x - a.x - t * dx, p.y - a.y - t * dy));
  }
  return least;
}

// From the picture to the screen: screen = picture * zoom + (x, y).
export interface View {
  x: number;
  y: number;
  zoom: number;
}

export interface Bounds {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

export function fit(bounds: Bounds, width: number, height: number, pad = 24): View {
  const w = Math.max(1, bounds.right - bounds.left);
  const h = Math.max(1, bounds.bottom - bounds.top);
  const zoom = Math.min((width - 2 * pad) / w, (height - 2 * pad) / h, 1.8);
  return {
    zoom,
    x: (width - w * zoom) / 2 - bounds.left * zoom,
    y: (height - h * zoom) / 2 - bounds.top * zoom,
  };
}

export function zoomedAt(view: View, at: Point, factor: number, least: number, most: number): View {
  const zoom = Math.max(least, Math.min(most, view.zoom * factor));
  const f = zoom / view.zoom;
  return { zoom, x: at.x - (at.x - view.x) * f, y: at.y - (at.y - view.y) * f };
}

// A picture of rows that is much wider than high, with more room between its rows: as high as `aspect` of its width, if
// gaps need not grow by more than kMostStretch. Boxes stay as they are.
const kMostStretch = 25;
export function stretched(layout: Layout, aspect: number): Layout {
  const bands = [...layout.bands].sort((a, b) => a[1] - b[1]);
  const first = bands[0];
  const last = bands.at(-1);
  if (!first || !last || bands.length < 2) return layout;
  const height = last[1] + last[3] - first[1];
  const filled = bands.reduce((sum, b) => sum + b[3], 0);
  const factor = Math.min(kMostStretch, (layout.width * aspect - filled) / (height - filled));
  if (!(factor > 1.15)) return layout;
  const moved = (y: number) => {
    let by = 0;
    for (let i = 1; i < bands.length; ++i) {
      const from = bands[i - 1]![1] + bands[i - 1]![3];
      const to = bands[i]![1];
      if (y > from) by += (Math.min(y, to) - from) * (factor - 1);
    }
    return y + by;
  };
  const movedRect = ([x, y, w, h]: [number, number, number, number]): [number, number, number, number] => [x, moved(y), w, h];
  return {
    ...layout,
    height: moved(layout.height),
    bands: layout.bands.map(movedRect),
    boxes: layout.boxes.map((b) => ({ ...b, place: movedRect(b.place) })),
    lines: layout.lines.map((l) => ({ ...l, strands: l.strands.map((s) => s.map((v, i) => (i % 2 === 1 ? moved(v) : v))) })),
  };
}
