// Parts of the page that come when they are first shown: the picture does not wait for them.
import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';

// `load` is called once. Until it has come: `placeholder`, or why it cannot.
export function later<P extends object>(load: () => Promise<ComponentType<P>>, placeholder = 'Loading…'): ComponentType<P> {
  const come = signal<{ part: ComponentType<P> | null; problem: string }>({ part: null, problem: '' });
  let asked = false;
  const ask = () => {
    if (asked) return;
    asked = true;
    load().then(
      (part) => (come.value = { part, problem: '' }),
      (e: unknown) => {
        asked = false; // shown again, it is asked for again
        come.value = { part: null, problem: String(e instanceof Error ? e.message : e) };
      },
    );
  };
  return function Later(props: P) {
    useEffect(ask, []);
    const { part: Part, problem } = come.value;
    if (Part) return <Part {...props} />;
    return problem ? <p class="refused" role="alert">This part of the page did not load: {problem}</p> : <p class="quiet">{placeholder}</p>;
  };
}
