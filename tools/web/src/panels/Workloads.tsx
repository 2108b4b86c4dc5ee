// Workloads: RoCE and UET side by side, collectives with their progress, traffic to stop and start, flows with their path.
import { useState } from 'preact/hooks';

import { startAgain, stopWorkload } from '../actions';
import { ask, Problem } from '../api';
import { pathCommand } from '../commands';
import { count, nanoseconds, percent, rate } from '../format';
import { usePoll } from '../poll';
import { labName, labState, layout, message, readOnly, selection } from '../store';
import { clearOverlay, endAt, type Path, showFlow, shownPath } from '../ways';
import { actOn, type Collective, compared, doneOf, type Flow, type Side, type Traffic } from '../workloads';
import { Act } from './Act';
import { Copy } from './Copy';

const kMostRows = 200;

const kRows: [string, (s: Side) => string][] = [
  ['Flows', (s) => count(s.flows)],
  ['Goodput', (s) => (s.flows > 0 ? rate(s.goodput_bps) : '–')],
  ['CE-marked packets', (s) => (s.flows > 0 ? percent(s.ce_share) : '–')],
  ['Packets lost', (s) => (s.flows > 0 ? count(s.lost) : '–')],
  ['Retransmissions', (s) => (s.flows > 0 ? percent(s.retransmission_share) : '–')],
  ['Latency p99, slowest flow', (s) => (s.p99_ns === null ? '–' : nanoseconds(s.p99_ns))],
  ['Collectives', (s) => count(s.collectives)],
  ['busbw, slowest collective', (s) => (s.busbw_bps === null ? '–' : rate(s.busbw_bps))],
];

