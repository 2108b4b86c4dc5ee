// What can be set while the lab runs: ECN ramps by slider, all else by its value.
import { useEffect, useState } from 'preact/hooks';

import { setPaths, tried } from '../actions';
import { ask, Problem } from '../api';
import { setCommand } from '../commands';
import { labName, readOnly } from '../store';
import { bytes } from '../format';
import { Copy } from './Copy';

interface Setting { path: string; value: string }

// Sliders go from 10 kB to 20 MB, each step as much more.
const kSteps = 200;
const kLeast = 10e3;
const kMost = 20e6;
export const octetsAt = (step: number) => Math.round((kLeast * (kMost / kLeast) ** (step / kSteps)) / 1000) * 1000;
export const stepAt = (octets: number) =>
  Math.max(0, Math.min(kSteps, Math.round((Math.log(octets / kLeast) / Math.log(kMost / kLeast)) * kSteps)));

// "400KB", "1.6MB", "64KiB"; NaN for what is no size.
export function octetsOf(text: string): number {
  const m = /^([0-9.]+) *(B|KB|MB|GB|KiB|MiB|GiB)$/.exec(text.trim());
  const units: Record<string, number> = { B: 1, KB: 1e3, MB: 1e6, GB: 1e9, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };
  return m ? Number(m[1]) * units[m[2]!]! : NaN;
}

function Ramp({ prefix, of, changed }: { prefix: string; of: Map<string, string>; changed: () => void }) {
  const said = (key: string, otherwise: number) => {
    const octets = octetsOf(of.get(`${prefix}.${key}`) ?? '');
    return stepAt(Number.isNaN(octets) ? otherwise : octets);
  };
  const [kmin, setKmin] = useState(said('kmin', 400e3));
  const [kmax, setKmax] = useState(said('kmax', 1600e3));
  const automatic = of.get(`${prefix}.kmin`) === 'auto';
  const pmax = Number((of.get(`${prefix}.pmax`) ?? '100%').replace('%', '')) / 100 || 1;
  const high = Math.max(kmax, kmin + 1);
  const sets = [`${prefix}.kmin=${octetsAt(kmin) / 1000}KB`, `${prefix}.kmax=${octetsAt(high) / 1000}KB`];
  const x = (step: number) => 10 + (step / kSteps) * 320;
  return (
    <div class="box ramp-box">
      <h3>{prefix}</h3>
      <svg viewBox="0 0 340 74" width="100%" role="img" aria-label={`Marked from ${bytes(octetsAt(kmin))} on, all above ${bytes(octetsAt(high))}`}>
        <line x1="10" y1="64" x2="330" y2="64" class="axis" />
        <polyline points={`10,64 ${x(kmin)},64 ${x(high)},${64 - 52 * pmax} ${x(high)},12 330,12`} class="ramp-line" />
      </svg>
      {(['kmin', 'kmax'] as const).map((key) => (
        <label key={key} class="slide">
          <span>{key}</span>
          <input type="range" min={key === 'kmin' ? 0 : 1} max={kSteps} value={key === 'kmin' ? kmin : high} disabled={readOnly.value}
                 aria-valuetext={bytes(octetsAt(key === 'kmin' ? kmin : high))}
                 onInput={(e) => (key === 'kmin' ? setKmin : setKmax)(Number(e.currentTarget.value))}
                 onChange={() => void tried(() => setPaths(sets, of)).then(changed)} />
          <output>{automatic ? 'auto' : bytes(octetsAt(key === 'kmin' ? kmin : high))}</output>
        </label>
      ))}
      <Copy text={setCommand(labName.value, sets)} />
    </div>
  );
}

export function Settings() {
  const [all, setAll] = useState<Setting[]>([]);
  const [text, setText] = useState('');
  const [problem, setProblem] = useState('');
  const look = () =>
    ask<{ settings: Setting[] }>('GET', '/settings').then(
      (s) => { setAll(s.settings.map((x) => ({ ...x, value: String(x.value) }))); setProblem(''); },
      (e: unknown) => setProblem(e instanceof Problem ? e.message : String(e)),
    );
  useEffect(() => void look(), []);
  const of = new Map(all.map((s) => [s.path, s.value]));
  // Of classes that mark.
  const ramps = all.filter((s) => s.path.endsWith('.ecn.kmin')).map((s) => s.path.replace(/\.kmin$/, ''));
  const shown = all.filter((s) => s.path.includes(text.trim()));
  return (
    <>
      {problem && <p class="refused" role="alert">{problem}</p>}
      <h3>ECN: packets marked, by depth of the queue</h3>
      {ramps.length === 0 && <p class="quiet">No class marks.</p>}
      {ramps.map((r) => <Ramp key={r} prefix={r} of={of} changed={() => void look()} />)}
      <div class="field"><label for="settings-text">Keys that contain</label><input id="settings-text" value={text} onInput={(e) => setText(e.currentTarget.value)} /></div>
      <table>
        <thead><tr><th scope="col">Key</th><th scope="col">Value; Enter sets it</th></tr></thead>
        <tbody>
          {shown.map((s) => (
            <tr key={s.path}>
              <td><code>{s.path}</code></td>
              <td>
                <form onSubmit={(e) => {
                  e.preventDefault();
                  const value = (e.currentTarget.elements[0] as HTMLInputElement).value;
                  void tried(() => setPaths([`${s.path}=${value}`], of)).then(() => look());
                }}>
                  <input aria-label={s.path} key={s.value} defaultValue={s.value} disabled={readOnly.value} autocomplete="off" spellcheck={false} />
                </form>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
