// Stores, geometry, series and commands of the page.
import { beforeEach, describe, expect, it, vi } from 'vitest';

import { takeCode } from '../src/api';
import { kKept, marksOf, Series } from '../src/charts/series';
import { faultCommand, linkCommand, shellWord } from '../src/commands';
import { along, distance, fit, halves, points, stretched, zoomedAt } from '../src/fabric/geometry';
import { bytes, duration, percent, perSecond, rate } from '../src/format';
import { addHappenings, degradedLinks, endsOf, happenings, labState, layout as layoutShown, linkHealth, nodeHealth, sitesAway } from '../src/store';
import { octetsAt, octetsOf, stepAt } from '../src/panels/Settings';
import type { Fault, Happening, LabState, Layout, Sample } from '../src/types';

const layout = {
  nodes: [{ name: 'leaf1', kind: 'switch', box: 0 }, { name: 'h1', kind: 'host', box: 1 }, { name: 'h2', kind: 'host', box: 1 }],
  links: [{ a: 'leaf1:1', b: 'h1:1', rate_bps: 1e9, rail: 0 }, { a: 'leaf1:2', b: 'h2:1', rate_bps: 1e9, rail: 0 }],
  boxes: [{ name: 'leaf1', nodes: [0] }, { name: 'h1, h2', nodes: [1, 2] }],
  lines: [{ a: 0, b: 1, links: [0, 1] }],
} as unknown as Layout;

const sampleAt = (t: number, bps: number[]): Sample => ({
  number: t, unix_seconds: t, modelled_seconds: t, held: false, busy: 0, lateness_p99_ns: 0, slip_seconds: 0, up: '10',
  bps, use: [0, 0, 0, 0], depth: [5, 0, 7, 0], marked: [1, 0, 0, 0], pauses: [0, 0, 0, 0], drops: [0, 0, 0, 2],
});
const fault = (what: string, scope: Fault['touches']['scope'], nodes: string[], links: number[], active = true): Fault => ({
  name: `${what}-1`, what, on: '', active, removed: false, occurrences: 1, frames: null, touches: { scope, nodes, links },
});
const stateWith = (...faults: Fault[]) => ({ faults, hosts: [], links_down: [] }) as unknown as LabState;

describe('what is selected', () => {
  it('has the ends that send from there', () => {
    expect(endsOf({ kind: 'link', link: 1 }, layout)).toEqual([2]);
    expect(endsOf({ kind: 'node', name: 'leaf1' }, layout)).toEqual([0, 2]);
    expect(endsOf({ kind: 'node', name: 'h2' }, layout)).toEqual([3]);
    expect(endsOf({ kind: 'box', box: 1 }, layout)).toEqual([1, 3]);
    expect(endsOf({ kind: 'none' }, layout)).toEqual([1, 3]); // hosts: no frame counts twice
  });
});

describe('health', () => {
  it('of links follows the counters, then faults', () => {
    labState.value = stateWith(fault('loss', 'link', [], [0]), fault('delay', 'link', [], [1], false));
    const s = sampleAt(1, [0, 0, 0, 0]);
    expect(linkHealth(0, s, degradedLinks.value)).toBe('degraded');
    expect(linkHealth(1, s, degradedLinks.value)).toBe('down');
    expect(linkHealth(1, { ...s, up: '11' }, degradedLinks.value)).toBe('up'); // its fault waits
  });
  it('of nodes is that of the worst fault', () => {
    labState.value = stateWith(fault('drain', 'switch', ['leaf1'], [0, 1]), fault('crash', 'switch', ['leaf1'], [0, 1]), fault('straggle', 'host', ['h1'], [0]));
    expect(nodeHealth.value.get('leaf1')).toEqual({ health: 'down', faults: ['drain-1', 'crash-1'] });
    expect(nodeHealth.value.get('h1')?.health).toBe('degraded');
    expect(degradedLinks.value.size).toBe(0);
  });
  it('of nodes at a site that is away is down', () => {
    layoutShown.value = { ...layout, nodes: layout.nodes.map((n) => ({ ...n, site: n.name === 'h2' ? 'b' : 'a' })) };
    labState.value = { ...stateWith(), sites: [{ name: 'a', lab: 'x-a', up: true, hosts: [] }, { name: 'b', lab: 'x-b', up: false, hosts: [], why: 'gone' }] };
    expect([...nodeHealth.value]).toEqual([['h2', { health: 'down', faults: [] }]]);
    expect(sitesAway.value.map((s) => s.name)).toEqual(['b']);
    layoutShown.value = null;
  });
});

