// Lists: links, faults, what was done here, what has happened.
import { signal } from '@preact/signals';
import { useState } from 'preact/hooks';

import { done, faultLog, removeFault, tried, undo } from '../actions';
import { removeFaultCommand, shellWord } from '../commands';
import { clock, count, duration } from '../format';
import { degradedLinks, happenings, labName, labState, layout, linkHealth, message, readOnly, sample, selection, shownSample } from '../store';
import type { Fault, Layout } from '../types';
import { Copy } from './Copy';
import { Act } from './Act';
import { LinkTable } from './Selected';

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
  const lab = labName.value;
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

// A text as a file of the browser's.
function save(name: string, text: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'application/x-ndjson' }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function FaultLog() {
  const file = `${labName.value}.faults.jsonl`;
  return (
    <section class="captures" aria-label="Fault log">
      <h3>Fault log of the session</h3>
      <p class="quiet">All faults, and links taken down, at the instants at which they took effect: for <code>--replay</code>.</p>
      <div class="acts">
        <Act label="Download" act={async () => save(file, await faultLog())} />
        <Act label="Copy log" act={async () => {
          const text = await faultLog();
          await tried(async () => {
            await navigator.clipboard.writeText(text);
            message.value = `Copied: ${text.split('\n').length - 1} events`;
          });
        }} />
      </div>
      <Copy text={`railyard run LAB.yaml --set run.clock=virtual --replay ${shellWord(file)}`} />
    </section>
  );
}

export function Done() {
  const all = done.value;
  if (all.length === 0)
    return (
      <>
        <p class="quiet">Nothing yet. What you do on this page is listed here, with the railyard command that does the same.</p>
        <FaultLog />
      </>
    );
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
      <FaultLog />
    </>
  );
}

const kKinds = ['all', 'link', 'fault', 'drain', 'pfc-watchdog', 'site', 'log'] as const;
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

export function Clock() {
  const s = sample.value;
  if (!s) return null;
  return <span title="Simulated time since the lab came up">{duration(s.modelled_seconds)}</span>;
}
