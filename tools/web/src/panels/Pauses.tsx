// Who pauses whom: now, or at the instant that is looked at; drawn over the fabric while it is shown.
import { useEffect, useState } from 'preact/hooks';

import { ask, Problem } from '../api';
import { pausesCommand } from '../commands';
import { clock } from '../format';
import { usePoll } from '../poll';
import { labName, layout, sample, scrubbedTo, selection } from '../store';
import { clearOverlay, endAt, overlay, type PauseTree, portOfQueue, showTrees } from '../ways';
import { Copy } from './Copy';

interface Answer { unix_seconds: number; trees: PauseTree[] }

function Queue({ name }: { name: string }) {
  return (
    <button type="button" class="link" onClick={() => {
      const end = layout.value ? endAt(layout.value, portOfQueue(name)) : -1;
      if (end >= 0) selection.value = { kind: 'link', link: end >> 1 };
    }}>{name}</button>
  );
}

function Tree({ tree }: { tree: PauseTree }) {
  return (
    <li>
      <b><Queue name={tree.root} /></b> <span class="quiet">is the root</span>
      {tree.levels.map((level, depth) => (
        <div key={depth} class="tree">
          <span class="quiet">{depth === 0 ? 'pauses' : `and so, ${depth + 1} hops back`}</span>
          <ul class="names">{level.map((q) => <li key={q}><Queue name={q} /></li>)}</ul>
        </div>
      ))}
    </li>
  );
}

export function Pauses() {
  const [answer, setAnswer] = useState<Answer | null>(null);
  const [problem, setProblem] = useState('');
  const at = scrubbedTo.value;
  usePoll(1000, async () => {
    try {
      const t = at ?? sample.value?.unix_seconds ?? Date.now() / 1000;
      const seen = await ask<Answer>('GET', `/pauses?at=${t.toFixed(3)}`);
      setAnswer(seen);
      setProblem('');
      const of = layout.value;
      if (!of) return;
      if (seen.trees.length > 0) showTrees(of, at === null ? 'Pauses now' : `Pauses at ${clock(at)}`, seen.trees);
      else if (overlay.value?.kind === 'pauses') clearOverlay();
    } catch (e) {
      setProblem(e instanceof Problem ? e.message : String(e));
    }
  }, [at]);
  useEffect(() => () => { if (overlay.value?.kind === 'pauses') clearOverlay(); }, []);
  const trees = answer?.trees ?? [];
  return (
    <>
      <p class="quiet">PFC pauses {at === null ? 'now' : `at ${clock(at)}`}. An arrow leads from who pauses to who is paused; a diamond is the root.
        “Look back” in the charts shows earlier ones.</p>
      {problem && <p class="refused" role="alert">{problem}</p>}
      {answer && trees.length === 0 && <p>No queue is paused.</p>}
      {trees.length > 0 && <ul class="list">{trees.map((t) => <Tree key={t.root} tree={t} />)}</ul>}
      <Copy text={pausesCommand(labName.value)} />
    </>
  );
}
