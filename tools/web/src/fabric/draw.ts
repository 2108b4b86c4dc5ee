// The fabric on a canvas.
import { rate } from '../format';
import type { Health } from '../store';
import type { Palette } from '../theme';
import { railColour, useColour } from '../theme';
import type { Layout, Sample, Selection } from '../types';
import type { Overlay } from '../ways';
import { drawArrows } from './arrows';
import { along, halves, type Point, points, type View } from './geometry';
import { drawCount, drawCross, drawTriangle } from './signs';

// A strand of a line, ready to draw.
export interface Strand {
  line: number;
  links: number[];
  forward: boolean[]; // by links: end `a` of the link is at the line's box `a`
  whole: Point[];
  fromA: Point[];
  fromB: Point[];
  box: [number, number, number, number]; // left, top, right, bottom
}

export interface Layers {
  queues: boolean;
  marks: boolean;
  pauses: boolean;
  drops: boolean;
}

export interface Scene {
  layout: Layout;
  strands: Strand[];
  sample: Sample | null;
  degraded: Map<number, string[]>;
  nodes: Map<string, { health: Health; faults: string[] }>;
  selection: Selection;
  hovered: Selection;
  overlay: Overlay | null;
  found: Set<string>; // nodes that a search names
  layers: Layers;
  phase: number; // of what moves, in seconds; null motion: 0
  palette: Palette;
}

export function strandsOf(layout: Layout): Strand[] {
  const out: Strand[] = [];
  layout.lines.forEach((line, l) => {
    line.strands.forEach((strand, s) => {
      const whole = points(strand, line.arc);
      const [fromA, fromB] = halves(whole);
      const link = line.links[s];
      const links = line.strands.length === line.links.length && link !== undefined ? [link] : line.links;
      const x = whole.map((p) => p.x);
      const y = whole.map((p) => p.y);
      out.push({
        line: l,
        links,
        forward: links.map((i) => isForward(layout, l, i)),
        whole,
        fromA,
        fromB,
        box: [Math.min(...x), Math.min(...y), Math.max(...x), Math.max(...y)],
      });
    });
  });
  return out;
}

// Whether end `a` of a link is at the line's box `a`.
function isForward(layout: Layout, line: number, link: number): boolean {
  const l = layout.links[link];
  const box = layout.boxes[layout.lines[line]?.a ?? 0];
  if (!l || !box) return true;
  const node = l.a.slice(0, l.a.lastIndexOf(':'));
  return box.nodes.some((n) => layout.nodes[n]?.name === node);
}

function widthOf(bps: number): number {
  return Math.max(1.6, Math.min(6, 1.6 + 1.1 * Math.log2(Math.max(1, bps / 25e9))));
}

function path(c: CanvasRenderingContext2D, line: Point[]): void {
  c.beginPath();
  line.forEach((p, i) => (i === 0 ? c.moveTo(p.x, p.y) : c.lineTo(p.x, p.y)));
}

// What both ends send, of the busiest link.
function usesOf(s: Strand, sample: Sample | null): [number, number] {
  let a = 0;
  let b = 0;
  if (sample)
    s.links.forEach((l, i) => {
      const forward = s.forward[i];
      a = Math.max(a, sample.use[2 * l + (forward ? 0 : 1)] ?? 0);
      b = Math.max(b, sample.use[2 * l + (forward ? 1 : 0)] ?? 0);
    });
  return [a, b];
}

