// Charts over time of what is selected, with pause and scrub.
import { effect, signal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

import { ask } from '../api';
import { bytes, clock, perSecond, rate } from '../format';
import { endsOf, happenings, layout, pastSample, sample, scrubbedTo, selection, titleOf } from '../store';
import { palette, theme } from '../theme';
import type { Happening, History, Layout, Sample, Selection } from '../types';
import { kKept, marksOf, Series, type Columns } from './series';

// Charts that stand still, and the seconds that they show.
export const paused = signal<number | null>(null); // unix seconds of the last value shown
export const span = signal(60);

function targetOf(what: Selection, of: Layout): string | null {
  if (what.kind === 'none') return '';
  if (what.kind === 'node') return what.name;
  if (what.kind === 'link') return of.links[what.link]?.a ?? '';
  return null; // several: from now on
}

interface Kind {
  title: string;
  format: (v: number) => string;
  series: { key: keyof Columns; label: string; colour: number; fill?: boolean; dash?: number[] }[];
}

const kKinds: Kind[] = [
  { title: 'Throughput', format: rate,
    series: [{ key: 'out', label: 'out', colour: 0, fill: true }, { key: 'in', label: 'in', colour: 1, dash: [6, 3] }] },
  { title: 'Deepest queue', format: bytes, series: [{ key: 'depth', label: 'depth', colour: 2, fill: true }] },
  { title: 'Congestion', format: perSecond,
    series: [{ key: 'marked', label: 'marks', colour: 3 }, { key: 'pauses', label: 'pauses', colour: 4, dash: [6, 3] },
             { key: 'drops', label: 'drops', colour: 5, dash: [2, 3] }] },
];

const kMarkColours: Record<Happening['kind'], 'down' | 'degraded' | 'drained' | 'pause' | 'textSoft'> = {
  link: 'down', fault: 'degraded', drain: 'drained', 'pfc-watchdog': 'pause', site: 'down', log: 'textSoft',
};

function options(kind: Kind, width: number, height: number): uPlot.Options {
  const p = palette();
  return {
    width, height,
    pxAlign: 1,
    cursor: { sync: { key: 'railyard' }, y: false, points: { size: 5 } },
    legend: { show: false },
    scales: { x: { time: true }, y: { range: (_u, _min, max) => [0, max > 0 ? max * 1.1 : 1] } },
    axes: [
      { stroke: p.textSoft, grid: { stroke: p.grid, width: 1 }, ticks: { show: false }, font: '10px system-ui', size: 24,
        space: 70, values: (_u, t) => t.map((v) => clock(v)) },
      { stroke: p.textSoft, grid: { stroke: p.grid, width: 1 }, ticks: { show: false }, font: '10px system-ui', size: 62,
        space: 28, values: (_u, v) => v.map((n) => kind.format(n)) },
    ],
    series: [
      {},
      ...kind.series.map((s): uPlot.Series => ({
        label: s.label, stroke: p.series[s.colour], width: 1.6, dash: s.dash, points: { show: false },
        fill: s.fill ? `${p.series[s.colour]}22` : undefined,
      })),
    ],
    hooks: {
      draw: [(u) => {
        const c = u.ctx;
        const ratio = devicePixelRatio || 1;
        const { left, top, width: w, height: h } = u.bbox;
        c.save();
        c.beginPath();
        c.rect(left, top, w, h);
        c.clip();
        for (const m of marksOf(happenings.value, u.scales.x!.min ?? 0, u.scales.x!.max ?? 0)) {
          const x = Math.round(u.valToPos(m.unix_seconds, 'x', true));
          c.strokeStyle = c.fillStyle = palette()[kMarkColours[m.kind]];
          c.lineWidth = ratio;
          c.setLineDash([3 * ratio, 3 * ratio]);
          c.beginPath();
          c.moveTo(x, top);
          c.lineTo(x, top + h);
          c.stroke();
          c.setLineDash([]);
          c.beginPath();
          c.moveTo(x - 5 * ratio, top);
          c.lineTo(x + 5 * ratio, top);
          c.lineTo(x, top + 7 * ratio);
          c.fill();
        }
        if (scrubbedTo.value !== null) {
          const x = Math.round(u.valToPos(scrubbedTo.value, 'x', true));
          c.strokeStyle = palette().selected;
          c.lineWidth = 2 * ratio;
          c.beginPath();
          c.moveTo(x, top);
          c.lineTo(x, top + h);
          c.stroke();
        }
        c.restore();
      }],
    },
  };
}

// The values at an instant: the last before it.
function valuesAt(c: Columns, t: number): number {
  let i = c.t.length - 1;
  while (i > 0 && (c.t[i] ?? 0) > t) --i;
  return i;
}

function Chart({ kind, series, redraw }: { kind: Kind; series: Series; redraw: { value: number } }) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  useEffect(() => {
    const div = place.current!;
    const make = () => {
      plot.current?.destroy();
      plot.current = new uPlot(options(kind, div.clientWidth, div.clientHeight), [[], ...kind.series.map(() => [])] as uPlot.AlignedData, div);
    };
    const resized = new ResizeObserver(() => plot.current?.setSize({ width: div.clientWidth, height: div.clientHeight }));
    resized.observe(div);
    const stopTheme = effect(() => {
      void theme.value;
      make();
    });
    const stop = effect(() => {
      void redraw.value;
      void scrubbedTo.value;
      const u = plot.current;
      if (!u) return;
      const end = paused.value ?? sample.value?.unix_seconds ?? Date.now() / 1000;
      const c = series.columns;
      u.setData([c.t, ...kind.series.map((s) => c[s.key])] as uPlot.AlignedData, false);
      u.batch(() => {
        u.setScale('x', { min: end - span.value, max: end });
        let most = 0;
        for (let i = c.t.length - 1; i >= 0 && (c.t[i] ?? 0) >= end - span.value; --i)
          if ((c.t[i] ?? 0) <= end) for (const s of kind.series) most = Math.max(most, c[s.key][i] ?? 0);
        u.setScale('y', { min: 0, max: most });
      });
    });
    return () => {
      stop();
      stopTheme();
      resized.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [series]);
  void redraw.value;
  const c = series.columns;
  const i = valuesAt(c, scrubbedTo.value ?? paused.value ?? Infinity);
  return (
    <figure class="chart">
      <figcaption>
        <span class="chart-title">{kind.title}</span>
        {kind.series.map((s) => (
          <span class="key" key={s.key}>
            <svg width="16" height="8" aria-hidden="true">
              <line x1="0" y1="4" x2="16" y2="4" stroke={palette().series[s.colour]} stroke-width="2.4" stroke-dasharray={s.dash?.join(' ')} />
            </svg>
            {s.label} <b>{kind.format(c[s.key][i] ?? 0)}</b>
          </span>
        ))}
      </figcaption>
      <div class="plot" ref={place} role="img" aria-label={`${kind.title} over the last ${span.value} seconds`} />
    </figure>
  );
}

// The fabric as it was then.
let asked = 0;
async function scrub(t: number | null): Promise<void> {
  scrubbedTo.value = t;
  const mine = ++asked;
  if (t === null) {
    pastSample.value = null;
    return;
  }
  try {
    const past = await ask<Sample>('GET', `/snapshot?at=${t.toFixed(3)}`);
    if (mine === asked) pastSample.value = past;
  } catch {
    if (mine === asked) pastSample.value = sample.value;
  }
}

export function Charts() {
  const of = layout.value;
  const what = selection.value;
  const key = JSON.stringify(what);
  const series = useMemo(() => new Series(), [of, key]);
  const redraw = useMemo(() => signal(0), [of, key]);

  useEffect(() => {
    if (!of) return;
    const ends = endsOf(what, of);
    const counted = what.kind === 'none' ? of.links.flatMap((_, l) => [2 * l, 2 * l + 1])
      : what.kind === 'link' ? [2 * what.link, 2 * what.link + 1] : ends;
    const target = targetOf(what, of);
    if (target !== null)
      void ask<History>('GET', `/history?of=${encodeURIComponent(target)}`).then((h) => {
        series.begin(h);
        ++redraw.value;
      }).catch(() => undefined);
    return effect(() => {
      const s = sample.value;
      if (!s) return;
      series.add(s, ends, counted);
      redraw.value = s.number;
    });
  }, [series]);

  if (!of) return null;
  const now = sample.value?.unix_seconds ?? Date.now() / 1000;
  const past = scrubbedTo.value === null ? 0 : Math.round(scrubbedTo.value - now);
  const news = marksOf(happenings.value, now - span.value, now);
  return (
    <>
      <div class="chart-bar">
        <h2>{titleOf(what, of)}</h2>
        <label>Span{' '}
          <select value={span.value} onChange={(e) => (span.value = Number(e.currentTarget.value))}>
            <option value={30}>30 s</option>
            <option value={60}>1 min</option>
            <option value={180}>3 min</option>
            <option value={600}>10 min</option>
          </select>
        </label>
        <button type="button" aria-pressed={paused.value !== null}
                onClick={() => (paused.value = paused.value === null ? now : null)}>
          {paused.value === null ? '❚❚ Pause charts' : '▶ Follow'}
        </button>
        <label class="scrub">Look back{' '}
          <input type="range" min={-kKept} max={0} step={1} value={past}
                 aria-valuetext={past === 0 ? 'now' : `${-past} seconds ago`}
                 onInput={(e) => {
                   const back = Number(e.currentTarget.value);
                   if (back < -span.value) span.value = [30, 60, 180, 600].find((s) => s >= -back) ?? 600;
                   void scrub(back === 0 ? null : now + back);
                 }} />
          <output>{past === 0 ? 'now' : clock(scrubbedTo.value ?? 0)}</output>
        </label>
        {past !== 0 && <button type="button" onClick={() => void scrub(null)}>Back to now</button>}
        <span class="marks" aria-live="off">{news.length === 0 ? '' : `▾ ${news.at(-1)!.text}`}</span>
      </div>
      <div class="chart-row">
        {kKinds.map((k) => <Chart key={k.title + key} kind={k} series={series} redraw={redraw} />)}
      </div>
    </>
  );
}
