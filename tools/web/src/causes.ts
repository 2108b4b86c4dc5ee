// What the doctor finds, and where that is in the picture.
import type { Layout } from './types';
import { endAt } from './ways';

export interface Finding {
  rule: string;
  element: string;
  confidence: number;
  finds: string;
  evidence: string[];
  remedy: string;
  refuted_by: string;
}
export interface Diagnosis {
  name: string;
  findings: Finding[];
  not_looked_at: { rule: string; needs: string }[];
}

export type Place = { kind: 'node'; name: string } | { kind: 'link'; link: number };

// "leaf1:3-h3:1", "leaf1:3 -> h3:1", "leaf1:3", "h3"; null: it is none of the picture ("fabric", a job).
export function placeOf(of: Layout, element: string): Place | null {
  const port = /^[^:\s]+:\d+/.exec(element)?.[0];
  if (port) {
    const end = endAt(of, port);
    if (end >= 0) return { kind: 'link', link: end >> 1 };
  }
  const name = port ? port.slice(0, port.indexOf(':')) : element;
  return of.nodes.some((n) => n.name === name) ? { kind: 'node', name } : null;
}
