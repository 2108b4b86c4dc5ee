// What is drawn over the fabric, and what runs in the lab: from the API's answers to arrows and tables.
import { beforeEach, describe, expect, it, vi } from 'vitest';

import { placeOf } from '../src/causes';
import { captureCommand, doctorCommand, pathCommand, stopCommand } from '../src/commands';
import { sentFromA } from '../src/fabric/arrows';
import { strandsOf } from '../src/fabric/draw';
import { layout, selection } from '../src/store';
import { loadLayout } from '../src/stream';
import type { Layout } from '../src/types';
import { arrowsOfPath, arrowsOfTrees, clearOverlay, endAt, overlay, type Path, showRoute, shownPath } from '../src/ways';
import { actOn, compared, doneOf, familyOf, type Collective, type Flow } from '../src/workloads';

// h1 - leaf1 - (spine1, spine2) - leaf2 - h2
const names = ['h1', 'leaf1', 'spine1', 'spine2', 'leaf2', 'h2'];
const links: [string, string][] = [
  ['h1:1', 'leaf1:1'], ['leaf1:2', 'spine1:1'], ['leaf1:3', 'spine2:1'], ['spine1:2', 'leaf2:2'], ['spine2:2', 'leaf2:3'], ['leaf2:1', 'h2:1'],
];
const of = {
  nodes: names.map((name, box) => ({ name, kind: name.startsWith('h') ? 'host' : 'switch', box })),
  links: links.map(([a, b]) => ({ a, b, rate_bps: 1e9, rail: 0 })),
  boxes: names.map((name, i) => ({ name, nodes: [i], place: [0, 0, 1, 1], kind: 'switch', rail: 0, lines: [], detail: '' })),
  lines: links.map(([a, b], i) => ({
    a: names.indexOf(b.split(':')[0]!), b: names.indexOf(a.split(':')[0]!), links: [i], rail: 0, arc: false, strands: [[0, 0, 10, 10]],
  })),
  bands: [],
} as unknown as Layout;

const hop = (port: string, up = true) => ({ port, to: '', weight: 1, up });
const path = (out: string | null): Path => ({
  name: 't/h1->h2', from: 'h1:1', to: 'h2:1', arrives: true, lost: [],
  flow: { dscp: 26, source_port: 50000, destination_qp: 17, entropy: null, any_entropy: false },
  hops: [
    { hop: 1, node: 'leaf1', in: 'leaf1:1', class: 3, policy: 'ecmp', next_hops: [hop('leaf1:2'), hop('leaf1:3')], out },
    { hop: 2, node: 'spine1', in: 'spine1:1', class: 3, policy: null, next_hops: [hop('spine1:2')], out: 'spine1:2' },
  ],
});

describe('the way of a flow', () => {
  it('is an arrow for each link it takes, from the end that sends', () => {
    expect(arrowsOfPath(of, path('leaf1:2'))).toEqual([{ end: 0, main: true }, { end: 2, main: true }, { end: 6, main: true }]);
  });
  it('has every next hop that is up where it depends on the packet', () => {
    expect(arrowsOfPath(of, path(null)).map((a) => [a.end, a.main])).toEqual([[0, true], [2, false], [4, false], [6, true]]);
    const down = path(null);
    down.hops[0]!.next_hops[1]!.up = false;
    expect(arrowsOfPath(of, down).map((a) => a.end)).toEqual([0, 2, 6]);
  });
  it('leaves out ports that the picture does not have', () => {
    expect(arrowsOfPath(of, path('leaf9:9')).map((a) => a.end)).toEqual([0, 6]);
    expect(endAt(of, 'leaf9:9')).toBe(-1);
    expect(endAt(of, 'spine1:1')).toBe(3);
  });
  it('is drawn in the direction in which packets go', () => {
    // The line goes from box b of the link to its box a.
    const strand = strandsOf(of)[1]!;
    expect(sentFromA(strand, 2)).toBe(false);
    expect(sentFromA(strand, 3)).toBe(true);
  });
});

describe('pause trees', () => {
  it('lead from who pauses to who is paused, with their roots', () => {
    const { arrows, roots } = arrowsOfTrees(of, [{ root: 'leaf2:1 class 3', levels: [['spine1:2 class 3'], ['leaf1:2 class 3', 'leaf1:2 class 4']] }]);
    // spine1:2 is paused by leaf2:2, leaf1:2 by spine1:1.
    expect(arrows).toEqual([{ end: 7, main: true }, { end: 3, main: false }]);
    expect(roots).toEqual([10]);
  });
  it('of a root at a host, and of nothing', () => {
    expect(arrowsOfTrees(of, [{ root: 'h2:1 class 3', levels: [['leaf2:1 class 3']] }])).toEqual({ arrows: [{ end: 11, main: true }], roots: [11] });
    expect(arrowsOfTrees(of, [])).toEqual({ arrows: [], roots: [] });
  });
});

