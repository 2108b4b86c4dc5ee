// What is under the pointer, and what is beside what is selected.
import type { Layout, Selection } from '../types';
import type { Strand } from './draw';
import { distance, type Point } from './geometry';

export function boxAt(layout: Layout, p: Point): number {
  for (let b = layout.boxes.length - 1; b >= 0; --b) {
    const [x, y, w, h] = layout.boxes[b]!.place;
    if (p.x >= x && p.x <= x + w && p.y >= y && p.y <= y + h) return b;
  }
  return -1;
}

export function selectionOfBox(layout: Layout, b: number): Selection {
  const box = layout.boxes[b];
  if (!box) return { kind: 'none' };
  const only = box.nodes.length === 1 ? layout.nodes[box.nodes[0]!] : undefined;
  return only ? { kind: 'node', name: only.name } : { kind: 'box', box: b };
}

// `reach`: in pixels of the picture.
export function hit(layout: Layout, strands: Strand[], p: Point, reach: number): Selection {
  const b = boxAt(layout, p);
  if (b >= 0) return selectionOfBox(layout, b);
  let best: Strand | null = null;
  let least = reach;
  for (const s of strands) {
    const d = distance(p, s.whole);
    if (d < least) {
      least = d;
      best = s;
    }
  }
  if (!best) return { kind: 'none' };
  return best.links.length === 1 ? { kind: 'link', link: best.links[0]! } : { kind: 'line', line: best.line };
}

// With the arrow keys: the box that is next in a direction; from nothing, the first.
export function neighbour(layout: Layout, from: Selection, dx: number, dy: number): Selection {
  const at = centre(layout, from);
  if (!at) return selectionOfBox(layout, 0);
  let best = -1;
  let least = Infinity;
  layout.boxes.forEach((box, b) => {
    const [x, y, w, h] = box.place;
    const vx = x + w / 2 - at.x;
    const vy = y + h / 2 - at.y;
    const ahead = vx * dx + vy * dy;
    const aside = Math.abs(vx * dy) + Math.abs(vy * dx);
    if (ahead < 4 || aside > 3 * ahead + 1) return;
    const cost = ahead + 2 * aside;
    if (cost < least) {
      least = cost;
      best = b;
    }
  });
  return best < 0 ? from : selectionOfBox(layout, best);
}

export function centre(layout: Layout, what: Selection): Point | null {
  const box =
    what.kind === 'box' ? layout.boxes[what.box]
    : what.kind === 'node' ? layout.boxes[layout.nodes.find((n) => n.name === what.name)?.box ?? -1]
    : undefined;
  if (!box) return null;
  const [x, y, w, h] = box.place;
  return { x: x + w / 2, y: y + h / 2 };
}
