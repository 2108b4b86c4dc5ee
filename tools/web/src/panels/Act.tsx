// A button that waits for its answer.
import { useState } from 'preact/hooks';

import { tried } from '../actions';

export function Act({ label, act, kind = '', disabled = false }: { label: string; act: () => Promise<void>; kind?: string; disabled?: boolean }) {
  const [busy, setBusy] = useState(false);
  return (
    <button type="button" class={kind} disabled={busy || disabled}
            onClick={() => {
              setBusy(true);
              void tried(act).finally(() => setBusy(false));
            }}>
      {label}
    </button>
  );
}