describe('what is drawn', () => {
  beforeEach(clearOverlay);
  it('goes when it is hidden', () => {
    showRoute(of, 'leaf1', '10.0.0.2/32', [hop('leaf1:2'), hop('leaf1:3', false)]);
    expect(overlay.value?.arrows).toEqual([{ end: 2, main: true }, { end: 4, main: false }]);
    clearOverlay();
    expect(overlay.value).toBeNull();
    expect(shownPath.value).toBeNull();
  });
});

describe('boxes and lines by number', () => {
  it('are not what was selected any more in another folding', async () => {
    vi.stubGlobal('fetch', async () => new Response(JSON.stringify(of)));
    layout.value = of;
    selection.value = { kind: 'box', box: 3 };
    await loadLayout(true);
    expect(selection.value).toEqual({ kind: 'none' });
    selection.value = { kind: 'node', name: 'leaf1' };
    await loadLayout(false);
    expect(selection.value).toEqual({ kind: 'node', name: 'leaf1' });
    vi.unstubAllGlobals();
  });
});

describe('commands', () => {
  it('do what was done', () => {
    expect(captureCommand('lab', 'leaf1:3', 'out')).toBe('railyard capture leaf1:3 --out -w leaf1-3.pcapng --lab lab');
    expect(captureCommand('lab', 'leaf1:3', 'both')).toBe('railyard capture leaf1:3 -w leaf1-3.pcapng --lab lab');
    expect(stopCommand('lab', 'in cast')).toBe("railyard stop 'in cast' --lab lab");
    expect(pathCommand('lab', path(null))).toBe('railyard path h1:1 h2:1 --dscp 26 --source-port 50000 --destination-qp 17 --lab lab');
  });
});

describe('workloads', () => {
  const flow = (name: string, transport: string, more: Partial<Flow> = {}): Flow => ({
    name, src: 'h1:1', dst: 'h2:1', transport, class: 3, goodput_bps: 1e9, packets: 100, delivered_packets: 100, ce_share: 0, lost: 0,
    retransmission_share: 0, latency_ns: { p99: 5000 }, fct_ns: null, ...more,
  });
  const collective = (transport: string, busbw: number | null): Collective => ({
    name: transport, collective: 'all-reduce', transport, ranks: ['h1:1', 'h2:1'], repeats: 3,
    iterations: [{ start_ns: 0, time_ns: 9 }, { start_ns: 9, time_ns: null }], time_ns: { median: 9 }, busbw_bps: busbw, share_of_limit: null,
    completed: false, stalled: '', verified: false, wrong: '', retransmitted_packets: 0, job: null,
  });
  it('are compared where both transports run, and only there', () => {
    expect(compared([flow('a', 'roce'), flow('b', 'generator')], [])).toBeNull();
    const both = compared(
      [flow('a', 'roce', { ce_share: 0.5, lost: 3 }), flow('b', 'roce', { packets: 300, ce_share: 0.1 }), flow('c', 'uet/rud', { latency_ns: null })],
      [collective('uet/rod', 4e9), collective('uet/rud', 3e9), collective('uet/rud', null)]);
    expect(both?.RoCE).toMatchObject({ flows: 2, goodput_bps: 2e9, lost: 3, p99_ns: 5000, collectives: 0, busbw_bps: null });
    expect(both?.RoCE.ce_share).toBeCloseTo(0.2); // by packets
    expect(both?.UET).toMatchObject({ flows: 1, p99_ns: null, collectives: 3, busbw_bps: 3e9 });
  });
  it('have a family, and collectives progress', () => {
    expect(['roce', 'roce/uc', 'uet/rud', 'generator'].map(familyOf)).toEqual(['RoCE', 'RoCE', 'UET', null]);
    expect(doneOf(collective('roce', null))).toBe(1);
  });
  it('are stopped while they run, go on when they were stopped, and are repeated when they have ended', () => {
    const of = (more: Partial<Collective>) => actOn({ ...collective('roce', null), ...more });
    expect(of({ stopped: false })).toBe('stop');
    expect(of({ stopped: true })).toBe('start');
    expect(of({ stopped: false, completed: true })).toBe('repeat');
    // Ranks of agents stop by themselves.
    expect([of({}), of({ completed: true }), of({ stalled: 'its agents are gone' })]).toEqual([null, 'repeat', 'repeat']);
  });
});

describe('what the doctor names', () => {
  it('is found in the picture: a link by either way to write it, a port, a node', () => {
    expect(placeOf(of, 'leaf1:1-h1:1')).toEqual({ kind: 'link', link: 0 });
    expect(placeOf(of, 'leaf1:2 -> spine1:1')).toEqual({ kind: 'link', link: 1 });
    expect(placeOf(of, 'leaf2:1')).toEqual({ kind: 'link', link: 5 });
    expect(placeOf(of, 'spine2')).toEqual({ kind: 'node', name: 'spine2' });
  });

  it('is a node where the port has no link, and nothing where it is no place', () => {
    expect(placeOf(of, 'leaf1:9')).toEqual({ kind: 'node', name: 'leaf1' });
    expect(placeOf(of, 'fabric')).toBeNull();
  });

  it('has a command that says the same', () => {
    expect(doctorCommand('my lab')).toBe("railyard doctor 'my lab'");
  });
});
