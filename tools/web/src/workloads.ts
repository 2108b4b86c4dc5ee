// What runs in the lab: traffic, flows and collectives, as the API tells them.

export interface Flow {
  name: string;
  src: string;
  dst: string;
  transport: string; // "generator", "roce", "uet/rud"
  class: number;
  goodput_bps: number | null;
  packets: number;
  delivered_packets: number | null;
  ce_share: number | null;
  lost: number | null;
  retransmission_share: number | null;
  latency_ns: { p99: number } | null;
  fct_ns: number | null;
}
export interface Traffic {
  name: string;
  transport: 'generator' | 'roce' | 'uet';
  flows: number;
  has_end: boolean;
  rate_bps: number | null; // of each flow; null: as fast as the link takes it
  stopped: boolean;
}
export interface Collective {
  name: string;
  collective: string;
  transport: string;
  ranks: string[];
  repeats: number;
  iterations: { start_ns: number; time_ns: number | null }[];
  time_ns: { median: number | null };
  busbw_bps: number | null;
  share_of_limit: number | null;
  completed: boolean;
  stalled: string;
  verified: boolean;
  wrong: string;
  retransmitted_packets: number;
  job: { straggler: { rank: string; factor: number } | null } | null;
  slowest?: { rank: string; behind_median_ns: number; iteration: number } | null; // of built-in ranks
  stopped?: boolean; // a built-in one
}

// What can be done to it now. Ranks of agents stop when they are done.
export function actOn(c: Collective): 'stop' | 'start' | 'repeat' | null {
  if (c.stopped === undefined) return c.completed || c.stalled ? 'repeat' : null;
  return c.stopped ? 'start' : c.completed ? 'repeat' : 'stop';
}

export const doneOf = (c: Collective) => c.iterations.filter((i) => i.time_ns !== null).length;

export type Family = 'RoCE' | 'UET';
export const familyOf = (transport: string): Family | null =>
  transport.startsWith('uet') ? 'UET' : transport.startsWith('roce') ? 'RoCE' : null;

// One transport beside the other.
export interface Side {
  flows: number;
  goodput_bps: number;
  ce_share: number;
  lost: number;
  retransmission_share: number; // of packets sent
  p99_ns: number | null; // of the slowest flow
  collectives: number;
  busbw_bps: number | null; // of the slowest collective
}

function sideOf(flows: Flow[], collectives: Collective[]): Side {
  const packets = flows.reduce((sum, f) => sum + f.packets, 0);
  const share = (of: (f: Flow) => number | null) =>
    packets > 0 ? flows.reduce((sum, f) => sum + (of(f) ?? 0) * f.packets, 0) / packets : 0;
  const p99 = flows.flatMap((f) => (f.latency_ns ? [f.latency_ns.p99] : []));
  const busbw = collectives.flatMap((c) => (c.busbw_bps === null ? [] : [c.busbw_bps]));
  return {
    flows: flows.length,
    goodput_bps: flows.reduce((sum, f) => sum + (f.goodput_bps ?? 0), 0),
    ce_share: share((f) => f.ce_share),
    lost: flows.reduce((sum, f) => sum + (f.lost ?? 0), 0),
    retransmission_share: share((f) => f.retransmission_share),
    p99_ns: p99.length > 0 ? Math.max(...p99) : null,
    collectives: collectives.length,
    busbw_bps: busbw.length > 0 ? Math.min(...busbw) : null,
  };
}

// RoCE and UET side by side; nothing unless both run.
export function compared(flows: Flow[], collectives: Collective[]): Record<Family, Side> | null {
  const of = (family: Family) =>
    sideOf(flows.filter((f) => familyOf(f.transport) === family), collectives.filter((c) => familyOf(c.transport) === family));
  const both = { RoCE: of('RoCE'), UET: of('UET') };
  const runs = (s: Side) => s.flows + s.collectives > 0;
  return runs(both.RoCE) && runs(both.UET) ? both : null;
}
