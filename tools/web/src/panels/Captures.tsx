// Captures of a link: started, stopped, downloaded.
import { useState } from 'preact/hooks';

import { forgetCapture, stopCapture, startCapture } from '../actions';
import { captures, fileOf, isKept, loadCaptures, type Capture } from '../captures';
import { captureCommand } from '../commands';
import { bytes, count } from '../format';
import { usePoll } from '../poll';
import { labName, readOnly } from '../store';
import { Act } from './Act';
import { Copy } from './Copy';

function Row({ capture: c }: { capture: Capture }) {
  const ended = c.state === 'ended';
  return (
    <li>
      <div class="fault-head">
        <b>Capture {c.id} of {c.port}</b>
        <span class={`badge ${ended ? 'gone' : 'up'}`}>{ended ? (c.full ? 'ended: full' : 'ended') : c.state}</span>
      </div>
      <p class="quiet">
        {count(c.captured)} frames{isKept(c) && `, ${bytes(c.kept_bytes!)}`}{c.lost > 0 && `, ${count(c.lost)} not captured`}
        {c.direction !== 'both' && `, ${c.direction} only`}
      </p>
      {!readOnly.value && isKept(c) && (
        <div class="acts">
          {ended
            ? <>
                <a class="button" href={fileOf(c)} download>Download</a>
                <Act key="forget" label="Forget" act={() => forgetCapture(c.id)} />
              </>
            : <Act key="stop" label="Stop capture" kind="danger" act={() => stopCapture(c.id)} />}
        </div>
      )}
    </li>
  );
}

// `ports`: of what is selected; none: of the whole lab, to look at.
export function Captures({ ports }: { ports: string[] }) {
  const [port, setPort] = useState(ports[0] ?? '');
  const [direction, setDirection] = useState<'both' | 'in' | 'out'>('both');
  usePoll(1000, loadCaptures);
  const shown = captures.value.filter((c) => ports.length === 0 || ports.includes(c.port));
  if ((ports.length === 0 || readOnly.value) && shown.length === 0) return null;
  return (
    <section class="captures" aria-label="Captures">
      <h3>Captures</h3>
      {ports.length > 0 && !readOnly.value && (
        <>
          <div class="acts">
            <select aria-label="Port to capture" value={port} onChange={(e) => setPort(e.currentTarget.value)}>
              {ports.map((p) => <option key={p} value={p}>{p}</option>)}
            </select>
            <select aria-label="Frames to capture" value={direction} onChange={(e) => setDirection(e.currentTarget.value as typeof direction)}>
              <option value="both">in and out</option><option value="in">received</option><option value="out">sent</option>
            </select>
            <Act label="Start capture" act={() => startCapture(port, direction)} />
          </div>
          <Copy text={captureCommand(labName.value, port, direction)} />
        </>
      )}
      {shown.length > 0 && <ul class="names">{shown.map((c) => <Row key={c.id} capture={c} />)}</ul>}
    </section>
  );
}
