// Arrows over links: ways of flows, next hops, pauses; and where congestion has its root.
import type { Palette } from '../theme';
import type { Overlay } from '../ways';
import type { Strand } from './draw';
import { along, type Point } from './geometry';

const kColours = { path: 'way', route: 'way', pauses: 'pause' } as const;

export function drawArrows(c: CanvasRenderingContext2D, overlay: Overlay, strands: Strand[], zoom: number, p: Palette): void {
  const colour = p[kColours[overlay.kind]];
  // As wide on the screen at any zoom.
  const size = Math.max(1, 0.8 / zoom);
  for (const { end, main } of overlay.arrows) {
    const strand = strandOf(strands, end);
    if (!strand) continue;
    const line = sentFromA(strand, end) ? strand.whole : [...strand.whole].reverse();
    c.lineJoin = c.lineCap = 'round';
    for (const [style, width] of [[p.paper, 8 * size], [colour, 4 * size]] as const) {
      c.strokeStyle = style;
      c.lineWidth = width;
      if (!main) c.setLineDash([7 * size, 7 * size]);
      c.beginPath();
      line.forEach((q, i) => (i === 0 ? c.moveTo(q.x, q.y) : c.lineTo(q.x, q.y)));
      c.stroke();
      c.setLineDash([]);
    }
    for (const share of [0.3, 0.72]) drawHead(c, along(line, share - 0.01), along(line, share), 9 * size, colour, p.paper);
  }
  for (const end of overlay.roots) {
    const strand = strandOf(strands, end);
    if (!strand) continue;
    const at = along(sentFromA(strand, end) ? strand.fromA : strand.fromB, 0.12);
    c.fillStyle = colour;
    c.strokeStyle = p.paper;
    c.lineWidth = 2 * size;
    c.beginPath();
    c.moveTo(at.x, at.y - 12 * size);
    c.lineTo(at.x + 12 * size, at.y);
    c.lineTo(at.x, at.y + 12 * size);
    c.lineTo(at.x - 12 * size, at.y);
    c.closePath();
    c.fill();
    c.stroke();
    c.fillStyle = p.paper;
    c.font = `800 ${13 * size}px system-ui, sans-serif`;
    c.textAlign = 'center';
    c.textBaseline = 'middle';
    c.fillText('!', at.x, at.y + 0.5 * size);
  }
}

const strandOf = (strands: Strand[], end: number) => strands.find((s) => s.links.includes(end >> 1));

// Whether an end of a strand's link is at the line's box `a`.
export function sentFromA(strand: Strand, end: number): boolean {
  const forward = strand.forward[strand.links.indexOf(end >> 1)] ?? true;
  return forward === (end % 2 === 0);
}

function drawHead(c: CanvasRenderingContext2D, from: Point, to: Point, size: number, colour: string, edge: string): void {
  const turn = Math.atan2(to.y - from.y, to.x - from.x);
  c.save();
  c.translate(to.x, to.y);
  c.rotate(turn);
  c.beginPath();
  c.moveTo(size, 0);
  c.lineTo(-size * 0.7, size * 0.85);
  c.lineTo(-size * 0.7, -size * 0.85);
  c.closePath();
  c.fillStyle = colour;
  c.strokeStyle = edge;
  c.lineWidth = size * 0.2;
  c.fill();
  c.stroke();
  c.restore();
}
