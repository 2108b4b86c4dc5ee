// Lists: links, faults, what was done here, what has happened, flows.
import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';

import { done, removeFault, undo } from '../actions';
import { ask, Problem } from '../api';
import { removeFaultCommand } from '../commands';
import { clock, count, duration, nanoseconds, percent, rate } from '../format';
import { degradedLinks, happenings, labState, layout, linkHealth, readOnly, sample, selection, shownSample } from '../store';
import type { Fault, Layout } from '../types';
import { Copy } from './Copy';
import { Act, LinkTable } from './Selected';

const kMostRows = 200;

export function Links() {
  const of = layout.value;
  const [text, setText] = useState('');
  const [by, setBy] = useState<'use' | 'name' | 'state'>('use');
  if (!of) return null;
  const s = shownSample.value;
  const use = (i: number) => Math.max(s?.use[2 * i] ?? 0, s?.use[2 * i + 1] ?? 0);
  const bad = (i: number) => (linkHealth(i, s, degradedLinks.value) === 'up' ? 0 : 1);
  const wanted = of.links.map((_, i) => i).filter((i) => `${of.links[i]!.a} ${of.links[i]!.b}`.includes(text.trim()));
  if (by === 'use') wanted.sort((x, y) => use(y) - use(x));
  if (by === 'state') wanted.sort((x, y) => bad(y) - bad(x) || use(y) - use(x));
  return (
    <>
      <div class="pair">
        <div class="field"><label for="links-text">Name contains</label><input id="links-text" value={text} onInput={(e) => setText(e.currentTarget.value)} /></div>
        <div class="field"><label for="links-by">Sort by</label>
          <select id="links-by" value={by} onChange={(e) => setBy(e.currentTarget.value as typeof by)}>
            <option value="use">utilisation</option><option value="state">state</option><option value="name">name</option>
          </select></div>
      </div>
      <LinkTable of={of} links={wanted.slice(0, kMostRows)} />
      {wanted.length > kMostRows && <p class="quiet">{wanted.length - kMostRows} more; narrow the search.</p>}
    </>
  );
}

function FaultRow({ fault, of }: { fault: Fault; of: Layout }) {
  const lab = labState.value?.name ?? '';
  const touched = fault.touches.nodes[0] ?? '';
  const link = fault.touches.links[0];
  return (
    <li class={fault.removed ? 'past' : ''}>
      <div class="fault-head">
        <b>{fault.name}</b>
        <span class={`badge ${fault.removed ? 'gone' : fault.active ? 'down' : 'up'}`}>{fault.removed ? 'removed' : fault.active ? 'active' : 'waiting'}</span>
      </div>
      <p class="quiet">
        {fault.what} on{' '}
        <button type="button" class="link" onClick={() => {
          selection.value = touched && of.nodes.some((n) => n.name === touched) ? { kind: 'node', name: touched }
            : link !== undefined ? { kind: 'link', link } : selection.value;
        }}>{fault.on}</button>
        {fault.occurrences > 1 && `, ${count(fault.occurrences)} times`}
        {fault.frames !== null && `, ${count(fault.frames)} frames`}
      </p>
      {!fault.removed && !readOnly.value && (
        <>
          <div class="acts"><Act label="Undo" act={() => removeFault(fault.name)} /></div>
          <Copy text={removeFaultCommand(lab, fault.name)} />
        </>
      )}
    </li>
  );
}

export function Faults() {
  const of = layout.value;
  const all = labState.value?.faults ?? [];
  if (!of) return null;
  if (all.length === 0)
    return <p class="quiet">No faults. Select a link, switch or host and choose “Inject a fault…”.</p>;
  return <ul class="list">{[...all].reverse().map((f, i) => <FaultRow key={`${f.name}.${i}`} fault={f} of={of} />)}</ul>;
}

