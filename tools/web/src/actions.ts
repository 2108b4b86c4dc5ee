// What is done on the page: each with the command that does the same, and what undoes it.
import { signal } from '@preact/signals';

import { ask, Problem } from './api';
import { loadCaptures } from './captures';
import {
  againCommand, captureCommand, drainCommand, faultCommand, holdCommand, linkCommand, removeFaultCommand, setCommand, stopCommand,
} from './commands';
import { activeFaults, labName, message } from './store';

export interface Done {
  number: number;
  at: number; // unix seconds
  text: string;
  command: string;
  undo: (() => Promise<void>) | null;
  undone: boolean;
}

export const done = signal<Done[]>([]);

function note(text: string, command: string, undo: Done['undo']): void {
  const number = (done.value.at(-1)?.number ?? 0) + 1;
  done.value = [...done.value, { number, at: Date.now() / 1000, text, command, undo, undone: false }];
  message.value = text;
}

export async function undo(which: Done): Promise<void> {
  if (!which.undo) return;
  await which.undo();
  done.value = done.value.map((d) => (d.number === which.number ? { ...d, undone: true, undo: null } : d));
}

const lab = () => labName.value;

// Runs an action; a refusal is said.
export async function tried(action: () => Promise<void>): Promise<boolean> {
  try {
    await action();
    return true;
  } catch (e) {
    message.value = e instanceof Problem ? e.message : String(e);
    return false;
  }
}

export async function setLink(port: string, up: boolean): Promise<void> {
  const answer = await ask<{ link: string }>('POST', '/links', { link: port, up });
  note(`Link ${answer.link} ${up ? 'brought up' : 'taken down'}`, linkCommand(lab(), port, up), () => setLink(port, !up));
}

export async function addFault(text: string): Promise<string> {
  const answer = await ask<{ fault: string }>('POST', '/faults', { fault: text });
  note(`Fault ${answer.fault} added`, faultCommand(lab(), text), () => removeFault(answer.fault));
  return answer.fault;
}

export async function removeFault(name: string): Promise<void> {
  await ask('DELETE', `/faults/${encodeURIComponent(name)}`);
  note(`Fault ${name} removed`, removeFaultCommand(lab(), name), null);
}

export async function drain(node: string): Promise<void> {
  await ask('POST', '/faults', { fault: `on: "${node}", drain: true` });
  note(`${node} drained`, drainCommand(lab(), node, true), () => undrain(node));
}

export async function undrain(node: string): Promise<void> {
  for (const f of activeFaults.value)
    if (f.what === 'drain' && f.on === node) await ask('DELETE', `/faults/${encodeURIComponent(f.name)}`);
  note(`${node} takes traffic again`, drainCommand(lab(), node, false), null);
}

export async function hold(on: boolean): Promise<void> {
  await ask('POST', '/hold', { on });
  note(on ? 'Simulated time paused' : 'Simulated time resumed', holdCommand(lab(), on), () => hold(!on));
}

// `before`: the values of all paths, to go back to.
export async function setPaths(sets: string[], before: Map<string, string>): Promise<void> {
  const answer = await ask<{ changes: { path: string; from: string; to: string }[] }>('POST', '/settings', { set: sets });
  if (answer.changes.length === 0) return;
  const back = sets.flatMap((s) => {
    const path = s.slice(0, s.indexOf('='));
    const value = before.get(path);
    return value === undefined ? [] : [`${path}=${value}`];
  });
  note(`Set ${answer.changes.map((c) => `${c.path} to ${c.to}`).join(', ')}`, setCommand(lab(), sets),
    back.length === sets.length ? () => setPaths(back, new Map()) : null);
}

export async function startCapture(port: string, direction: 'both' | 'in' | 'out'): Promise<void> {
  const { id } = await ask<{ id: string }>('POST', '/captures', { port, direction, keep: true });
  note(`Capture ${id} of ${port} started`, captureCommand(lab(), port, direction), () => stopCapture(id));
  await loadCaptures();
}

// It stays for download, also if it has filled up before this page knew.
export async function stopCapture(id: string): Promise<void> {
  await ask('POST', '/captures/stop', { id });
  await loadCaptures();
}

export async function forgetCapture(id: string): Promise<void> {
  await ask('DELETE', `/captures/${encodeURIComponent(id)}`);
  await loadCaptures();
}

export async function stopWorkload(name: string): Promise<void> {
  const answer = await ask<{ what: string }>('POST', '/stop', { name });
  note(`${answer.what} ${name} stopped`, stopCommand(lab(), name), () => startAgain(name));
}

// `stops`: it can be stopped again, which agents' workloads cannot.
export async function startAgain(name: string, stops = true): Promise<void> {
  const answer = await ask<{ what: string }>('POST', '/again', { name });
  note(`${answer.what} ${name} started again`, againCommand(lab(), name), stops ? () => stopWorkload(name) : null);
}

// What faults did, and links that were taken down by hand: a file for `railyard run --replay`.
export async function faultLog(): Promise<string> {
  const { lines } = await ask<{ lines: string[] }>('GET', '/faults/log?links=true');
  return lines.map((line) => `${line}\n`).join('');
}
