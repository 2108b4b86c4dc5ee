// The fabric on a canvas.
import { rate } from '../format';
import type { Health } from '../store';
import type { Palette } from '../theme';
import { railColour, useColour } from '../theme';
import type { Layout, Sample, Selection } from '../types';
import { along, halves, type Point, points, type View } from './geometry';

// A strand of a line, ready to draw.
export interface Strand {
  line: number;
  links: number[];
  whole: Point[];
  fromA: Point[];
  fromB: Point[];
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
      out.push({
        line: l,
        links: line.strands.length === line.links.length && link !== undefined ? [link] : line.links,
        whole,
        fromA,
        fromB,
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

function drawStrand(c: CanvasRenderingContext2D, s: Strand, scene: Scene, moving: boolean): void {
  const { layout, sample, palette: p } = scene;
  const links = s.links;
  const down = sample ? links.filter((l) => sample.up[l] === '0').length : 0;
  const degraded = links.some((l) => scene.degraded.has(l));
  const width = widthOf(layout.links[links[0] ?? 0]?.rate_bps ?? 0) + (links.length > 1 ? 1.4 : 0);
  let useA = 0;
  let useB = 0;
  if (sample)
    for (const l of links) {
      const forward = isForward(layout, s.line, l);
      useA = Math.max(useA, sample.use[2 * l + (forward ? 0 : 1)] ?? 0);
      useB = Math.max(useB, sample.use[2 * l + (forward ? 1 : 0)] ?? 0);
    }
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

function drawCross(c: CanvasRenderingContext2D, at: Point, p: Palette): void {
  c.fillStyle = p.paper;
  c.strokeStyle = p.down;
  c.lineWidth = 2;
  c.beginPath();
  c.arc(at.x, at.y, 8, 0, 2 * Math.PI);
  c.fill();
  c.stroke();
  c.lineWidth = 2.4;
  c.beginPath();
  c.moveTo(at.x - 3.4, at.y - 3.4);
  c.lineTo(at.x + 3.4, at.y + 3.4);
  c.moveTo(at.x + 3.4, at.y - 3.4);
  c.lineTo(at.x - 3.4, at.y + 3.4);
  c.stroke();
}

function drawTriangle(c: CanvasRenderingContext2D, at: Point, p: Palette): void {
  c.fillStyle = p.paper;
  c.strokeStyle = p.degraded;
  c.lineWidth = 2;
  c.lineJoin = 'round';
  c.beginPath();
  c.moveTo(at.x, at.y - 9);
  c.lineTo(at.x + 9, at.y + 7);
  c.lineTo(at.x - 9, at.y + 7);
  c.closePath();
  c.fill();
  c.stroke();
  c.beginPath();
  c.moveTo(at.x, at.y - 4);
  c.lineTo(at.x, at.y + 1.5);
  c.moveTo(at.x, at.y + 4);
  c.lineTo(at.x, at.y + 4.6);
  c.stroke();
}

function drawCount(c: CanvasRenderingContext2D, at: Point, text: string, p: Palette): void {
  c.font = '600 10px system-ui, sans-serif';
  const w = c.measureText(text).width + 10;
  c.fillStyle = p.down;
  c.beginPath();
  c.roundRect(at.x - w / 2, at.y - 8, w, 16, 8);
  c.fill();
  c.fillStyle = p.paper;
  c.textAlign = 'center';
  c.textBaseline = 'middle';
  c.fillText(text, at.x, at.y + 0.5);
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
    for (const l of s.links) {
      const e = 2 * l + (isForward(scene.layout, s.line, l) === atA ? 0 : 1);
      depth = Math.max(depth, sample.depth[e] ?? 0);
      marked += sample.marked[e] ?? 0;
      pauses += sample.pauses[e] ?? 0;
      drops += sample.drops[e] ?? 0;
    }
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

function boxHealth(scene: Scene, box: number): { health: Health; n: number; of: number } {
  const nodes = scene.layout.boxes[box]?.nodes ?? [];
  let worst: Health = 'up';
  let n = 0;
  const order: Health[] = ['up', 'drained', 'degraded', 'down'];
  for (const i of nodes) {
    const h = scene.nodes.get(scene.layout.nodes[i]?.name ?? '');
    if (!h || h.health === 'up') continue;
    ++n;
    if (order.indexOf(h.health) > order.indexOf(worst)) worst = h.health;
  }
  return { health: worst, n, of: nodes.length };
}

function drawBox(c: CanvasRenderingContext2D, b: number, scene: Scene, zoom: number): void {
  const { layout, palette: p } = scene;
  const box = layout.boxes[b]!;
  const [x, y, w, h] = box.place;
  const { health, n, of } = boxHealth(scene, b);
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
  const found = box.nodes.some((i) => scene.found.has(layout.nodes[i]?.name ?? ''));
  const shape = (grow: number, dx = 0) => {
    c.beginPath();
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
    const said = `${health === 'down' ? '✕ crashed' : health === 'drained' ? '⇢ drained' : '! degraded'}${of > 1 ? ` ${n} of ${of}` : ''}`;
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
function drawRowNames(c: CanvasRenderingContext2D, scene: Scene): void {
  const { layout, palette: p } = scene;
  c.font = '600 11px system-ui, sans-serif';
  c.textAlign = 'left';
  c.textBaseline = 'middle';
  layout.bands.forEach(([x, y], i) => {
    const name = layout.rows[i]?.name ?? '';
    c.fillStyle = p.paper;
    c.globalAlpha = 0.85;
    c.beginPath();
    c.roundRect(x - 2, y - 17, c.measureText(name).width + 10, 15, 4);
    c.fill();
    c.globalAlpha = 1;
    c.fillStyle = p.bandText;
    c.fillText(name, x + 3, y - 9);
  });
}

// A plate with what the hovered link carries.
function drawHover(c: CanvasRenderingContext2D, scene: Scene): void {
  const { hovered, layout, sample, palette: p } = scene;
  if (hovered.kind !== 'link' || !sample) return;
  const strand = scene.strands.find((s) => s.links.includes(hovered.link));
  const l = layout.links[hovered.link];
  if (!strand || !l) return;
  const at = along(strand.whole, 0.5);
  const up = sample.up[hovered.link] !== '0';
  const said = up
    ? `${l.a} → ${rate(sample.bps[2 * hovered.link] ?? 0)}   ${l.b} → ${rate(sample.bps[2 * hovered.link + 1] ?? 0)}`
    : `${l.a} – ${l.b}: down`;
  c.font = '600 11.5px system-ui, sans-serif';
  const w = c.measureText(said).width + 16;
  c.fillStyle = p.paper;
  c.strokeStyle = p.selected;
  c.lineWidth = 1;
  c.beginPath();
  c.roundRect(at.x - w / 2, at.y - 32, w, 20, 6);
  c.fill();
  c.stroke();
  c.fillStyle = p.text;
  c.textAlign = 'center';
  c.textBaseline = 'middle';
  c.fillText(said, at.x, at.y - 21.5);
}

// Fewer strands than this have something that moves.
const kMostMoving = 700;

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
  const first: Strand[] = [];
  const last: Strand[] = [];
  for (const s of scene.strands) (isChosen(scene.selection, s) || isChosen(scene.hovered, s) ? last : first).push(s);
  const moving = scene.phase > 0 && scene.strands.length < kMostMoving;
  for (const s of [...first, ...last]) drawStrand(c, s, scene, moving);
  for (const s of scene.strands) drawEnds(c, s, scene);
  drawRowNames(c, scene);
  for (let b = 0; b < scene.layout.boxes.length; ++b) drawBox(c, b, scene, view.zoom);
  drawHover(c, scene);
}
