// The stream of events, and what becomes of the page when the daemon goes.
import { batch } from '@preact/signals';

import { ask, exchangeCode, Problem, takeCode } from './api';
import {
  addHappenings, connection, daemonVersion, forget, happenings, isRun, labName, labState, layout, onPhone, sample, schema, selection, silentSince,
} from './store';
import type { Happening, LabState, Layout, Overview, Sample } from './types';
import type { FabricSchema } from './faultForm';

const kRetry = 1000; // ms
const kGoneAfter = 3; // attempts without an answer

const kSilence = 5000; // ms; samples come four times a second

let source: EventSource | null = null;
let heard = 0; // when the last event came, ms
let failures = 0;
let unfolded = false;

export const isUnfolded = () => unfolded;

const folding = (unfold: boolean) => (unfold ? 'none' : 'readable');

export async function loadLayout(unfold = unfolded): Promise<void> {
  unfolded = unfold;
  const come = await ask<Layout>('GET', `/layout?folding=${folding(unfold)}`);
  batch(() => {
    // Boxes and lines have other numbers there.
    if (selection.value.kind === 'box' || selection.value.kind === 'line') selection.value = { kind: 'none' };
    layout.value = come;
  });
}

// The schema of faults: asked for when a form needs it.
export async function loadSchema(): Promise<void> {
  schema.value ??= await ask<FabricSchema>('GET', '/schema');
}

// Begins: takes the code out of the address, and opens the stream.
export async function start(): Promise<void> {
  const phone = window.matchMedia('(max-width: 640px)');
  onPhone.value = phone.matches;
  phone.addEventListener('change', () => (onPhone.value = phone.matches));
  window.setInterval(() => {
    if (connection.value.kind === 'live' && Date.now() - heard > kSilence) silentSince.value = heard;
  }, 1000);
  // A new link in the same tab changes the fragment alone.
  window.addEventListener('hashchange', () => {
    if (window.location.hash.includes('code=')) void enter();
  });
  await enter();
}

async function enter(): Promise<void> {
  const code = takeCode(window.location, window.history);
  let why = '';
  if (code) {
    try {
      const { overview } = await exchangeCode(code);
      if (overview) {
        take(overview);
        return listen();
      }
    } catch (e) {
      if (e instanceof Problem && e.status === 0) return lost();
      why = e instanceof Problem ? e.message : String(e); // a session from before may still do
    }
  }
  await open(why);
}

// One request for all that the first picture needs; then the stream.
export async function open(whyNot = ''): Promise<void> {
  try {
    take(await ask<Overview>('GET', `/overview?folding=${folding(unfolded)}`));
  } catch (e) {
    if (!(e instanceof Problem) || e.status === 0) return lost();
    if (e.status === 401 || e.status === 403)
      connection.value = { kind: 'sign-in', why: whyNot || 'This browser has no session with the lab.' };
    else if (e.status === 404) connection.value = { kind: 'other-version', said: e.message };
    else if (unfolded) {
      unfolded = false; // another lab, too large for that
      return open(whyNot);
    } else return lost();
    return;
  }
  listen();
}

function take(o: Overview): void {
  batch(() => {
    noteVersion(o.version);
    labName.value = o.name;
    isRun.value = o.read_only;
    layout.value = o.layout;
    if (o.sample) sample.value = o.sample;
    addHappenings(o.happenings);
  });
}

// The daemon behind the address may be another one now, made of other sources than this page.
function noteVersion(version: string): void {
  daemonVersion.value = { ...daemonVersion.value, now: version, loaded: daemonVersion.value.loaded || version };
}

function hear(): void {
  heard = Date.now();
  silentSince.value = null;
}

function listen(): void {
  source?.close();
  hear();
  source = new EventSource('/v1/events?every=250ms');
  source.addEventListener('hello', (e) => {
    failures = 0;
    hear();
    const hello = JSON.parse(e.data) as { ends: number };
    if (layout.value && hello.ends !== 2 * layout.value.links.length) void loadLayout().catch(() => undefined);
    connection.value = { kind: 'live' };
  });
  source.addEventListener('sample', (e) => {
    hear();
    sample.value = JSON.parse(e.data) as Sample;
  });
  source.addEventListener('state', (e) => {
    const now = JSON.parse(e.data) as LabState;
    noteVersion(now.version);
    labName.value = now.name;
    labState.value = now;
  });
  source.addEventListener('happenings', (e) => addHappenings(JSON.parse(e.data) as Happening[]));
  // It goes in order: nothing is to be tried again.
  source.addEventListener('ended', (e) => {
    source?.close();
    source = null;
    connection.value = { kind: 'ended', why: (JSON.parse(e.data) as { why: string }).why, since: Date.now() };
    if (!isRun.value) window.setTimeout(() => void again(), kRetry); // the lab may be started again
  });
  source.onerror = () => {
    source?.close();
    source = null;
    lost();
  };
}

// For tests: the stream breaks off.
(globalThis as { railyardReconnect?: () => void }).railyardReconnect = () => source?.onerror?.(new Event('error'));

// The stream has broken off: is the daemon there?
function lost(): void {
  const before = connection.value;
  if (before.kind === 'ended') {
    window.setTimeout(() => void again(), kRetry);
    return;
  }
  const since = before.kind === 'lost' || before.kind === 'gone' ? before.since : Date.now();
  ++failures;
  connection.value = { kind: failures >= kGoneAfter ? 'gone' : 'lost', since };
  window.setTimeout(() => void again(), kRetry);
}

async function again(): Promise<void> {
  try {
    await ask('GET', '/session');
  } catch (e) {
    if (e instanceof Problem && e.status !== 0) {
      // Another daemon at the same port: the session was with the one before.
      forget();
      connection.value = { kind: 'sign-in', why: 'The lab was started anew. `railyard web` prints a new link.' };
      return;
    }
    return lost();
  }
  happenings.value = [];
  await open();
}
