// What the page knows, and what is selected.
import { batch, computed, signal } from '@preact/signals';

import type { Fault, Happening, LabState, Layout, Sample, Selection } from './types';
import type { FabricSchema } from './faultForm';

export type Connection =
  | { kind: 'loading' }
  | { kind: 'sign-in'; why: string }
  | { kind: 'other-version'; said: string } // a daemon that does not know what this page asks
  | { kind: 'live' }
  | { kind: 'lost'; since: number } // the stream broke off; trying again
  | { kind: 'gone'; since: number } // nobody listens any more
  | { kind: 'ended'; why: string; since: number }; // it said so: the lab was stopped, or the run is over

export const connection = signal<Connection>({ kind: 'loading' });
// The last time, in ms, that the daemon was heard of, if that is long ago though the connection stands.
export const silentSince = signal<number | null>(null);
export const labName = signal('');
// Of the daemon that this page came from, and of the one that answers now.
export const daemonVersion = signal<{ loaded: string; now: string }>({ loaded: '', now: '' });
export const layout = signal<Layout | null>(null);
export const sample = signal<Sample | null>(null);
export const labState = signal<LabState | null>(null);
export const happenings = signal<Happening[]>([]);
export const schema = signal<FabricSchema | null>(null);
export const selection = signal<Selection>({ kind: 'none' });
export const message = signal(''); // for screen readers, and briefly on the page
// The past that is looked at: unix seconds. null: now.
export const scrubbedTo = signal<number | null>(null);
export const pastSample = signal<Sample | null>(null);
export const shownSample = computed(() => (scrubbedTo.value === null ? sample.value : pastSample.value));

// On phones, and of runs in virtual time, the page only shows.
export const onPhone = signal(false);
export const isRun = signal(false);
export const readOnly = computed(() => onPhone.value || isRun.value);

const kMostHappenings = 1000;

export function addHappenings(more: Happening[]): void {
  const last = happenings.value.at(-1)?.number ?? 0;
  const news = more.filter((h) => h.number > last);
  if (news.length) happenings.value = [...happenings.value, ...news].slice(-kMostHappenings);
}

// What differs from lab to lab, gone: the daemon was started anew.
export function forget(): void {
  batch(() => {
    layout.value = null;
    sample.value = null;
    labState.value = null;
    happenings.value = [];
    selection.value = { kind: 'none' };
    scrubbedTo.value = null;
    pastSample.value = null;
  });
}

export const activeFaults = computed<Fault[]>(() => (labState.value?.faults ?? []).filter((f) => !f.removed));

export type Health = 'up' | 'down' | 'degraded' | 'drained';

const kNodeFailures = new Set(['crash']);

// Of links by number: down as the counters say, degraded by a fault that acts on it.
export const degradedLinks = computed<Map<number, string[]>>(() => {
  const out = new Map<number, string[]>();
  for (const f of activeFaults.value) {
    if (!f.active || f.what === 'down' || f.what === 'flap' || f.what === 'crash' || f.what === 'drain') continue;
    if (f.touches.scope === 'switch' || (f.touches.scope === 'host' && f.touches.nodes.length > 0)) continue;
    for (const l of f.touches.links) out.set(l, [...(out.get(l) ?? []), f.name]);
  }
  return out;
});

// Sites of a lab over several machines that do not answer.
export const sitesAway = computed(() => (labState.value?.sites ?? []).filter((s) => !s.up));

export const nodeHealth = computed<Map<string, { health: Health; faults: string[] }>>(() => {
  const out = new Map<string, { health: Health; faults: string[] }>();
  const worse: Record<Health, number> = { up: 0, drained: 1, degraded: 2, down: 3 };
  for (const f of activeFaults.value) {
    if (!f.active) continue;
    if (f.touches.scope !== 'switch' && f.touches.scope !== 'host') continue;
    const health: Health = kNodeFailures.has(f.what) ? 'down' : f.what === 'drain' ? 'drained' : 'degraded';
    for (const n of f.touches.nodes) {
      const before = out.get(n);
      out.set(n, {
        health: before && worse[before.health] > worse[health] ? before.health : health,
        faults: [...(before?.faults ?? []), f.name],
      });
    }
  }
  const away = new Set(sitesAway.value.map((s) => s.name));
  if (away.size > 0)
    for (const n of layout.value?.nodes ?? [])
      if (n.site !== undefined && away.has(n.site)) out.set(n.name, { health: 'down', faults: out.get(n.name)?.faults ?? [] });
  return out;
});

export function linkHealth(link: number, s: Sample | null, degraded: Map<number, string[]>): Health {
  if (s && s.up[link] === '0') return 'down';
  return degraded.has(link) ? 'degraded' : 'up';
}

// The ends that belong to what is selected: those that send from there.
export function endsOf(what: Selection, of: Layout): number[] {
  const ofNode = (name: string) => {
    const ends: number[] = [];
    of.links.forEach((l, i) => {
      if (l.a.slice(0, l.a.lastIndexOf(':')) === name) ends.push(2 * i);
      if (l.b.slice(0, l.b.lastIndexOf(':')) === name) ends.push(2 * i + 1);
    });
    return ends;
  };
  switch (what.kind) {
    case 'link':
      return [2 * what.link];
    case 'node':
      return ofNode(what.name);
    case 'line':
      return (of.lines[what.line]?.links ?? []).map((l) => 2 * l);
    case 'box':
      return (of.boxes[what.box]?.nodes ?? []).flatMap((n) => ofNode(of.nodes[n]?.name ?? ''));
    case 'none':
      return of.nodes.filter((n) => n.kind === 'host').flatMap((n) => ofNode(n.name));
  }
}

export function titleOf(what: Selection, of: Layout): string {
  switch (what.kind) {
    case 'link': {
      const l = of.links[what.link];
      return l ? `${l.a} – ${l.b}` : '';
    }
    case 'node':
      return what.name;
    case 'line':
      return `${of.lines[what.line]?.links.length ?? 0} links`;
    case 'box':
      return of.boxes[what.box]?.name ?? '';
    case 'none':
      return 'Whole lab';
  }
}
