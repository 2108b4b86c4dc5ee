// Requests to the daemon. The session is a cookie that this page cannot read.
import type { Overview } from './types';

// Problem details (RFC 9457), or the network's silence (status 0).
export class Problem extends Error {
  constructor(
    readonly status: number,
    detail: string,
  ) {
    super(detail);
  }
}

export async function ask<T>(method: string, target: string, body?: unknown): Promise<T> {
  let answer: Response;
  try {
    answer = await fetch(`/v1${target}`, {
      method,
      credentials: 'same-origin',
      headers: body === undefined ? {} : { 'Content-Type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch {
    throw new Problem(0, 'The daemon does not answer.');
  }
  const text = await answer.text();
  let said: unknown;
  try {
    said = JSON.parse(text);
  } catch {
    throw new Problem(answer.status, `The daemon answered with status ${answer.status} and no JSON.`);
  }
  if (answer.ok) return said as T;
  const detail = (said as { detail?: unknown }).detail;
  throw new Problem(answer.status, typeof detail === 'string' ? detail : `Status ${answer.status}`);
}

// The code in the link's fragment, or a token typed in, for a session. The fragment goes from the address at once.
export function takeCode(location: Location, history: Pick<globalThis.History, 'replaceState'>): string | null {
  const code = new URLSearchParams(location.hash.slice(1)).get('code');
  if (code !== null) history.replaceState(null, '', location.pathname);
  return code;
}
// What the first picture needs comes with the session: one request less until it is there.
type Session = { session: boolean; overview?: Overview };
export const exchangeCode = (code: string) => ask<Session>('POST', '/session', { code, overview: 'readable' });
export const exchangeToken = (token: string) => ask<Session>('POST', '/session', { token });
