// The page: its frame, and what is shown when there is no lab.
import { effect, signal } from '@preact/signals';
import { render } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

import { exchangeToken, Problem } from './api';
import { Fabric, firstPicture, foundNodes, layers, searched } from './fabric/Fabric';
import { nanoseconds, percent } from './format';
import { Clock, Done, Faults, Links, Log } from './panels/Lists';
import { Selected } from './panels/Selected';
import { later } from './later';
import { activeFaults, connection, daemonVersion, isRun, labName, layout, message, sample, selection, silentSince, sitesAway } from './store';
import { isUnfolded, loadLayout, open, start } from './stream';
import { palette, setTheme, theme, useColour } from './theme';
import { followHappenings } from './ways';
import './style.css';

// What the first picture does not need.
const Charts = later(() => firstPicture.then(() => import('./charts/Charts')).then((m) => m.Charts), '');
const Workloads = later(() => import('./panels/Workloads').then((m) => m.Workloads));
const Causes = later(() => import('./panels/Causes').then((m) => m.Causes));
const Pauses = later(() => import('./panels/Pauses').then((m) => m.Pauses));
const Settings = later(() => import('./panels/Settings').then((m) => m.Settings));

const kTabs = [
  { key: 'selected', label: 'Selected', panel: Selected },
  { key: 'links', label: 'Links', panel: Links },
  { key: 'faults', label: 'Faults', panel: Faults },
  { key: 'workloads', label: 'Workloads', panel: Workloads },
  { key: 'causes', label: 'Causes', panel: Causes },
  { key: 'pauses', label: 'Pauses', panel: Pauses },
  { key: 'settings', label: 'Settings', panel: Settings },
  { key: 'done', label: 'Done', panel: Done },
  { key: 'log', label: 'Log', panel: Log },
] as const;
const tab = signal<(typeof kTabs)[number]['key']>('selected');

function Status() {
  const c = connection.value;
  const s = sample.value;
  const [kind, text] =
    c.kind === 'live' && silentSince.value !== null ? ['wait', 'silent']
    : c.kind === 'live' ? (s?.held ? ['held', 'paused'] : ['live', 'live'])
    : c.kind === 'loading' ? ['wait', 'loading'] : c.kind === 'lost' ? ['wait', 'reconnecting']
    : c.kind === 'ended' ? ['gone', 'ended'] : ['gone', 'not connected'];
  return <span class={`status ${kind}`} role="status">{text}</span>;
}

function Search() {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const slash = (e: KeyboardEvent) => {
      if (e.key !== '/' || (e.target as HTMLElement).matches('input, select, textarea')) return;
      e.preventDefault();
      input.current?.focus();
    };
    window.addEventListener('keydown', slash);
    return () => window.removeEventListener('keydown', slash);
  }, []);
  const of = layout.value;
  const found = of ? foundNodes(of, searched.value) : new Set<string>();
  return (
    <form class="search" role="search" onSubmit={(e) => {
      e.preventDefault();
      const exact = [...found].find((n) => n === searched.value.trim()) ?? [...found][0];
      if (exact) {
        selection.value = { kind: 'node', name: exact };
        tab.value = 'selected';
        message.value = `${exact} selected`;
      }
    }}>
      <input ref={input} type="search" aria-label="Search for a node" placeholder="Search  /" value={searched.value} list="search-names"
             onInput={(e) => (searched.value = e.currentTarget.value)} />
      <datalist id="search-names">{searched.value.length > 0 && [...found].slice(0, 20).map((n) => <option key={n} value={n} />)}</datalist>
    </form>
  );
}

function Header() {
  const s = sample.value;
  const of = layout.value;
  return (
    <header class="top">
      <h1><span class="logo" aria-hidden="true">▞</span> Railyard <span class="lab">{labName.value || of?.name}</span></h1>
      <Status />
      {isRun.value && <span class="badge drained" title="A run of `railyard run --web`: it is watched, and cannot be changed">virtual time, read-only</span>}
      <div class="facts">
        <span class="wide">{of?.size}</span>
        <span>time <Clock /></span>
        {s && <span title="Share of wall time in which the engine moves packets">engine {percent(Math.min(1, s.busy))}</span>}
        {s && <span class="wide" title="99th percentile of how late a window of the engine is done">late {nanoseconds(s.lateness_p99_ns)}</span>}
      </div>
      <Search />
      {of && (of.folded || isUnfolded()) && of.can_unfold && (
        <button type="button" aria-pressed={isUnfolded()} onClick={() => void loadLayout(!isUnfolded())}>
          {isUnfolded() ? 'Fold' : 'Unfold'}
        </button>
      )}
      <button type="button" class="theme" aria-label={`Switch to ${theme.value === 'dark' ? 'light' : 'dark'} theme`}
              onClick={() => setTheme(theme.value === 'dark' ? 'light' : 'dark')}>{theme.value === 'dark' ? '☀' : '☾'}</button>
    </header>
  );
}

