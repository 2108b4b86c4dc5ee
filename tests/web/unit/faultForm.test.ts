// From the schema of fabric files, as the daemon serves it, to forms and texts of faults.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

import { commonFields, type FabricSchema, faultText, kinds } from '../src/faultForm';

const schema = JSON.parse(readFileSync(process.env.FABRIC_SCHEMA!, 'utf8')) as FabricSchema;
const all = kinds(schema);
const kind = (key: string) => all.find((k) => k.key === key)!;

describe('the form of a fault', () => {
  it('has every kind of the schema, and no key that says when or where', () => {
    const keys = all.map((k) => k.key);
    expect(keys).toContain('loss');
    expect(keys).toContain('pfc-storm');
    expect(keys).toContain('skew');
    for (const key of ['on', 'name', 'for', 'match', 'when', 'at']) expect(keys).not.toContain(key);
    expect(all.every((k) => k.variants.length > 0)).toBe(true);
  });

  it('offers kinds where they apply', () => {
    expect(kind('loss').scopes).toEqual(['link']);
    expect(kind('crash').scopes).toEqual(['switch']);
    expect(kind('ignore-pause').scopes).toEqual(['port']);
    expect(kind('stop-receiving').scopes).toEqual(['host']);
    expect(kind('ecn').scopes).toEqual(['port', 'switch']);
  });

  it('offers a value or a map where the schema has both', () => {
    const delay = kind('delay');
    expect(delay.variants.map((v) => v.map)).toEqual([false, true]);
    expect(delay.variants[1]!.fields.map((f) => f.key)).toEqual(['time', 'jitter', 'jitter-up', 'in-order']);
    expect(delay.variants[1]!.fields[0]!.required).toBe(true);
    expect(delay.variants[1]!.fields[1]!.required).toBe(false);
  });

  it('begins with values that its own patterns accept', () => {
    for (const k of all)
      for (const v of k.variants)
        for (const f of v.fields)
          if (f.required && f.pattern) expect(f.initial, `${k.key}.${f.key}`).toMatch(new RegExp(f.pattern, 'u'));
  });
});

describe('the text of a fault', () => {
  it('says a value, a map, or true', () => {
    expect(faultText('leaf1:1', kind('loss'), kind('loss').variants[0]!, { '': '1%' }, {})).toBe('on: leaf1:1, loss: 1%');
    expect(faultText('spine1', kind('crash'), kind('crash').variants[0]!, {}, { for: '2s' })).toBe('on: spine1, crash: true, for: 2s');
    expect(faultText('leaf1:1', kind('flap'), kind('flap').variants[0]!, { down: '10ms', up: '1s' }, {}))
      .toBe('on: leaf1:1, flap: { down: 10ms, up: 1s }');
  });
  it('leaves out what is empty', () => {
    const d = kind('delay');
    expect(faultText('leaf1:1 out', d, d.variants[1]!, { time: '5us', jitter: ' ' }, { every: '' })).toBe('on: leaf1:1 out, delay: { time: 5us }');
  });
  it('quotes what YAML would read as something else', () => {
    expect(faultText('*', kind('crash'), kind('crash').variants[0]!, {}, {})).toBe('on: "*", crash: true');
    expect(faultText('leaf1:1', kind('loss'), kind('loss').variants[0]!, { '': '1%, for: 1s' }, {})).toBe('on: leaf1:1, loss: "1%, for: 1s"');
  });
  it('has fields for when it acts', () => {
    expect(commonFields(schema).map((f) => f.key)).toEqual(['after', 'for', 'every', 'count', 'probability']);
  });
});
