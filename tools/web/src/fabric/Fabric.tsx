// The fabric: the canvas, what moves it, and what describes it to those who do not see it.
import { effect, signal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';

import { percent } from '../format';
import {
  connection, degradedLinks, layout, linkHealth, message, nodeHealth, selection, shownSample, titleOf,
} from '../store';
import { palette, theme } from '../theme';
import type { Layout, Selection } from '../types';
import { clearOverlay, overlay } from '../ways';
import { draw, kMostMoving, type Layers, strandsOf } from './draw';
import { along, type Bounds, fit, type Point, stretched, type View, zoomedAt } from './geometry';
import { hit, neighbour } from './hit';
import { LargePicture } from './largePicture';

export const layers = signal<Layers>({ queues: true, marks: true, pauses: true, drops: true });
export const searched = signal('');

// This browser has no worker that draws: a large lab is drawn here, too.
let noWorker = false;

// When the fabric has first been painted, with what its links carry.
let painted: () => void;
export const firstPicture = new Promise<void>((done) => (painted = done));

const kAspect = 0.52; // height by width of the picture, about
const kLeastZoom = 0.01;
const kMostZoom = 8;

export function foundNodes(of: Layout, text: string): Set<string> {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return new Set();
  return new Set(of.nodes.filter((n) => n.name.toLowerCase().includes(wanted)).map((n) => n.name));
}

function boundsOf(of: Layout): Bounds {
  const b: Bounds = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
  for (const [x, y, w, h] of [...of.boxes.map((box) => box.place), ...of.bands]) {
    b.left = Math.min(b.left, x);
    b.top = Math.min(b.top, y - 18);
    b.right = Math.max(b.right, x + w);
    b.bottom = Math.max(b.bottom, y + h);
  }
  return b;
}

// What a screen reader says of the lab.
function described(of: Layout): string {
  const s = shownSample.value;
  const down = of.links.filter((_, i) => s?.up[i] === '0').length;
  const busiest = s ? Math.max(0, ...s.use) : 0;
  return `${of.size}. ${down} links down, ${degradedLinks.value.size} degraded. Busiest link: ${percent(busiest)}. `
    + 'Arrow keys move from node to node, plus and minus zoom, 0 shows everything, Escape selects the whole lab. '
    + 'The Links tab lists all links.';
}

export function Fabric() {
  const canvas = useRef<HTMLCanvasElement>(null);
  const view = useRef<View>({ x: 0, y: 0, zoom: 1 });
  const hovered = useRef<Selection>({ kind: 'none' });
  const dirty = useRef(true);
  const moved = useRef(false); // by the user: then it stays
  const held = useRef({ pointers: new Map<number, Point>(), pressed: null as Point | null, dragged: false });
  const said = layout.value;
  const of = useMemo(() => said && stretched(said, kAspect), [said]);
  const strands = useMemo(() => (of ? strandsOf(of) : []), [of]);

  useEffect(() => {
    moved.current = false;
    dirty.current = true;
  }, [of]);

  // Whatever is shown has changed.
  useEffect(() => effect(() => {
    void shownSample.value, selection.value, degradedLinks.value, nodeHealth.value, theme.value, layers.value, searched.value;
    void connection.value, overlay.value;
    dirty.current = true;
  }), []);

  useEffect(() => {
    const c = canvas.current;
    if (!c || !of) return;
    const still = window.matchMedia('(prefers-reduced-motion: reduce)');
    let frame = 0;
    let width = 0;
    let height = 0;
    const began = performance.now();
    const large = strands.length > kMostMoving;
    let arrived = false; // a picture of a large lab
    const arrives = (took: number) => {
      arrived = true;
      keep(frames.drawn, took);
    };
    const fails = () => {
      noWorker = true;
      dirty.current = true;
    };
    const picture = large ? new LargePicture(of, arrives, fails) : null;
    const scene = (phase: number) => ({
      sample: shownSample.value, degraded: degradedLinks.value, nodes: nodeHealth.value, selection: selection.value,
      hovered: hovered.current, overlay: overlay.value, found: foundNodes(of, searched.value), layers: layers.value, phase,
      palette: palette(),
    });
    // What there was to paint: nothing, the last picture of a large lab, all of it.
    const paintNow = (): 'nothing' | 'moved' | 'drawn' => {
      const ratio = window.devicePixelRatio || 1;
      if (c.clientWidth !== width || c.clientHeight !== height || c.width !== Math.round(c.clientWidth * ratio)) {
        width = c.clientWidth;
        height = c.clientHeight;
        c.width = Math.round(width * ratio);
        c.height = Math.round(height * ratio);
        dirty.current = true;
      }
      if (width === 0 || height === 0) return 'nothing';
      if (!moved.current) view.current = fit(boundsOf(of), width, height);
      const context = c.getContext('2d');
      if (!context) return 'nothing';
      if (picture && !noWorker) {
        const isMoved = dirty.current || arrived;
        if (dirty.current && picture.order({ shown: scene(0), view: view.current, width, height, ratio })) dirty.current = false;
        arrived = false;
        return isMoved && picture.show(context, view.current, ratio, palette().paper) ? 'moved' : 'nothing';
      }
      const moves = !still.matches && connection.value.kind === 'live' && !(shownSample.value?.held ?? true) && !large;
      if (!dirty.current && !moves) return 'nothing';
      dirty.current = false;
      draw(context, { layout: of, strands, ...scene(moves ? (performance.now() - began) / 1000 + 1e-3 : 0) }, view.current, width,
        height, ratio);
      return 'drawn';
    };
    const paint = () => {
      frame = requestAnimationFrame(paint);
      const from = performance.now();
      const how = paintNow();
      if (how === 'nothing') return;
      ++frames.painted;
      keep(frames[how], performance.now() - from);
      if (frames.painted === 1) {
        performance.mark('railyard-first-picture');
        painted();
      }
    };
    frame = requestAnimationFrame(paint);
    return () => {
      cancelAnimationFrame(frame);
      picture?.close();
    };
  }, [of, strands]);

  if (!of) return <div class="fabric empty">Loading the fabric…</div>;

  const at = (e: { clientX: number; clientY: number }) => {
    const r = canvas.current!.getBoundingClientRect();
    return { x: e.clientX - r.left, y: e.clientY - r.top };
  };
  const inPicture = (p: { x: number; y: number }) => ({
    x: (p.x - view.current.x) / view.current.zoom,
    y: (p.y - view.current.y) / view.current.zoom,
  });
  const change = (v: View) => {
    view.current = v;
    moved.current = true;
    dirty.current = true;
  };
  const select = (s: Selection) => {
    selection.value = s;
    const health = s.kind === 'link' ? linkHealth(s.link, shownSample.value, degradedLinks.value)
      : s.kind === 'node' ? (nodeHealth.value.get(s.name)?.health ?? 'up') : '';
    message.value = `${titleOf(s, of)} selected${health ? `, ${health}` : ''}`;
  };
  const zoomBy = (factor: number) => {
    const c = canvas.current!;
    change(zoomedAt(view.current, { x: c.clientWidth / 2, y: c.clientHeight / 2 }, factor, kLeastZoom, kMostZoom));
  };
  const showAll = () => {
    moved.current = false;
    dirty.current = true;
  };

  // For tests: where a link is in the window.
  (globalThis as { railyardWhere?: (link: number) => Point | null }).railyardWhere = (link) => {
    const strand = strands.find((s) => s.links.includes(link));
    if (!strand) return null;
    const r = canvas.current!.getBoundingClientRect();
    const p = along(strand.whole, 0.4);
    return { x: r.left + p.x * view.current.zoom + view.current.x, y: r.top + p.y * view.current.zoom + view.current.y };
  };

  return (
    <div class="fabric">
      <canvas
        ref={canvas}
        tabIndex={0}
        role="application"
        aria-label="Fabric"
        aria-describedby="fabric-description"
        onPointerDown={(e) => {
          (e.currentTarget as HTMLCanvasElement).setPointerCapture(e.pointerId);
          held.current.pointers.set(e.pointerId, at(e));
          held.current.pressed = at(e);
          held.current.dragged = false;
        }}
        onPointerMove={(e) => {
          const p = at(e);
          const { pointers, pressed } = held.current;
          const before = pointers.get(e.pointerId);
          if (!before) {
            const under = hit(of, strands, inPicture(p), 7 / view.current.zoom);
            if (JSON.stringify(under) !== JSON.stringify(hovered.current)) {
              hovered.current = under;
              dirty.current = true;
              canvas.current!.style.cursor = under.kind === 'none' ? 'grab' : 'pointer';
            }
            return;
          }
          const other = [...pointers].find(([id]) => id !== e.pointerId)?.[1];
          pointers.set(e.pointerId, p);
          if (other) {
            const was = Math.hypot(before.x - other.x, before.y - other.y);
            const is = Math.hypot(p.x - other.x, p.y - other.y);
            if (was > 0) change(zoomedAt(view.current, { x: (p.x + other.x) / 2, y: (p.y + other.y) / 2 }, is / was, kLeastZoom, kMostZoom));
            held.current.dragged = true;
          } else if (held.current.dragged || (pressed && Math.hypot(p.x - pressed.x, p.y - pressed.y) > 4)) {
            held.current.dragged = true;
            change({ ...view.current, x: view.current.x + p.x - before.x, y: view.current.y + p.y - before.y });
          }
        }}
        onPointerUp={(e) => {
          held.current.pointers.delete(e.pointerId);
          if (!held.current.dragged && held.current.pressed)
            select(hit(of, strands, inPicture(at(e)), 9 / view.current.zoom));
          held.current.pressed = null;
        }}
        onPointerCancel={(e) => held.current.pointers.delete(e.pointerId)}
        onPointerLeave={() => {
          hovered.current = { kind: 'none' };
          dirty.current = true;
        }}
        onWheel={(e) => {
          e.preventDefault();
          change(zoomedAt(view.current, at(e), Math.exp(-e.deltaY * 0.0015), kLeastZoom, kMostZoom));
        }}
        onDblClick={(e) => change(zoomedAt(view.current, at(e), 1.8, kLeastZoom, kMostZoom))}
        onKeyDown={(e) => {
          const moves: Record<string, [number, number]> = {
            ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1],
          };
          const move = moves[e.key];
          if (move) select(neighbour(of, selection.value, ...move));
          else if (e.key === '+' || e.key === '=') zoomBy(1.25);
          else if (e.key === '-') zoomBy(0.8);
          else if (e.key === '0') showAll();
          else if (e.key === 'Escape') select({ kind: 'none' });
          else return;
          e.preventDefault();
        }}
      />
      <p id="fabric-description" class="unseen">{described(of)}</p>
      {overlay.value && (
        <div class="shown" role="status">
          <span class={`shown-sign ${overlay.value.kind}`} aria-hidden="true">➜</span> {overlay.value.title}
          <button type="button" aria-label="Hide what is drawn" onClick={clearOverlay}>✕</button>
        </div>
      )}
      <div class="zoom" role="group" aria-label="Zoom">
        <button type="button" aria-label="Zoom in" onClick={() => zoomBy(1.25)}>+</button>
        <button type="button" aria-label="Zoom out" onClick={() => zoomBy(0.8)}>−</button>
        <button type="button" aria-label="Show everything" onClick={showAll}>
          <svg width="14" height="14" viewBox="0 0 14 14" aria-hidden="true"><path d="M1 5V1h4M9 1h4v4M13 9v4H9M5 13H1V9" fill="none" stroke="currentColor" stroke-width="1.8" /></svg>
        </button>
      </div>
    </div>
  );
}

// For measurements: frames painted so far; and for the last of them, how long it took, ms, to show what a worker drew, and to draw it.
const kKeptFrames = 600;
const keep = (kept: number[], took: number) => void (kept.push(took) > kKeptFrames && kept.shift());
export const frames = { painted: 0, moved: [] as number[], drawn: [] as number[] };
(globalThis as { railyardFrames?: typeof frames }).railyardFrames = frames;