describe('happenings', () => {
  beforeEach(() => { happenings.value = []; });
  const one = (number: number, kind: Happening['kind'] = 'link'): Happening => ({ number, unix_seconds: number, modelled_seconds: 0, kind, element: '', text: '' });
  it('come once each, and the last thousand stay', () => {
    addHappenings([one(1), one(2)]);
    addHappenings([one(2), one(3)]);
    expect(happenings.value.map((h) => h.number)).toEqual([1, 2, 3]);
    addHappenings(Array.from({ length: 1500 }, (_, i) => one(i + 4)));
    expect(happenings.value.length).toBe(1000);
  });
  it('are marks on the line of time, but for the log', () => {
    expect(marksOf([one(1), one(5, 'log'), one(6)], 2, 10).map((h) => h.number)).toEqual([6]);
  });
});

describe('a series', () => {
  it('puts what is newer behind the daemon\'s history, and nothing twice', () => {
    const s = new Series();
    s.add(sampleAt(100, [1, 0, 0, 0]), [0], [0]);
    s.add(sampleAt(101, [2, 0, 0, 0]), [0], [0]);
    s.add(sampleAt(101, [9, 0, 0, 0]), [0], [0]);
    s.begin({ of: 'x', step_seconds: 1, t: [99, 100], out: [7, 8], in: [0, 0], depth: [0, 0], marked: [0, 0], pauses: [0, 0], drops: [0, 0] });
    expect(s.columns.t).toEqual([99, 100, 101]);
    expect(s.columns.out).toEqual([7, 8, 2]);
  });
  it('sums ends, with the deepest queue', () => {
    const s = new Series();
    s.add(sampleAt(1, [1, 10, 2, 20]), [0, 2], [0, 1, 2, 3]);
    expect(s.columns).toMatchObject({ out: [3], in: [30], depth: [7], marked: [1], drops: [2] });
  });
  it('stays bounded', () => {
    const s = new Series();
    for (let t = 0; t < 4000; ++t) s.add(sampleAt(t, [0, 0, 0, 0]), [0], [0]);
    expect(s.columns.t.length).toBeLessThanOrEqual(kKept + 12);
    expect(s.columns.t.at(-1)).toBe(3999);
  });
});

