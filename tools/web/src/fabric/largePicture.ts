// The picture of a large lab: a worker draws it; here the last one is shown, also at another place while the user moves it.
import type { Layout } from '../types';
import type { Order, Picture } from './drawer';
import type { View } from './geometry';

export class LargePicture {
  private last: Picture | null = null;
  private isDrawn = false; // by the worker, now
  private readonly worker: Worker | null = null;

  // `arrived` is called when a picture can be shown, with the milliseconds that the worker took; `failed` when this browser has no such worker.
  constructor(layout: Layout, private readonly arrived: (took: number) => void, private readonly failed: () => void) {
    if (!('OffscreenCanvas' in globalThis)) {
      failed();
      return;
    }
    this.worker = new Worker(new URL('./drawer.ts', import.meta.url), { type: 'module' });
    this.worker.onerror = () => this.failed();
    this.worker.onmessage = ({ data }: MessageEvent<Picture>) => {
      this.last?.bitmap.close();
      this.last = data;
      this.isDrawn = false;
      this.arrived(data.took);
    };
    this.worker.postMessage(layout);
  }

  // Has a picture drawn, unless one is being drawn. Whether it has.
  order(order: Order): boolean {
    if (!this.worker || this.isDrawn) return false;
    this.isDrawn = true;
    this.worker.postMessage(order);
    return true;
  }

  // Shows the last picture as it looks from `view`. Whether there is one.
  show(c: CanvasRenderingContext2D, view: View, ratio: number, paper: string): boolean {
    if (!this.last) return false;
    const { bitmap, view: from } = this.last;
    const f = view.zoom / from.zoom;
    c.setTransform(1, 0, 0, 1, 0, 0);
    if (f !== 1 || view.x !== from.x || view.y !== from.y) {
      c.fillStyle = paper;
      c.fillRect(0, 0, c.canvas.width, c.canvas.height);
    }
    c.setTransform(f, 0, 0, f, (view.x - from.x * f) * ratio, (view.y - from.y * f) * ratio);
    c.drawImage(bitmap, 0, 0);
    return true;
  }

  close(): void {
    this.worker?.terminate();
    this.last?.bitmap.close();
  }
}
