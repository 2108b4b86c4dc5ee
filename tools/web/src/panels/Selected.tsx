// What is selected: what it is, what it carries, and what can be done to it.
import { useState } from 'preact/hooks';

import { drain, hold, setLink, undrain } from '../actions';
import { reportCommand } from '../commands';
import { bytes, perSecond, percent, rate } from '../format';
import {
  activeFaults, degradedLinks, labName, labState, layout, linkHealth, nodeHealth, readOnly, selection, shownSample, type Health,
} from '../store';
import type { Layout } from '../types';
import { later } from '../later';
import { loadSchema } from '../stream';

import { Act } from './Act';
import { Captures } from './Captures';
import { Copy } from './Copy';
import { Routes } from './Routes';

const FaultForm = later(() => Promise.all([import('./FaultForm'), loadSchema()]).then(([m]) => m.FaultForm));

const kHealthText: Record<Health, string> = { up: 'up', down: '✕ down', degraded: '! degraded', drained: '⇢ drained' };

export function Badge({ health }: { health: Health }) {
  return <span class={`badge ${health}`}>{kHealthText[health]}</span>;
}

function Row({ name, children }: { name: string; children: preact.ComponentChildren }) {
  return (
    <div class="row">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function End({ of, end }: { of: Layout; end: number }) {
  const s = shownSample.value;
  const l = of.links[end >> 1]!;
  const name = end % 2 === 0 ? l.a : l.b;
  const use = s?.use[end] ?? 0;
  return (
    <div class="end">
      <h3>{name} sends</h3>
      <div class="meter" role="meter" aria-label={`Utilisation of ${name}`} aria-valuemin={0} aria-valuemax={100} aria-valuenow={Math.round(use * 100)}>
        <svg width="100%" height="6" preserveAspectRatio="none" viewBox="0 0 100 6" aria-hidden="true">
          <rect width="100" height="6" rx="1" class="meter-back" />
          <rect width={use * 100} height="6" rx="1" class={use > 0.92 ? 'meter-full' : 'meter-use'} />
        </svg>
      </div>
      <dl>
        <Row name="Rate">{rate(s?.bps[end] ?? 0)} ({percent(use)})</Row>
        <Row name="Queue">{bytes(s?.depth[end] ?? 0)}</Row>
        <Row name="CE marks">{perSecond(s?.marked[end] ?? 0)}</Row>
        <Row name="Pauses received">{perSecond(s?.pauses[end] ?? 0)}</Row>
        <Row name="Drops">{perSecond(s?.drops[end] ?? 0)}</Row>
      </dl>
    </div>
  );
}

// What was selected is not in the lab any more: another lab answers at this address, or it was made anew.
function Gone({ what }: { what: string }) {
  return (
    <div role="alert">
      <p><b>{what} is gone.</b> The lab does not have it any more.</p>
      <div class="acts"><button type="button" onClick={() => (selection.value = { kind: 'none' })}>Show the whole lab</button></div>
    </div>
  );
}

function LinkPanel({ of, link }: { of: Layout; link: number }) {
  const l = of.links[link];
  const [faulting, setFaulting] = useState(false);
  if (!l) return <Gone what="This link" />;
  const health = linkHealth(link, shownSample.value, degradedLinks.value);
  const takenDown = labState.value?.links_down.includes(l.a) ?? false;
  const faults = activeFaults.value.filter((f) => f.touches.links.includes(link));
  return (
    <>
      <header class="panel-head">
        <h2>{l.a} <span class="thin">–</span> {l.b}</h2>
        <Badge health={health} />
      </header>
      <p class="quiet">{rate(l.rate_bps)} link{l.rail > 0 ? `, rail ${l.rail}` : ''}
        {faults.length > 0 && <>; faults: {faults.map((f) => f.name).join(', ')}</>}</p>
      {!readOnly.value && (
        <div class="acts">
          {takenDown
            ? <Act label="Bring up" kind="primary" act={() => setLink(l.a, true)} />
            : <Act label="Take down" kind="danger" act={() => setLink(l.a, false)} />}
          <button type="button" aria-expanded={faulting} onClick={() => setFaulting(!faulting)}>Inject a fault…</button>
        </div>
      )}
      {faulting && !readOnly.value && <FaultForm places={[l.a, `${l.a} out`, `${l.a} in`, l.b]} scopes={['link', 'port']} onDone={() => setFaulting(false)} />}
      <End of={of} end={2 * link} />
      <End of={of} end={2 * link + 1} />
      <Captures key={link} ports={[l.a, l.b]} />
    </>
  );
}

function NodePanel({ of, name }: { of: Layout; name: string }) {
  const node = of.nodes.find((n) => n.name === name);
  const [faulting, setFaulting] = useState(false);
  if (!node) return <Gone what={name} />;
  const health = nodeHealth.value.get(name)?.health ?? 'up';
  const isSwitch = node.kind === 'switch';
  const drained = activeFaults.value.some((f) => f.what === 'drain' && f.on === name);
  const host = labState.value?.hosts.find((h) => h.name === name);
  const links = of.links.flatMap((l, i) => (portOf(l.a) === name || portOf(l.b) === name ? [i] : []));
  return (
    <>
      <header class="panel-head">
        <h2>{name}</h2>
        <Badge health={health} />
      </header>
      <p class="quiet">
        {node.role || node.kind}{node.rail > 0 ? `, rail ${node.rail}` : ''}{node.rack ? `, rack ${node.rack}` : ''}{node.site ? `, site ${node.site}` : ''}, profile {node.profile}
      </p>
      {!readOnly.value && (
        <div class="acts">
          {isSwitch && (drained
            ? <Act label="Undrain" kind="primary" act={() => undrain(name)} />
            : <Act label="Drain" act={() => drain(name)} />)}
          <button type="button" aria-expanded={faulting} onClick={() => setFaulting(!faulting)}>Inject a fault…</button>
        </div>
      )}
      {faulting && !readOnly.value && (
        <FaultForm places={[name, ...links.map((i) => (portOf(of.links[i]!.a) === name ? of.links[i]!.a : of.links[i]!.b))]}
                   scopes={isSwitch ? ['switch', 'port', 'link'] : ['host', 'port', 'link']} onDone={() => setFaulting(false)} />
      )}
      {host && (
        <dl class="box">
          {host.state && <Row name="State">{host.state}{host.why ? `: ${host.why}` : ''}</Row>}
          {host.nics.map((n) => (
            <Row key={n.port} name={`NIC ${n.port}`}>{n.attach}{n.address ? `, ${n.address}` : n.address6 ? `, ${n.address6}` : ''}</Row>
          ))}
        </dl>
      )}
      <LinkTable of={of} links={links} from={name} />
      {isSwitch && <Routes key={name} of={of} node={name} />}
    </>
  );
}

const portOf = (port: string) => port.slice(0, port.lastIndexOf(':'));

export function LinkTable({ of, links, from }: { of: Layout; links: number[]; from?: string }) {
  const s = shownSample.value;
  return (
    <table>
      <thead>
        <tr><th scope="col">Link</th><th scope="col" class="number">→</th><th scope="col" class="number">←</th><th scope="col">State</th></tr>
      </thead>
      <tbody>
        {links.map((i) => {
          const l = of.links[i]!;
          const turn = from !== undefined && portOf(l.b) === from;
          const [a, b] = turn ? [l.b, l.a] : [l.a, l.b];
          const [out, come] = turn ? [2 * i + 1, 2 * i] : [2 * i, 2 * i + 1];
          return (
            <tr key={i}>
              <td><button type="button" class="link" onClick={() => (selection.value = { kind: 'link', link: i })}>{a} – {b}</button></td>
              <td class="number">{percent(s?.use[out] ?? 0)}</td>
              <td class="number">{percent(s?.use[come] ?? 0)}</td>
              <td><Badge health={linkHealth(i, s, degradedLinks.value)} /></td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function LabPanel({ of }: { of: Layout }) {
  const s = shownSample.value;
  const state = labState.value;
  const down = of.links.filter((_, i) => s?.up[i] === '0').length;
  const busiest = s ? of.links.map((_, i) => i).sort((x, y) => Math.max(s.use[2 * y] ?? 0, s.use[2 * y + 1] ?? 0) - Math.max(s.use[2 * x] ?? 0, s.use[2 * x + 1] ?? 0)).slice(0, 6) : [];
  return (
    <>
      <header class="panel-head"><h2>{state?.name ?? of.name}</h2></header>
      <p class="quiet">{of.description || of.size}</p>
      <div class="tiles">
        <div><b>{of.links.length - down}<small>/{of.links.length}</small></b><span>links up</span></div>
        <div><b>{activeFaults.value.length}</b><span>faults</span></div>
        <div><b>{rate(s ? s.bps.reduce((sum, v) => sum + v, 0) : 0)}</b><span>on all links</span></div>
        <div><b>{perSecond(s ? s.drops.reduce((sum, v) => sum + v, 0) : 0)}</b><span>drops</span></div>
      </div>
      {!readOnly.value && s && (
        <div class="acts">
          {s.held ? <Act label="Resume simulated time" kind="primary" act={() => hold(false)} /> : <Act label="Pause simulated time" act={() => hold(true)} />}
        </div>
      )}
      <Reports />
      <Copy text={reportCommand(labName.value)} />
      <Captures ports={[]} />
      <h3>Busiest links</h3>
      <LinkTable of={of} links={busiest} />
      <p class="quiet">Select a node or link in the picture, or with <kbd>/</kbd> by its name.</p>
    </>
  );
}

// Each site has a report of its own.
function Reports() {
  const sites = labState.value?.sites;
  if (!sites)
    return <div class="acts"><a class="button" href="/v1/report/report.html" target="_blank" rel="noopener">Open the report so far</a></div>;
  return (
    <>
      <h3>Sites</h3>
      <table>
        <thead><tr><th scope="col">Site</th><th scope="col">State</th><th scope="col" class="number">Hosts</th><th scope="col">So far</th></tr></thead>
        <tbody>
          {sites.map((s) => (
            <tr key={s.name}>
              <td>{s.name}</td>
              <td><Badge health={s.up ? 'up' : 'down'} />{s.why && ` ${s.why}`}</td>
              <td class="number">{s.hosts.length}</td>
              <td>{s.up && <a href={`/v1/report/${encodeURIComponent(s.name)}.report.html`} target="_blank" rel="noopener" aria-label={`Report of site ${s.name}`}>Report</a>}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

export function Selected() {
  const of = layout.value;
  const what = selection.value;
  if (!of) return null;
  switch (what.kind) {
    case 'link':
      return <LinkPanel key={what.link} of={of} link={what.link} />;
    case 'node':
      return <NodePanel key={what.name} of={of} name={what.name} />;
    case 'line': {
      const line = of.lines[what.line];
      return (
        <>
          <header class="panel-head"><h2>{line?.links.length ?? 0} links</h2></header>
          <p class="quiet">{of.boxes[line?.a ?? 0]?.name} – {of.boxes[line?.b ?? 0]?.name}, drawn as one</p>
          <LinkTable of={of} links={line?.links ?? []} />
        </>
      );
    }
    case 'box': {
      const box = of.boxes[what.box];
      return (
        <>
          <header class="panel-head"><h2>{box?.name}</h2></header>
          <p class="quiet">{box?.lines.join(', ')}</p>
          <ul class="names">
            {(box?.nodes ?? []).map((n) => (
              <li key={n}><button type="button" class="link" onClick={() => (selection.value = { kind: 'node', name: of.nodes[n]!.name })}>{of.nodes[n]!.name}</button>
                {' '}{nodeHealth.value.has(of.nodes[n]!.name) && <Badge health={nodeHealth.value.get(of.nodes[n]!.name)!.health} />}</li>
            ))}
          </ul>
        </>
      );
    }
    case 'none':
      return <LabPanel of={of} />;
  }
}