function SideBySide({ flows, collectives }: { flows: Flow[]; collectives: Collective[] }) {
  const both = compared(flows, collectives);
  if (!both) return null;
  return (
    <>
      <h3>RoCE and UET</h3>
      <table>
        <thead><tr><th scope="col"><span class="unseen">Figure</span></th><th scope="col" class="number">RoCE</th><th scope="col" class="number">UET</th></tr></thead>
        <tbody>
          {kRows.map(([name, of]) => (
            <tr key={name}><th scope="row">{name}</th><td class="number">{of(both.RoCE)}</td><td class="number">{of(both.UET)}</td></tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function CollectiveRow({ of: c, changed }: { of: Collective; changed: () => Promise<void> }) {
  const done = doneOf(c);
  const act = readOnly.value ? null : actOn(c);
  const again = () => startAgain(c.name, c.stopped !== undefined).then(changed);
  const state = c.stopped ? 'stopped' : c.completed ? (c.verified ? 'done, data verified' : c.wrong ? 'wrong data' : 'done') : done === 0 && c.iterations.length === 0 ? 'waiting' : 'running';
  return (
    <li>
      <div class="fault-head">
        <b>{c.name}</b>
        <span class={`badge ${c.wrong ? 'down' : 'up'}`}>{state}</span>
      </div>
      <p class="quiet">{c.collective}, {c.transport}, {count(c.ranks.length)} ranks</p>
      <progress max={c.repeats} value={done} aria-label={`${c.name}: ${done} of ${c.repeats} iterations`} />
      <dl>
        <div class="row"><dt>Iterations</dt><dd>{count(done)} of {count(c.repeats)}</dd></div>
        {c.time_ns.median !== null && <div class="row"><dt>Time, median</dt><dd>{nanoseconds(c.time_ns.median)}</dd></div>}
        {c.busbw_bps !== null && (
          <div class="row"><dt>busbw</dt><dd>{rate(c.busbw_bps)}{c.share_of_limit !== null && ` (${percent(c.share_of_limit)} of the limit)`}</dd></div>
        )}
        {c.slowest && c.slowest.behind_median_ns > 0 && (
          <div class="row"><dt>Slowest rank</dt><dd>{c.slowest.rank}, {nanoseconds(c.slowest.behind_median_ns)} after the median</dd></div>
        )}
        {c.job?.straggler && <div class="row"><dt>Straggler</dt><dd>{c.job.straggler.rank}, {c.job.straggler.factor.toFixed(2)} × the median</dd></div>}
        {c.retransmitted_packets > 0 && <div class="row"><dt>Retransmitted</dt><dd>{count(c.retransmitted_packets)} packets</dd></div>}
      </dl>
      {c.stalled && !c.stopped && <p class="quiet">Now: {c.stalled}</p>}
      {c.wrong && <p class="refused">{c.wrong}</p>}
      {act !== null && (
        <div class="acts">
          {act === 'stop'
            ? <Act label="Stop" act={() => stopWorkload(c.name).then(changed)} />
            : <Act label={act === 'start' ? 'Start' : 'Start again'} kind={act === 'start' ? 'primary' : undefined} act={again} />}
        </div>
      )}
    </li>
  );
}

function TrafficTable({ all, changed }: { all: Traffic[]; changed: () => Promise<void> }) {
  return (
    <table>
      <thead><tr><th scope="col">Traffic</th><th scope="col">Transport</th><th scope="col" class="number">Flows</th><th scope="col" class="number">Rate of each</th><th scope="col"><span class="unseen">Action</span></th></tr></thead>
      <tbody>
        {all.map((t) => (
          <tr key={t.name}>
            <td>{t.name}</td>
            <td>{t.transport}</td>
            <td class="number">{count(t.flows)}</td>
            <td class="number">{t.stopped ? 'stopped' : t.rate_bps === null ? 'greedy' : rate(t.rate_bps)}</td>
            <td class="number">
              {!readOnly.value && (t.stopped
                ? <Act label="Start" kind="primary" act={() => startAgain(t.name).then(changed)} />
                : <Act label="Stop" act={() => stopWorkload(t.name).then(changed)} />)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function PathOf({ path: p }: { path: Path }) {
  return (
    <section class="captures" aria-label="Path">
      <div class="fault-head"><h3>Path of {p.name ?? `${p.from} → ${p.to}`}</h3><button type="button" onClick={clearOverlay}>Hide</button></div>
      <ol class="hops">
        {p.hops.map((h) => (
          <li key={`${h.hop}.${h.node}.${h.in}`}>
            {h.node}: {h.out !== null ? `out by ${h.out}` : `${h.next_hops.filter((n) => n.up).map((n) => n.port).join(' or ')}, per packet`}
            <span class="quiet"> class {h.class}{h.policy ? `, ${h.policy}` : ''}</span>
          </li>
        ))}
      </ol>
      <p>{p.arrives ? `Arrives at ${p.to}.` : `Does not arrive at ${p.to}.`}</p>
      {p.lost.length > 0 && <p class="refused">{p.lost.join('; ')}</p>}
      <Copy text={pathCommand(labName.value, p)} />
    </section>
  );
}

function FlowTable({ flows }: { flows: Flow[] }) {
  const of = layout.value;
  return (
    <table>
      <thead>
        <tr><th scope="col">Flow</th><th scope="col" class="number">Goodput</th><th scope="col" class="number">CE</th><th scope="col" class="number">Lost</th><th scope="col" class="number">p99</th></tr>
      </thead>
      <tbody>
        {flows.map((f) => (
          <tr key={f.name} class={shownPath.value?.name === f.name ? 'now' : ''}>
            <td>
              <button type="button" class="link" title={`${f.name}, ${f.transport}, class ${f.class}: draw its path`} aria-pressed={shownPath.value?.name === f.name}
                      onClick={() => {
                        if (shownPath.value?.name === f.name) return clearOverlay();
                        showFlow(f.name).then(
                          (p) => (message.value = `Path of ${f.name}: ${p.hops.length} switches${p.arrives ? '' : ', does not arrive'}`),
                          (e: unknown) => {
                            // Of hosts that are attached the fabric does not know the packets.
                            message.value = e instanceof Problem ? e.message : String(e);
                            const end = of ? endAt(of, f.src) : -1;
                            if (end >= 0) selection.value = { kind: 'link', link: end >> 1 };
                          });
                      }}>{f.src} → {f.dst}</button>
            </td>
            <td class="number">{f.fct_ns !== null ? `done, ${nanoseconds(f.fct_ns)}` : rate(f.goodput_bps ?? 0)}</td>
            <td class="number">{percent(f.ce_share ?? 0)}</td>
            <td class="number">{count(f.lost ?? 0)}</td>
            <td class="number">{f.latency_ns ? nanoseconds(f.latency_ns.p99) : '–'}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

// Asked for only while it is shown: the engine looks between two windows.
export function Workloads() {
  const [flows, setFlows] = useState<Flow[] | null>(null);
  const [traffic, setTraffic] = useState<Traffic[]>([]);
  const [collectives, setCollectives] = useState<Collective[]>([]);
  const [problem, setProblem] = useState('');
  const size = labState.value?.size;
  const look = async () => {
    try {
      const f = await ask<{ flows: Flow[]; traffic: Traffic[] }>('GET', '/flows');
      const c = await ask<{ collectives: Collective[] }>('GET', '/collectives');
      setFlows(f.flows.sort((a, b) => (b.goodput_bps ?? 0) - (a.goodput_bps ?? 0)));
      setTraffic(f.traffic);
      setCollectives(c.collectives);
      setProblem('');
    } catch (e) {
      setProblem(e instanceof Problem ? e.message : String(e));
    }
  };
  usePoll(2000, look);
  const path = shownPath.value;
  return (
    <>
      <p class="quiet">{size ? `${count(size.flows)} ${size.flows === 1 ? 'flow' : 'flows'}, ${count(size.collectives)} ${size.collectives === 1 ? 'collective' : 'collectives'}` : ''}; figures since the start, every 2 s while shown.</p>
      {problem && <p class="refused" role="alert">{problem}</p>}
      {!flows && !problem && <p class="quiet" role="status">Loading…</p>}
      {flows && <SideBySide flows={flows} collectives={collectives} />}
      {collectives.length > 0 && <><h3>Collectives</h3><ul class="list">{collectives.map((c) => <CollectiveRow key={c.name} of={c} changed={look} />)}</ul></>}
      {traffic.length > 0 && <><h3>Traffic</h3><TrafficTable all={traffic} changed={look} /></>}
      {path && <PathOf path={path} />}
      {flows && flows.length > 0 && <><h3>Flows</h3><p class="quiet">Choose one to draw its path.</p><FlowTable flows={flows.slice(0, kMostRows)} /></>}
      {flows && flows.length > kMostRows && <p class="quiet">{count(flows.length - kMostRows)} slower ones are left out.</p>}
      {flows && flows.length === 0 && collectives.length === 0 && <p class="quiet">No built-in flows or collectives. Traffic of attached hosts shows on the links.</p>}
    </>
  );
}