// Many strands: those that are as they should be in few strokes, one for each colour and width.
const kShades = 24;
function drawMany(c: CanvasRenderingContext2D, strands: Strand[], scene: Scene): void {
  const { layout, sample, palette: p } = scene;
  const batches = new Map<number, { use: number; width: number; path: Path2D }>();
  const add = (line: Point[], use: number, width: number) => {
    const shade = use < 0.001 ? 0 : 1 + Math.min(kShades - 1, Math.floor(use * kShades));
    const key = shade * 100 + Math.round(width * 10);
    let batch = batches.get(key);
    if (!batch) batches.set(key, (batch = { use: shade === 0 ? 0 : (shade - 0.5) / kShades, width, path: new Path2D() }));
    line.forEach((q, i) => (i === 0 ? batch.path.moveTo(q.x, q.y) : batch.path.lineTo(q.x, q.y)));
  };
  const others: Strand[] = [];
  for (const s of strands) {
    const odd = isChosen(scene.selection, s) || isChosen(scene.hovered, s) ||
      s.links.some((l) => sample?.up[l] === '0' || scene.degraded.has(l));
    if (odd) {
      others.push(s);
      continue;
    }
    const width = widthOf(layout.links[s.links[0] ?? 0]?.rate_bps ?? 0) + (s.links.length > 1 ? 1.4 : 0);
    const [a, b] = usesOf(s, sample);
    add(s.fromA, a, width);
    add(s.fromB, b, width);
  }
  for (const b of [...batches.values()].sort((x, y) => x.use - y.use)) {
    c.strokeStyle = useColour(b.use, p);
    c.lineWidth = b.width;
    c.stroke(b.path);
  }
  for (const s of others) drawStrand(c, s, scene, false);
}

function drawStrand(c: CanvasRenderingContext2D, s: Strand, scene: Scene, moving: boolean): void {
  const { layout, sample, palette: p } = scene;
  const links = s.links;
  const down = sample ? links.filter((l) => sample.up[l] === '0').length : 0;
  const degraded = links.some((l) => scene.degraded.has(l));
  const width = widthOf(layout.links[links[0] ?? 0]?.rate_bps ?? 0) + (links.length > 1 ? 1.4 : 0);
  const [useA, useB] = usesOf(s, sample);
  const chosen = isChosen(scene.selection, s);
  const hovered = isChosen(scene.hovered, s);
  if (chosen || hovered) {
    c.strokeStyle = p.selected;
    c.globalAlpha = chosen ? 0.9 : 0.45;
    c.lineWidth = width + 5;
    path(c, s.whole);
    c.stroke();
    c.globalAlpha = 1;
  }
  if (down === links.length) {
    c.strokeStyle = p.down;
    c.lineWidth = width;
    c.setLineDash([7, 6]);
    path(c, s.whole);
    c.stroke();
    c.setLineDash([]);
    drawCross(c, along(s.whole, 0.5), p);
    return;
  }
  if (degraded) {
    c.strokeStyle = p.degraded;
    c.globalAlpha = 0.35;
    c.lineWidth = width + 7;
    path(c, s.whole);
    c.stroke();
    c.globalAlpha = 1;
  }
  for (const [half, use] of [[s.fromA, useA], [s.fromB, useB]] as const) {
    c.strokeStyle = useColour(use, p);
    c.lineWidth = width;
    path(c, half);
    c.stroke();
    if (moving && use >= 0.005) {
      c.strokeStyle = p.paper;
      c.globalAlpha = 0.55;
      c.lineWidth = Math.max(1, width * 0.4);
      c.setLineDash([3, 11]);
      c.lineDashOffset = -(scene.phase * (14 + 60 * use)) % 14;
      c.stroke();
      c.setLineDash([]);
      c.globalAlpha = 1;
    }
  }
  if (degraded) drawTriangle(c, along(s.whole, 0.5), p);
  if (down > 0) drawCount(c, along(s.whole, 0.5), `${down} of ${links.length} down`, p);
}

function isChosen(what: Selection, s: Strand): boolean {
  if (what.kind === 'link') return s.links.includes(what.link);
  return what.kind === 'line' && what.line === s.line;
}