export function Done() {
  const all = done.value;
  if (all.length === 0)
    return <p class="quiet">Nothing yet. What you do on this page is listed here, with the railyard command that does the same.</p>;
  return (
    <>
      <Copy text={all.map((d) => d.command).join('\n')} label="Copy all commands" />
      <ul class="list">
        {[...all].reverse().map((d) => (
          <li key={d.number} class={d.undone ? 'past' : ''}>
            <div class="fault-head"><b>{d.text}</b><span class="quiet">{clock(d.at)}{d.undone ? ', undone' : ''}</span></div>
            <Copy text={d.command} />
            {d.undo && <div class="acts"><Act label="Undo" act={() => undo(d)} /></div>}
          </li>
        ))}
      </ul>
    </>
  );
}

const kKinds = ['all', 'link', 'fault', 'drain', 'pfc-watchdog', 'log'] as const;
const shownKind = signal<(typeof kKinds)[number]>('all');

export function Log() {
  const all = happenings.value.filter((h) => shownKind.value === 'all' || h.kind === shownKind.value);
  return (
    <>
      <div class="field">
        <label for="log-kind">Show</label>
        <select id="log-kind" value={shownKind.value} onChange={(e) => (shownKind.value = e.currentTarget.value as typeof shownKind.value)}>
          {kKinds.map((k) => <option key={k} value={k}>{k}</option>)}
        </select>
      </div>
      {all.length === 0 ? <p class="quiet">Nothing has happened yet.</p> : (
        <ol class="log" reversed>
          {all.slice(-kMostRows).reverse().map((h) => (
            <li key={h.number} class={h.kind}><time>{clock(h.unix_seconds)}</time> <span class="kind">{h.kind}</span> {h.text}</li>
          ))}
        </ol>
      )}
    </>
  );
}

interface Flow {
  name: string;
  src: string;
  dst: string;
  transport: string;
  class: number;
  goodput_bps: number | null;
  ce_share: number | null;
  lost: number | null;
  retransmission_share: number | null;
  latency_ns: { p99: number } | null;
  fct_ns: number | null;
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
          <tr key={f.name}>
            <td>
              <button type="button" class="link" title={`${f.name}, ${f.transport}, class ${f.class}`} onClick={() => {
                const link = of?.links.findIndex((l) => l.a === f.src || l.b === f.src) ?? -1;
                if (link >= 0) selection.value = { kind: 'link', link };
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
export function Flows() {
  const [flows, setFlows] = useState<Flow[] | null>(null);
  const [collectives, setCollectives] = useState('');
  const [problem, setProblem] = useState('');
  const size = labState.value?.size;
  useEffect(() => {
    let ends = false;
    const look = async () => {
      try {
        const f = await ask<{ flows: Flow[] }>('GET', '/flows');
        const c = await ask<{ text: string }>('GET', '/collectives');
        if (ends) return;
        setFlows(f.flows.sort((a, b) => (b.goodput_bps ?? 0) - (a.goodput_bps ?? 0)));
        setCollectives(c.text.trim());
        setProblem('');
      } catch (e) {
        if (!ends) setProblem(e instanceof Problem ? e.message : String(e));
      }
      if (!ends) window.setTimeout(() => void look(), 2000);
    };
    void look();
    return () => {
      ends = true;
    };
  }, []);
  return (
    <>
      <p class="quiet">{size ? `${count(size.flows)} flows, ${count(size.collectives)} collectives` : ''}; since the start, every 2 s while shown.</p>
      {problem && <p class="refused" role="alert">{problem}</p>}
      {collectives && <><h3>Collectives</h3><pre tabIndex={0}>{collectives}</pre></>}
      {flows && flows.length > 0 && <FlowTable flows={flows.slice(0, kMostRows)} />}
      {flows && flows.length > kMostRows && <p class="quiet">{count(flows.length - kMostRows)} slower ones are left out.</p>}
      {flows && flows.length === 0 && !collectives && <p class="quiet">No built-in flows or collectives. Traffic of attached hosts shows on the links.</p>}
    </>
  );
}

export function Clock() {
  const s = sample.value;
  if (!s) return null;
  return <span title="Simulated time since the lab came up">{duration(s.modelled_seconds)}</span>;
}
