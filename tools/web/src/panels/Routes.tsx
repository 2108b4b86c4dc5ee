// What a switch forwards by; a route that is chosen is drawn.
import { useState } from 'preact/hooks';

import { ask, Problem } from '../api';
import { routesCommand } from '../commands';
import { labName } from '../store';
import type { Layout } from '../types';
import { clearOverlay, type NextHop, overlay, showRoute } from '../ways';
import { Copy } from './Copy';

interface Route { prefix: string; behind: string; next_hops: NextHop[] }
interface Answer { protocol: string; switches: { node: string; routes: Route[] }[] }

const kMostRows = 300;

export function Routes({ of, node }: { of: Layout; node: string }) {
  const [routes, setRoutes] = useState<Route[] | null>(null);
  const [protocol, setProtocol] = useState('');
  const [text, setText] = useState('');
  const [problem, setProblem] = useState('');
  const [chosen, setChosen] = useState('');
  const look = () => ask<Answer>('GET', `/routes/${encodeURIComponent(node)}`).then(
    (a) => {
      setRoutes(a.switches[0]?.routes ?? []);
      setProtocol(a.protocol);
      setProblem('');
    },
    (e: unknown) => setProblem(e instanceof Problem ? e.message : String(e)),
  );
  const wanted = (routes ?? []).filter((r) => `${r.prefix} ${r.behind}`.includes(text.trim()));
  return (
    <details onToggle={(e) => { if (e.currentTarget.open && routes === null) void look(); }}>
      <summary>Routes</summary>
      {problem && <p class="refused" role="alert">{problem}</p>}
      {routes === null && !problem && <p class="quiet" role="status">Loading…</p>}
      {routes && (
        <>
          <div class="pair">
            <div class="field"><label for="routes-text">Prefix or host contains</label><input id="routes-text" value={text} onInput={(e) => setText(e.currentTarget.value)} /></div>
            <div class="acts"><button type="button" onClick={() => void look()}>Load again</button></div>
          </div>
          <p class="quiet">{routes.length} routes ({protocol}). Choose one to draw its next hops.</p>
          <table>
            <thead><tr><th scope="col">Prefix</th><th scope="col">Behind</th><th scope="col">Next hops</th></tr></thead>
            <tbody>
              {wanted.slice(0, kMostRows).map((r) => (
                <tr key={r.prefix} class={overlay.value?.kind === 'route' && chosen === r.prefix ? 'now' : ''}>
                  <td><button type="button" class="link" aria-pressed={overlay.value?.kind === 'route' && chosen === r.prefix} onClick={() => {
                    if (overlay.value?.kind === 'route' && chosen === r.prefix) return clearOverlay();
                    setChosen(r.prefix);
                    showRoute(of, node, r.prefix, r.next_hops);
                  }}>{r.prefix}</button></td>
                  <td>{r.behind}</td>
                  <td>{r.next_hops.map((h) => `${h.port.slice(h.port.lastIndexOf(':') + 1)} → ${h.to}${h.up ? '' : ' (down)'}`).join(', ') || 'none'}</td>
                </tr>
              ))}
            </tbody>
          </table>
          {wanted.length > kMostRows && <p class="quiet">{wanted.length - kMostRows} more; narrow the search.</p>}
          <Copy text={routesCommand(labName.value, node)} />
        </>
      )}
    </details>
  );
}
