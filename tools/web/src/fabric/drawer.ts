// A worker that draws the fabric of a large lab: the page goes on meanwhile.
import type { Layout } from '../types';
import { draw, type Scene, type Strand, strandsOf } from './draw';
import type { View } from './geometry';

// What changes from one picture to the next.
export type Shown = Omit<Scene, 'layout' | 'strands'>;

// To the worker: a layout, then any number of orders. From it: a picture for each.
export interface Order {
  shown: Shown;
  view: View;
  width: number;
  height: number;
  ratio: number; // pixels of the screen per CSS pixel
}
export interface Picture {
  bitmap: ImageBitmap;
  view: View;
  took: number; // ms
}

let layout: Layout | null = null;
let strands: Strand[] = [];
let canvas = new OffscreenCanvas(1, 1);

// The worker's side of it; TypeScript knows the window's only.
const here = globalThis as unknown as {
  onmessage: (event: MessageEvent<Layout | Order>) => void;
  postMessage: (picture: Picture, give: Transferable[]) => void;
};

here.onmessage = ({ data }) => {
  if (!('shown' in data)) {
    layout = data;
    strands = strandsOf(data);
    return;
  }
  if (!layout) return;
  const { shown, view, width, height, ratio } = data;
  const began = performance.now();
  const [w, h] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
  if (canvas.width !== w || canvas.height !== h) canvas = new OffscreenCanvas(w, h);
  const context = canvas.getContext('2d') as unknown as CanvasRenderingContext2D;
  draw(context, { ...shown, layout, strands }, view, width, height, ratio);
  const bitmap = canvas.transferToImageBitmap();
  here.postMessage({ bitmap, view, took: performance.now() - began }, [bitmap]);
};