// Queues, marks, pauses and drops, where they are: at the end that sends.
function drawEnds(c: CanvasRenderingContext2D, s: Strand, scene: Scene): void {
  const { sample, layers, palette: p } = scene;
  if (!sample) return;
  for (const atA of [true, false]) {
    let depth = 0;
    let marked = 0;
    let pauses = 0;
    let drops = 0;
    s.links.forEach((l, i) => {
      const e = 2 * l + (s.forward[i] === atA ? 0 : 1);
      depth = Math.max(depth, sample.depth[e] ?? 0);
      marked += sample.marked[e] ?? 0;
      pauses += sample.pauses[e] ?? 0;
      drops += sample.drops[e] ?? 0;
    });
    if (depth < 8192 && marked === 0 && pauses === 0 && drops === 0) continue;
    const half = atA ? s.fromA : s.fromB;
    const at = along(half, 0.16);
    if (layers.queues && depth >= 8192) {
      c.fillStyle = p.queue;
      c.globalAlpha = 0.85;
      c.beginPath();
      c.arc(at.x, at.y, Math.min(13, 2.5 + Math.sqrt(depth / 16384)), 0, 2 * Math.PI);
      c.fill();
      c.globalAlpha = 1;
    }
    if (layers.marks && marked > 0) {
      c.strokeStyle = p.mark;
      c.lineWidth = 2;
      c.beginPath();
      c.arc(at.x, at.y, 8, 0, 2 * Math.PI);
      c.stroke();
    }
    if (layers.pauses && pauses > 0) {
      const q = along(half, 0.34);
      c.fillStyle = p.paper;
      c.beginPath();
      c.arc(q.x, q.y, 7, 0, 2 * Math.PI);
      c.fill();
      c.fillStyle = p.pause;
      c.fillRect(q.x - 3.5, q.y - 4, 2.6, 8);
      c.fillRect(q.x + 1, q.y - 4, 2.6, 8);
    }
    if (layers.drops && drops > 0) {
      const q = along(half, 0.52);
      c.fillStyle = p.down;
      c.beginPath();
      c.moveTo(q.x, q.y - 6);
      c.bezierCurveTo(q.x + 7, q.y + 2, q.x + 4, q.y + 7, q.x, q.y + 7);
      c.bezierCurveTo(q.x - 4, q.y + 7, q.x - 7, q.y + 2, q.x, q.y - 6);
      c.fill();
    }
  }
}

// `away`: it is at a site that does not answer; no fault has it down.
function boxHealth(scene: Scene, box: number): { health: Health; n: number; of: number; away: boolean } {
  const nodes = scene.layout.boxes[box]?.nodes ?? [];
  if (scene.nodes.size === 0) return { health: 'up', n: 0, of: nodes.length, away: false };
  let worst: Health = 'up';
  let n = 0;
  let away = false;
  const order: Health[] = ['up', 'drained', 'degraded', 'down'];
  for (const i of nodes) {
    const h = scene.nodes.get(scene.layout.nodes[i]?.name ?? '');
    if (!h || h.health === 'up') continue;
    ++n;
    away ||= h.health === 'down' && h.faults.length === 0;
    if (order.indexOf(h.health) > order.indexOf(worst)) worst = h.health;
  }
  return { health: worst, n, of: nodes.length, away };
}

