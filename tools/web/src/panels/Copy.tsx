// A command, and a button that copies it.
import { useState } from 'preact/hooks';

import { message } from '../store';

export function Copy({ text, label = 'Copy as railyard command' }: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false);
  return (
    <div class="copy">
      <code tabIndex={0}>{text}</code>
      <button type="button" aria-label={label} title={label}
              onClick={() => {
                void navigator.clipboard?.writeText(text).then(() => {
                  setCopied(true);
                  message.value = 'Copied';
                  setTimeout(() => setCopied(false), 1500);
                });
              }}>
        {copied ? '✓' : (
          <svg width="13" height="13" viewBox="0 0 13 13" aria-hidden="true">
            <rect x="1" y="1" width="8" height="8" rx="1.5" fill="none" stroke="currentColor" stroke-width="1.4" />
            <path d="M11 4.5a1 1 0 0 1 1 1V11a1 1 0 0 1-1 1H5.5a1 1 0 0 1-1-1" fill="none" stroke="currentColor" stroke-width="1.4" />
          </svg>
        )}
      </button>
    </div>
  );
}
