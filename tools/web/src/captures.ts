// Captures that the daemon takes and keeps for this page.
import { signal } from '@preact/signals';

import { ask } from './api';

export interface Capture {
  id: string;
  port: string;
  direction: 'both' | 'in' | 'out';
  state: 'waiting' | 'running' | 'ending' | 'ended';
  captured: number;
  lost: number;
  kept_bytes?: number; // of those that are kept
  full?: boolean;
}

export const captures = signal<Capture[]>([]);

export async function loadCaptures(): Promise<void> {
  captures.value = (await ask<{ captures: Capture[] }>('GET', '/captures')).captures;
}

export const fileOf = (c: Capture) => `/v1/captures/${encodeURIComponent(c.id)}/file`;
export const isKept = (c: Capture) => c.kept_bytes !== undefined;