function drawBox(c: CanvasRenderingContext2D, b: number, scene: Scene, zoom: number): void {
  const { layout, palette: p } = scene;
  const box = layout.boxes[b]!;
  const [x, y, w, h] = box.place;
  const { health, n, of, away } = boxHealth(scene, b);
  const isHost = box.kind === 'host';
  const radius = isHost ? 8 : 6;
  const edge =
    health === 'down' ? p.down
    : health === 'degraded' ? p.degraded
    : health === 'drained' ? p.drained
    : box.rail > 0 ? railColour(box.rail)
    : isHost ? p.hostEdge : p.switchEdge;
  const selected =
    (scene.selection.kind === 'box' && scene.selection.box === b) ||
    (scene.selection.kind === 'node' && box.nodes.some((i) => layout.nodes[i]?.name === (scene.selection as { name: string }).name));
  const hovered = scene.hovered.kind !== 'none' && scene.hovered.kind !== 'link' && scene.hovered.kind !== 'line' &&
    ((scene.hovered.kind === 'box' && scene.hovered.box === b) ||
     (scene.hovered.kind === 'node' && box.nodes.length === 1 && layout.nodes[box.nodes[0]!]?.name === scene.hovered.name));
  const found = scene.found.size > 0 && box.nodes.some((i) => scene.found.has(layout.nodes[i]?.name ?? ''));
  // Corners that nobody sees take time.
  const shape = (grow: number, dx = 0) => {
    c.beginPath();
    if (h * zoom < 14) return c.rect(x - grow + dx, y - grow + dx, w + 2 * grow, h + 2 * grow);
    c.roundRect(x - grow + dx, y - grow + dx, w + 2 * grow, h + 2 * grow, radius + grow);
  };
  if (selected || hovered || found) {
    c.strokeStyle = found && !selected ? p.mark : p.selected;
    c.globalAlpha = selected || found ? 0.95 : 0.45;
    c.lineWidth = 2.5;
    shape(4.5);
    c.stroke();
    c.globalAlpha = 1;
  }
  c.fillStyle = isHost ? p.hostFill : p.switchFill;
  c.strokeStyle = edge;
  c.lineWidth = isHost ? 1.3 : 1.8;
  if (of > 1) {
    shape(0, 4);
    c.fill();
    c.stroke();
  }
  if (health === 'down') c.setLineDash([6, 4]);
  if (health !== 'up') c.lineWidth = 2.6;
  shape(0);
  c.fill();
  c.stroke();
  c.setLineDash([]);
  if (health === 'drained' || health === 'down') {
    c.save();
    shape(0);
    c.clip();
    c.strokeStyle = edge;
    c.globalAlpha = 0.28;
    c.lineWidth = 2;
    for (let i = -h; i < w; i += 9) {
      c.beginPath();
      c.moveTo(x + i, y + h);
      c.lineTo(x + i + h, y);
      c.stroke();
    }
    c.restore();
  }
  drawBoxText(c, b, scene, zoom);
  if (health !== 'up') {
    const said = `${health === 'down' ? (away ? '✕ away' : '✕ crashed') : health === 'drained' ? '⇢ drained' : '! degraded'}${of > 1 ? ` ${n} of ${of}` : ''}`;
    c.font = '700 10px system-ui, sans-serif';
    const tw = c.measureText(said).width + 12;
    c.fillStyle = edge;
    c.beginPath();
    c.roundRect(x + w / 2 - tw / 2, y - 9, tw, 16, 8);
    c.fill();
    c.fillStyle = p.paper;
    c.textAlign = 'center';
    c.textBaseline = 'middle';
    c.fillText(said, x + w / 2, y - 0.5);
  }
}

function drawBoxText(c: CanvasRenderingContext2D, b: number, scene: Scene, zoom: number): void {
  const { layout, palette: p } = scene;
  const box = layout.boxes[b]!;
  const [x, y, w, h] = box.place;
  // Too small to read: nothing.
  if (13 * zoom < 5) return;
  const lines = 10 * zoom < 6 ? [] : box.lines.slice(0, Math.max(0, Math.floor((h - 22) / 13)));
  const top = y + h / 2 - (lines.length * 13) / 2;
  c.textAlign = 'center';
  c.textBaseline = 'middle';
  c.fillStyle = p.text;
  c.font = '600 12.5px system-ui, sans-serif';
  c.fillText(box.name, x + w / 2, top, w - 8);
  c.fillStyle = p.textSoft;
  c.font = '10.5px system-ui, sans-serif';
  lines.forEach((line, i) => c.fillText(line, x + w / 2, top + 14 + i * 13, w - 8));
}

function drawBands(c: CanvasRenderingContext2D, scene: Scene): void {
  const { layout, palette: p } = scene;
  layout.bands.forEach(([x, y, w, h]) => {
    c.fillStyle = p.band;
    c.beginPath();
    c.roundRect(x, y, w, h, 12);
    c.fill();
  });
}

// Names of rows, over the lines.
function drawRowNames(c: CanvasRenderingContext2D, scene: Scene, zoom: number): void {
  const { layout, palette: p } = scene;
  // As large as in a picture of natural size, however far away it is.
  const size = Math.max(1, 1 / zoom);
  c.font = `600 ${11 * size}px system-ui, sans-serif`;
  c.textAlign = 'left';
  c.textBaseline = 'middle';
  layout.bands.forEach(([x, y], i) => {
    const name = layout.rows[i]?.name ?? '';
    c.fillStyle = p.paper;
    c.globalAlpha = 0.85;
    c.beginPath();
    c.roundRect(x - 2 * size, y - 17 * size, c.measureText(name).width + 10 * size, 15 * size, 4 * size);
    c.fill();
    c.globalAlpha = 1;
    c.fillStyle = p.bandText;
    c.fillText(name, x + 3 * size, y - 9 * size);
  });
}

