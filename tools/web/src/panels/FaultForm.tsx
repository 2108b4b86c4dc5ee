// A fault by form: its fields come from the schema of fabric files.
import { useMemo, useState } from 'preact/hooks';

import { addFault } from '../actions';
import { Problem } from '../api';
import { faultCommand } from '../commands';
import { commonFields, faultText, type Field, type Kind, kinds, type Scope } from '../faultForm';
import { labName, schema } from '../store';
import { Copy } from './Copy';

function Input({ id, field, value, set }: { id: string; field: Field; value: string; set: (v: string) => void }) {
  return (
    <div class="field">
      <label for={id}>{field.label}{field.required ? '' : <span class="thin"> (optional)</span>}</label>
      {field.input === 'switch' ? (
        <select id={id} value={value} onChange={(e) => set(e.currentTarget.value)}>
          <option value="">default</option>
          <option value="true">true</option>
          <option value="false">false</option>
        </select>
      ) : (
        <input id={id} inputMode={field.input === 'number' ? 'numeric' : 'text'} value={value} required={field.required}
               pattern={field.pattern ?? (field.input === 'number' ? '[0-9]+' : undefined)} title={field.hint}
               aria-describedby={field.hint ? `${id}-hint` : undefined} autocomplete="off" spellcheck={false}
               onInput={(e) => set(e.currentTarget.value)} />
      )}
      {field.hint && <p class="hint" id={`${id}-hint`}>{field.hint}</p>}
    </div>
  );
}

const kFirst = ['loss', 'down', 'crash', 'delay'];

export function FaultForm({ places, scopes, onDone }: { places: string[]; scopes: Scope[]; onDone: () => void }) {
  const all = useMemo(() => {
    const found = schema.value ? kinds(schema.value).filter((k) => k.scopes.some((s) => scopes.includes(s))) : [];
    // Those of what is selected first, and of these the common ones.
    const order = (k: Kind) => (k.scopes.includes(scopes[0]!) ? 0 : 100) + (kFirst.includes(k.key) ? kFirst.indexOf(k.key) : kFirst.length);
    return found.sort((a, b) => order(a) - order(b));
  }, [scopes.join()]);
  const common = useMemo(() => (schema.value ? commonFields(schema.value) : []), []);
  const [on, setOn] = useState(places[0] ?? '');
  const [key, setKey] = useState(all[0]?.key ?? '');
  const [way, setWay] = useState(0);
  const [values, setValues] = useState<Record<string, string>>({});
  const [times, setTimes] = useState<Record<string, string>>({});
  const [refused, setRefused] = useState('');
  const [busy, setBusy] = useState(false);
  const kind = all.find((k) => k.key === key);
  const variant = kind?.variants[way] ?? kind?.variants[0];
  if (!kind || !variant) return <p class="quiet">No faults apply here.</p>;
  const filled = Object.fromEntries(variant.fields.map((f) => [f.key, values[f.key] ?? f.initial]));
  const text = faultText(on, kind, variant, filled, times);
  return (
    <form class="fault-form" aria-label="Inject a fault"
          onSubmit={(e) => {
            e.preventDefault();
            setBusy(true);
            setRefused('');
            addFault(text)
              .then(onDone, (problem: unknown) => setRefused(problem instanceof Problem ? problem.message : String(problem)))
              .finally(() => setBusy(false));
          }}>
      <div class="pair">
        <div class="field">
          <label for="fault-kind">Fault</label>
          <select id="fault-kind" value={key} onChange={(e) => { setKey(e.currentTarget.value); setWay(0); setValues({}); setRefused(''); }}>
            {all.map((k) => <option key={k.key} value={k.key}>{k.key}</option>)}
          </select>
        </div>
        <div class="field">
          <label for="fault-on">On</label>
          <input id="fault-on" value={on} list="fault-places" required autocomplete="off" spellcheck={false} onInput={(e) => setOn(e.currentTarget.value)} />
          <datalist id="fault-places">{places.map((p) => <option key={p} value={p} />)}</datalist>
        </div>
      </div>
      <p class="hint">{kind.help}</p>
      {kind.variants.length > 1 && (
        <fieldset class="ways">
          <legend>Form</legend>
          {kind.variants.map((v, i) => (
            <label key={i}><input type="radio" name="fault-way" checked={way === i} onChange={() => { setWay(i); setValues({}); }} /> {v.label}</label>
          ))}
        </fieldset>
      )}
      {variant.fields.map((f) => (
        <Input key={`${key}.${way}.${f.key}`} id={`fault-${f.key || 'value'}`} field={f} value={filled[f.key] ?? ''} set={(v) => setValues({ ...values, [f.key]: v })} />
      ))}
      <details>
        <summary>When, how often, which frames</summary>
        {common.map((f) => (
          <Input key={f.key} id={`fault-when-${f.key}`} field={f} value={times[f.key] ?? ''} set={(v) => setTimes({ ...times, [f.key]: v })} />
        ))}
      </details>
      <Copy text={faultCommand(labName.value, text)} />
      {refused && <p class="refused" role="alert">{refused}</p>}
      <div class="acts">
        <button type="submit" class="danger" disabled={busy}>Inject</button>
        <button type="button" onClick={onDone}>Cancel</button>
      </div>
    </form>
  );
}