function Legend() {
  const p = palette();
  const shares = [0, 0.1, 0.25, 0.5, 0.75, 0.92, 1];
  const set = (key: keyof typeof layers.value) => (layers.value = { ...layers.value, [key]: !layers.value[key] });
  return (
    <div class="legend">
      <div class="ramp" aria-label="Colours of utilisation">
        <svg width="112" height="8" role="img" aria-label="Utilisation from 0 to 100 per cent">
          {shares.map((u, i) => <rect key={u} x={i * 16} width="16" height="8" fill={useColour(u, p)} />)}
        </svg>
        <span>0 – 100 % used</span>
      </div>
      <span class="sign"><svg width="26" height="12" aria-hidden="true"><line x1="0" y1="6" x2="26" y2="6" stroke={p.down} stroke-width="2" stroke-dasharray="5 4" /><path d="M10 3l6 6m0-6l-6 6" stroke={p.down} stroke-width="2" /></svg>down</span>
      <span class="sign"><svg width="26" height="12" aria-hidden="true"><line x1="0" y1="6" x2="26" y2="6" stroke={p.degraded} stroke-width="6" opacity=".4" /><path d="M13 1l5 9h-10z" fill={p.paper} stroke={p.degraded} stroke-width="1.6" /></svg>degraded</span>
      <span class="sign"><svg width="26" height="12" aria-hidden="true"><rect x="1" y="1" width="24" height="10" rx="3" fill="none" stroke={p.drained} stroke-width="1.6" /><path d="M5 11l6-10m2 10l6-10" stroke={p.drained} stroke-width="1.2" opacity=".6" /></svg>drained</span>
      <fieldset>
        <legend class="unseen">Layers</legend>
        <label><input type="checkbox" checked={layers.value.queues} onChange={() => set('queues')} /><span class="dot" style={{ color: p.queue }}>●</span> queues</label>
        <label><input type="checkbox" checked={layers.value.marks} onChange={() => set('marks')} /><span class="dot" style={{ color: p.mark }}>○</span> CE marks</label>
        <label><input type="checkbox" checked={layers.value.pauses} onChange={() => set('pauses')} /><span class="dot" style={{ color: p.pause }}>❚❚</span> pauses</label>
        <label><input type="checkbox" checked={layers.value.drops} onChange={() => set('drops')} /><span class="dot" style={{ color: p.down }}>▼</span> drops</label>
      </fieldset>
    </div>
  );
}

function Side() {
  const Panel = kTabs.find((t) => t.key === tab.value)!.panel;
  const move = (by: number) => {
    const i = kTabs.findIndex((t) => t.key === tab.value);
    tab.value = kTabs[(i + by + kTabs.length) % kTabs.length]!.key;
    document.getElementById(`tab-${tab.value}`)?.focus();
  };
  return (
    <aside class="side" aria-label="Details">
      <div class="tabs" role="tablist" aria-label="Panels"
           onKeyDown={(e) => { if (e.key === 'ArrowRight') move(1); if (e.key === 'ArrowLeft') move(-1); }}>
        {kTabs.map((t) => (
          <button key={t.key} id={`tab-${t.key}`} type="button" role="tab" aria-selected={tab.value === t.key} aria-controls="panel"
                  tabIndex={tab.value === t.key ? 0 : -1} onClick={() => (tab.value = t.key)}>
            {t.label}
            {t.key === 'faults' && activeFaults.value.length > 0 && <span class="number-of"> {activeFaults.value.length}</span>}
          </button>
        ))}
      </div>
      <div id="panel" class="panel" role="tabpanel" aria-labelledby={`tab-${tab.value}`} tabIndex={0}><Panel /></div>
    </aside>
  );
}