// A plate with the name of what is under the pointer, and what it carries; as large at any zoom.
function drawHover(c: CanvasRenderingContext2D, scene: Scene, view: View, ratio: number): void {
  const { hovered, layout, sample, palette: p } = scene;
  let at: Point | null = null;
  let said = '';
  if (hovered.kind === 'link') {
    const strand = scene.strands.find((s) => s.links.includes(hovered.link));
    const l = layout.links[hovered.link];
    if (!strand || !l || !sample) return;
    at = along(strand.whole, 0.5);
    said = sample.up[hovered.link] === '0' ? `${l.a} – ${l.b}: down`
      : `${l.a} → ${rate(sample.bps[2 * hovered.link] ?? 0)}   ${l.b} → ${rate(sample.bps[2 * hovered.link + 1] ?? 0)}`;
  } else if (hovered.kind === 'line') {
    const line = layout.lines[hovered.line];
    const strand = scene.strands.find((s) => s.line === hovered.line);
    if (!line || !strand) return;
    at = along(strand.whole, 0.5);
    said = `${line.links.length} links, ${layout.boxes[line.a]?.name} – ${layout.boxes[line.b]?.name}`;
  } else if (hovered.kind === 'node' || hovered.kind === 'box') {
    const box = layout.boxes[hovered.kind === 'box' ? hovered.box : (layout.nodes.find((n) => n.name === hovered.name)?.box ?? -1)];
    // What is written in the box need not be said twice.
    if (!box || 12.5 * view.zoom > 8) return;
    at = { x: box.place[0] + box.place[2] / 2, y: box.place[1] };
    said = box.name;
  }
  if (!at) return;
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  const x = at.x * view.zoom + view.x;
  const y = at.y * view.zoom + view.y;
  c.font = '600 11.5px system-ui, sans-serif';
  const w = c.measureText(said).width + 16;
  c.fillStyle = p.paper;
  c.strokeStyle = p.selected;
  c.lineWidth = 1;
  c.beginPath();
  c.roundRect(x - w / 2, y - 32, w, 20, 6);
  c.fill();
  c.stroke();
  c.fillStyle = p.text;
  c.textAlign = 'center';
  c.textBaseline = 'middle';
  c.fillText(said, x, y - 21.5);
}

// With more strands nothing moves, and they are drawn together.
export const kMostMoving = 400;

export function draw(c: CanvasRenderingContext2D, scene: Scene, view: View, width: number, height: number, ratio: number): void {
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.fillStyle = scene.palette.paper;
  c.fillRect(0, 0, width, height);
  c.translate(view.x, view.y);
  c.scale(view.zoom, view.zoom);
  c.lineCap = 'round';
  c.lineJoin = 'round';
  drawBands(c, scene);
  // Chosen ones last, so that nothing covers them.
  const left = -view.x / view.zoom - 20;
  const top = -view.y / view.zoom - 20;
  const right = left + width / view.zoom + 40;
  const bottom = top + height / view.zoom + 40;
  const seen = scene.strands.filter(({ box }) => box[0] < right && box[2] > left && box[1] < bottom && box[3] > top);
  if (scene.strands.length > kMostMoving) {
    drawMany(c, seen, scene);
  } else {
    const first: Strand[] = [];
    const last: Strand[] = [];
    for (const s of seen) (isChosen(scene.selection, s) || isChosen(scene.hovered, s) ? last : first).push(s);
    for (const s of [...first, ...last]) drawStrand(c, s, scene, scene.phase > 0);
  }
  for (const s of seen) drawEnds(c, s, scene);
  if (scene.overlay) drawArrows(c, scene.overlay, scene.strands, view.zoom, scene.palette);
  drawRowNames(c, scene, view.zoom);
  scene.layout.boxes.forEach(({ place: [x, y, w, h] }, b) => {
    if (x < right && x + w > left && y < bottom && y + h > top) drawBox(c, b, scene, view.zoom);
  });
  drawHover(c, scene, view, ratio);
}
