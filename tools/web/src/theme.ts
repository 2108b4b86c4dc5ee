// Light and dark, for what is drawn on canvases; style.css has the same for the rest.
import { signal } from '@preact/signals';

export interface Palette {
  paper: string;
  band: string;
  bandText: string;
  switchFill: string;
  switchEdge: string;
  hostFill: string;
  hostEdge: string;
  text: string;
  textSoft: string;
  idle: string;
  ramp: [number, string][]; // by utilisation
  down: string;
  degraded: string;
  drained: string;
  selected: string;
  queue: string;
  mark: string;
  pause: string;
  way: string;
  grid: string;
  series: string[];
}

const kDark: Palette = {
  paper: '#0d1420',
  band: '#131c2b',
  bandText: '#7f90aa',
  switchFill: '#1d2b42',
  switchEdge: '#5b7aa8',
  hostFill: '#182231',
  hostEdge: '#41526b',
  text: '#e6edf7',
  textSoft: '#9fb0c8',
  idle: '#34435a',
  ramp: [[0.001, '#3f6ea8'], [0.25, '#2fa7c4'], [0.5, '#4cc38a'], [0.75, '#e8c547'], [0.92, '#f08a3c'], [1, '#ef5f73']],
  down: '#ff4d5e',
  degraded: '#ffb02e',
  drained: '#b48cff',
  selected: '#ffffff',
  queue: '#c58bff',
  mark: '#ffb02e',
  pause: '#ff6b7a',
  way: '#ff7ae0',
  grid: '#22304a',
  series: ['#4cb3ff', '#4cc38a', '#c58bff', '#ffb02e', '#ff6b7a', '#9fb0c8'],
};

const kLight: Palette = {
  paper: '#f6f8fb',
  band: '#ebeff5',
  bandText: '#5d6b80',
  switchFill: '#ffffff',
  switchEdge: '#4a6796',
  hostFill: '#ffffff',
  hostEdge: '#9aa9bf',
  text: '#152033',
  textSoft: '#4b5a70',
  idle: '#c3cdda',
  ramp: [[0.001, '#7ba7d9'], [0.25, '#1f8fb0'], [0.5, '#1f9d63'], [0.75, '#c99a06'], [0.92, '#d9660f'], [1, '#cf2a45']],
  down: '#d0122d',
  degraded: '#b36b00',
  drained: '#6d3fd1',
  selected: '#0b1526',
  queue: '#8a3ffc',
  mark: '#b36b00',
  pause: '#cf2a45',
  way: '#a8108a',
  grid: '#dde4ee',
  series: ['#0f6fc4', '#1f8a55', '#8a3ffc', '#b36b00', '#cf2a45', '#4b5a70'],
};

export type Theme = 'dark' | 'light';

function preferred(): Theme {
  const said = globalThis.localStorage?.getItem('railyard-theme');
  if (said === 'dark' || said === 'light') return said;
  return globalThis.matchMedia?.('(prefers-color-scheme: light)').matches ? 'light' : 'dark';
}

export const theme = signal<Theme>(preferred());
export const palette = (): Palette => (theme.value === 'dark' ? kDark : kLight);

export function setTheme(t: Theme): void {
  theme.value = t;
  localStorage.setItem('railyard-theme', t);
}

// Between the two colours of the ramp around a utilisation; below the first: idle.
export function useColour(use: number, p: Palette): string {
  if (use < (p.ramp[0]?.[0] ?? 0)) return p.idle;
  for (let i = 1; i < p.ramp.length; ++i) {
    const [to, colour] = p.ramp[i]!;
    const [from, before] = p.ramp[i - 1]!;
    if (use <= to) return mix(before, colour, (use - from) / (to - from));
  }
  return p.ramp.at(-1)![1];
}

function mix(a: string, b: string, share: number): string {
  const part = (c: string, i: number) => parseInt(c.slice(1 + 2 * i, 3 + 2 * i), 16);
  const of = (i: number) => Math.round(part(a, i) + (part(b, i) - part(a, i)) * share);
  return `rgb(${of(0)} ${of(1)} ${of(2)})`;
}

const kRails = ['#4e9bff', '#2fbf71', '#f2a33a', '#d66bff', '#ff6f91', '#3cc9c9', '#b6c13c', '#9a8cff'];
export const railColour = (rail: number) => kRails[(rail - 1) % kRails.length]!;