describe('geometry', () => {
  const line = points([0, 0, 10, 0, 10, 10], false);
  it('halves a line at its middle', () => {
    const [a, b] = halves(points([0, 0, 10, 0, 10, 6], false));
    expect(a).toEqual([{ x: 0, y: 0 }, { x: 8, y: 0 }]);
    expect(b).toEqual([{ x: 10, y: 6 }, { x: 10, y: 0 }, { x: 8, y: 0 }]);
    expect(along(line, 0.75)).toEqual({ x: 10, y: 5 });
  });
  it('finds how far a point is', () => {
    expect(distance({ x: 5, y: 3 }, line)).toBe(3);
    expect(distance({ x: 12, y: 12 }, line)).toBeCloseTo(Math.hypot(2, 2));
  });
  it('draws curves through their ends', () => {
    const curve = points([0, 0, 0, -10, 20, -10, 20, 0], true);
    expect(curve[0]).toEqual({ x: 0, y: 0 });
    expect(curve.at(-1)).toEqual({ x: 20, y: 0 });
    expect(Math.min(...curve.map((p) => p.y))).toBeCloseTo(-7.5);
  });
  it('gives rows of wide pictures more room, and leaves boxes as they are', () => {
    const wide = {
      ...layout, width: 1000, height: 130, bands: [[0, 0, 1000, 20], [0, 50, 1000, 20], [0, 100, 1000, 20]],
      boxes: [{ ...layout.boxes[0]!, place: [0, 2, 10, 16] }, { ...layout.boxes[1]!, place: [0, 52, 10, 16] }],
      lines: [{ ...layout.lines[0]!, strands: [[5, 18, 5, 52]] }],
    } as unknown as Layout;
    const s = stretched(wide, 0.5);
    const gap = (500 - 60) / 2;
    expect(s.bands.map((b) => b[1])).toEqual([0, 20 + gap, 40 + 2 * gap]);
    expect(s.boxes[1]!.place).toEqual([0, 22 + gap, 10, 16]);
    expect(s.lines[0]!.strands[0]).toEqual([5, 18, 5, 22 + gap]);
    const high = { ...wide, width: 200 };
    expect(stretched(high, 0.5)).toBe(high);
  });
  it('keeps the point under the pointer when it zooms', () => {
    const view = fit({ left: 0, top: 0, right: 100, bottom: 50 }, 400, 300);
    const at = { x: 120, y: 90 };
    const before = { x: (at.x - view.x) / view.zoom, y: (at.y - view.y) / view.zoom };
    const after = zoomedAt(view, at, 1.5, 0.1, 8);
    expect((at.x - after.x) / after.zoom).toBeCloseTo(before.x);
    expect((at.y - after.y) / after.zoom).toBeCloseTo(before.y);
    expect(zoomedAt(view, at, 1000, 0.1, 8).zoom).toBe(8);
  });
});

describe('words', () => {
  it('are read by a shell as they are', () => {
    expect(shellWord('leaf1:1')).toBe('leaf1:1');
    expect(shellWord("on: a, it's")).toBe(`'on: a, it'\\''s'`);
    expect(linkCommand('x', 'leaf1:1', false)).toBe('railyard link down leaf1:1 --lab x');
    expect(faultCommand('x', 'on: h1, drop: true')).toBe("railyard fault add 'on: h1, drop: true' --lab x");
  });
  it('say numbers in three digits', () => {
    expect(rate(12_345_000_000)).toBe('12.3 Gb/s');
    expect(rate(0)).toBe('0 b/s');
    expect(bytes(400_000)).toBe('400 kB');
    expect(percent(0.004)).toBe('<1 %');
    expect(perSecond(0)).toBe('0/s');
    expect(duration(3725)).toBe('1 h 2 min');
  });
});

describe('sliders', () => {
  it('go where the value is, and say it in whole kilobytes', () => {
    expect(octetsOf('400KB')).toBe(400_000);
    expect(octetsOf('1.6MB')).toBe(1_600_000);
    expect(octetsOf('64KiB')).toBe(65_536);
    expect(octetsOf('auto')).toBeNaN();
    expect(octetsAt(0)).toBe(10_000);
    expect(octetsAt(200)).toBe(20_000_000);
    expect(Math.abs(octetsAt(stepAt(400_000)) - 400_000)).toBeLessThan(20_000);
    expect(stepAt(1)).toBe(0);
    expect(stepAt(1e12)).toBe(200);
  });
});

describe('the code of the link', () => {
  it('goes from the address at once', () => {
    const replaceState = vi.fn();
    expect(takeCode({ hash: '#code=abc', pathname: '/' } as Location, { replaceState })).toBe('abc');
    expect(replaceState).toHaveBeenCalledWith(null, '', '/');
    expect(takeCode({ hash: '', pathname: '/' } as Location, { replaceState })).toBeNull();
  });
});
