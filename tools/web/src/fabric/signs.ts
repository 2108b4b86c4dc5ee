// Signs on links, so that colour is not all that tells: a cross, a triangle, a count.
import type { Palette } from '../theme';
import type { Point } from './geometry';

export function drawCross(c: CanvasRenderingContext2D, at: Point, p: Palette): void {
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

export function drawTriangle(c: CanvasRenderingContext2D, at: Point, p: Palette): void {
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

export function drawCount(c: CanvasRenderingContext2D, at: Point, text: string, p: Palette): void {
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
