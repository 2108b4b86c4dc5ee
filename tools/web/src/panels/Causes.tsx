// What is wrong, as the doctor sees it: causes with their place, evidence and remedy.
import { useState } from 'preact/hooks';

import { ask, Problem } from '../api';
import { type Diagnosis, type Finding, placeOf } from '../causes';
import { doctorCommand } from '../commands';
import { percent } from '../format';
import { usePoll } from '../poll';
import { labName, layout, selection } from '../store';
import { Copy } from './Copy';

function Element({ name }: { name: string }) {
  const place = layout.value ? placeOf(layout.value, name) : null;
  if (!place) return <span>{name}</span>;
  return <button type="button" class="link" onClick={() => (selection.value = place)}>{name}</button>;
}

function Cause({ of: f }: { of: Finding }) {
  return (
    <li>
      <div class="fault-head">
        <b>{f.rule}</b>
        <span>at <Element name={f.element} /></span>
        <span class="badge drained">{percent(f.confidence)} sure</span>
      </div>
      <p>{f.finds}</p>
      <ul class="evidence">{f.evidence.map((line) => <li key={line}>{line}</li>)}</ul>
      <p><b>What to do:</b> {f.remedy}</p>
      <p class="quiet">It is something else if: {f.refuted_by}</p>
    </li>
  );
}

export function Causes() {
  const [seen, setSeen] = useState<Diagnosis | null>(null);
  const [problem, setProblem] = useState('');
  usePoll(5000, async () => {
    try {
      setSeen(await ask<Diagnosis>('GET', '/diagnosis'));
      setProblem('');
    } catch (e) {
      setProblem(e instanceof Problem ? e.message : String(e));
    }
  });
  return (
    <>
      <p class="quiet">Likely causes, from the counters of the whole session; the list of faults is not read.</p>
      {problem && <p class="refused" role="alert">{problem}</p>}
      {!seen && !problem && <p class="quiet">Loading…</p>}
      {seen && seen.findings.length === 0 && <p>Nothing found.</p>}
      {seen && seen.findings.length > 0 && <ul class="list">{seen.findings.map((f) => <Cause key={`${f.rule} ${f.element}`} of={f} />)}</ul>}
      <Copy text={doctorCommand(labName.value)} />
    </>
  );
}
