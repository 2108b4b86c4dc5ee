// The stream of events, and what becomes of it when the daemon goes.
import { ask, exchangeCode, Problem, takeCode } from './api';
import {
  addHappenings, connection, forget, happenings, labState, layout, readOnly, sample, schema,
} from './store';
import type { Happening, LabState, Layout, Sample } from './types';
import type { FabricSchema } from './faultForm';

const kRetry = 1000; // ms
const kGoneAfter = 3; // attempts without an answer

let source: EventSource | null = null;
let failures = 0;
let unfolded = false;

export const isUnfolded = () => unfolded;

export async function loadLayout(unfold = unfolded): Promise<void> {
  unfolded = unfold;
  layout.value = await ask<Layout>('GET', `/layout?folding=${unfold ? 'none' : 'readable'}`);
}

// Begins: takes the code out of the address, and opens the stream.
export async function start(): Promise<void> {
  const phone = window.matchMedia('(max-width: 640px)');
  readOnly.value = phone.matches;
  phone.addEventListener('change', () => (readOnly.value = phone.matches));
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
      await exchangeCode(code);
    } catch (e) {
      if (e instanceof Problem && e.status === 0) return lost();
      why = e instanceof Problem ? e.message : String(e); // a session from before may still do
    }
  }
  await open(why);
}

export async function open(whyNot = ''): Promise<void> {
  try {
    await ask('GET', '/session');
  } catch (e) {
    if (e instanceof Problem && e.status !== 0) {
      connection.value = { kind: 'sign-in', why: whyNot || 'This browser has no session with the lab.' };
      return;
    }
    return lost();
  }
  try {
    await loadLayout();
    schema.value ??= await ask<FabricSchema>('GET', '/schema');
  } catch {
    return lost();
  }
  listen();
}

function listen(): void {
  source?.close();
  source = new EventSource('/v1/events?every=250ms');
  source.addEventListener('hello', (e) => {
    failures = 0;
    const hello = JSON.parse(e.data) as { ends: number };
    if (layout.value && hello.ends !== 2 * layout.value.links.length) void loadLayout();
    connection.value = { kind: 'live' };
  });
  source.addEventListener('sample', (e) => {
    sample.value = JSON.parse(e.data) as Sample;
  });
  source.addEventListener('state', (e) => {
    const now = JSON.parse(e.data) as LabState;
    const before = labState.value;
    if (before && before.version !== now.version) return window.location.reload();
    labState.value = now;
  });
  source.addEventListener('happenings', (e) => addHappenings(JSON.parse(e.data) as Happening[]));
  source.onerror = () => {
    source?.close();
    source = null;
    lost();
  };
}

// The stream has broken off: is the daemon there?
function lost(): void {
  if (connection.value.kind === 'ended') return;
  const before = connection.value;
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
