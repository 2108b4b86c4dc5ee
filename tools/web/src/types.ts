// What the API answers; see /v1/openapi.json.

export interface LayoutNode {
  name: string;
  kind: 'switch' | 'host' | 'trunk';
  role: string;
  rack: string;
  profile: string;
  row: number;
  rail: number;
  nics: number;
  box: number;
  site?: string; // of a lab over several machines
}
export interface LayoutLink {
  a: string; // "leaf1:3"
  b: string;
  rate_bps: number;
  rail: number;
}
export interface LayoutBox {
  name: string;
  kind: 'switch' | 'host' | 'trunk';
  rail: number;
  place: [number, number, number, number]; // x, y, width, height
  lines: string[];
  detail: string;
  nodes: number[];
}
export interface LayoutLine {
  a: number; // boxes
  b: number;
  links: number[];
  rail: number;
  arc: boolean; // strands are cubic Bézier curves
  strands: number[][]; // x, y, x, y, ...
}
export interface Layout {
  name: string;
  description: string;
  size: string;
  folded: boolean;
  can_unfold: boolean;
  width: number;
  height: number;
  rails: number;
  rows: { name: string; boxes: number[] }[];
  bands: [number, number, number, number][];
  nodes: LayoutNode[];
  links: LayoutLink[];
  boxes: LayoutBox[];
  lines: LayoutLine[];
}

// Columns by end: 2 i is end `a` of link i as the sender, 2 i + 1 its end `b`.
export interface Sample {
  number: number;
  unix_seconds: number;
  modelled_seconds: number;
  held: boolean;
  busy: number;
  lateness_p99_ns: number;
  slip_seconds: number;
  up: string; // a '1' or '0' by link
  bps: number[];
  use: number[];
  depth: number[];
  marked: number[];
  pauses: number[];
  drops: number[];
}

// What the first picture needs.
export interface Overview {
  name: string;
  version: string;
  read_only: boolean; // a run that is only watched
  layout: Layout;
  sample: Sample | null;
  happenings: Happening[];
}

export interface Fault {
  name: string;
  what: string;
  on: string;
  active: boolean;
  removed: boolean;
  occurrences: number;
  frames: number | null;
  touches: { scope: 'link' | 'port' | 'switch' | 'host'; nodes: string[]; links: number[] };
}
export interface HostState {
  name: string;
  nics: { port: number; attach: string; address?: string; address6?: string }[];
  state?: string;
  why?: string;
}
export interface LabState {
  name: string;
  version: string;
  pid: number;
  held: boolean;
  size: { switches: number; hosts: number; links: number; flows: number; collectives: number };
  faults: Fault[];
  links_down: string[];
  hosts: HostState[];
  collectives: { name: string; done: number; repeats: number; stopped: boolean }[]; // built-in ones
  sites?: Site[]; // of a lab over several machines
}
export interface Site {
  name: string;
  lab: string; // what its part is called at its machine
  up: boolean;
  hosts: string[];
  why?: string; // it is not up
}

export interface Happening {
  number: number;
  unix_seconds: number;
  modelled_seconds: number;
  kind: 'link' | 'fault' | 'drain' | 'pfc-watchdog' | 'site' | 'log';
  element: string;
  text: string;
}

export interface History {
  of: string;
  step_seconds: number;
  t: number[];
  out: number[];
  in: number[];
  depth: number[];
  marked: number[];
  pauses: number[];
  drops: number[];
}

export type Selection =
  | { kind: 'none' }
  | { kind: 'node'; name: string }
  | { kind: 'link'; link: number }
  | { kind: 'line'; line: number } // several links that are drawn as one
  | { kind: 'box'; box: number }; // several nodes that are drawn as one
