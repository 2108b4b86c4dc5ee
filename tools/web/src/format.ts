// Numbers as people read them.

const kPrefixes: [number, string][] = [
  [1e12, 'T'],
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
];

// Three digits: "12.3 Gb/s".
function scaled(value: number, unit: string): string {
  for (const [factor, prefix] of kPrefixes)
    if (Math.abs(value) >= factor) return `${digits(value / factor)} ${prefix}${unit}`;
  return `${digits(value)} ${unit}`;
}

function digits(value: number): string {
  const size = Math.abs(value);
  if (size === 0) return '0';
  if (size >= 100) return value.toFixed(0);
  if (size >= 10) return value.toFixed(1).replace(/\.0$/, '');
  return value.toFixed(2).replace(/\.?0+$/, '');
}

export const rate = (bps: number) => scaled(bps, 'b/s');
export const bytes = (n: number) => scaled(n, 'B');
export const perSecond = (n: number) => (n === 0 ? '0/s' : `${scaled(n, '').trimEnd()}/s`);
export const percent = (share: number) =>
  share > 0 && share < 0.01 ? '<1 %' : `${Math.round(share * 100)} %`;
export const count = (n: number) => n.toLocaleString('en-US');

export function clock(unixSeconds: number): string {
  return new Date(unixSeconds * 1000).toLocaleTimeString('en-GB', { hour12: false });
}

// "12.4 s", "3 min 20 s", "1 h 5 min".
export function duration(seconds: number): string {
  if (seconds < 1) return `${(seconds * 1000).toFixed(1)} ms`;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const s = Math.floor(seconds);
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
}

export function nanoseconds(ns: number): string {
  if (ns >= 1e9) return `${digits(ns / 1e9)} s`;
  if (ns >= 1e6) return `${digits(ns / 1e6)} ms`;
  if (ns >= 1e3) return `${digits(ns / 1e3)} µs`;
  return `${digits(ns)} ns`;
}