function SignIn({ why }: { why: string }) {
  const [token, setToken] = useState('');
  const [refused, setRefused] = useState('');
  return (
    <main class="notice">
      <h1>Railyard</h1>
      <p>{why}</p>
      <p><code>railyard web</code> prints a link that opens this page. Or paste the token of the lab:</p>
      <form onSubmit={(e) => {
        e.preventDefault();
        exchangeToken(token.trim()).then(() => open(), (p: unknown) => setRefused(p instanceof Problem ? p.message : String(p)));
      }}>
        <div class="field"><label for="token">Token</label>
          <input id="token" type="password" autocomplete="off" required value={token} onInput={(e) => setToken(e.currentTarget.value)} /></div>
        {refused && <p class="refused" role="alert">{refused}</p>}
        <button type="submit" class="primary">Open the lab</button>
      </form>
    </main>
  );
}

function Lost() {
  const c = connection.value;
  if (c.kind === 'ended')
    return <div class="banner ended" role="alert">{c.why} What you see is its last picture, from {new Date(c.since).toLocaleTimeString('en-GB')}.</div>;
  if (c.kind === 'live' && silentSince.value !== null)
    return <div class="banner lost" role="alert">No news from the daemon since {new Date(silentSince.value).toLocaleTimeString('en-GB')}: it has been stopped, or its machine or the network is overloaded.</div>;
  if (c.kind !== 'lost' && c.kind !== 'gone') return null;
  return (
    <div class={`banner ${c.kind}`} role="alert">
      {c.kind === 'lost'
        ? 'The connection to the daemon broke off; trying again…'
        : <>The daemon is gone: the lab was stopped or killed. What you see is from {new Date(c.since).toLocaleTimeString('en-GB')}. Start it again with <code>railyard up … --web</code>; this page keeps trying.</>}
    </div>
  );
}

function SitesAway() {
  if (connection.value.kind !== 'live') return null;
  return (
    <>
      {sitesAway.value.map((s) => (
        <div key={s.name} class="banner lost" role="alert">Site {s.name} is away: {s.why}. Its nodes and links are shown as down.</div>
      ))}
    </>
  );
}

// As high as the charts, before they have come.
function ChartPlace() {
  return <section class="charts" aria-label="Charts"><Charts /></section>;
}

function OtherVersion() {
  const v = daemonVersion.value;
  if (v.loaded === v.now) return null;
  return (
    <div class="banner" role="alert">
      The daemon is Railyard {v.now} now; this page is of {v.loaded}.{' '}
      <button type="button" onClick={() => window.location.reload()}>Load its page</button>
    </div>
  );
}

function Page() {
  const c = connection.value;
  if (c.kind === 'sign-in') return <SignIn why={c.why} />;
  if (c.kind === 'other-version')
    return (
      <main class="notice">
        <h1>Railyard</h1>
        <p role="alert">The daemon is of another version than this page: {c.said}.</p>
        <button type="button" class="primary" onClick={() => window.location.reload()}>Load its page</button>
      </main>
    );
  if (!layout.value)
    return (
      <main class="notice">
        <h1>Railyard</h1>
        {c.kind === 'gone' ? <p role="alert">The daemon does not answer. Is the lab up? <code>railyard ls</code> lists labs.</p> : <p role="status">Loading the lab…</p>}
      </main>
    );
  return (
    <>
      <Header />
      <Lost />
      <OtherVersion />
      <SitesAway />
      <main class={c.kind === 'gone' || silentSince.value !== null ? 'stale' : ''}>
        <section class="picture" aria-label="Picture of the fabric">
          <Fabric />
          <Legend />
        </section>
        <Side />
        <ChartPlace />
      </main>
      <div class="toast" role="log" aria-live="polite">{message.value && <span>{message.value}</span>}</div>
    </>
  );
}

effect(() => {
  document.documentElement.dataset.theme = theme.value;
});
// What was said goes after a while; selecting shows its panel.
let clearing = 0;
effect(() => {
  if (!message.value) return;
  window.clearTimeout(clearing);
  clearing = window.setTimeout(() => (message.value = ''), 4000);
});
let before = selection.value;
effect(() => {
  if (selection.value !== before) tab.value = 'selected';
  before = selection.value;
});

const place = document.getElementById('page')!;
place.replaceChildren();
render(<Page />, place);
followHappenings();
void start();
