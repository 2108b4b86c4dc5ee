// From the JSON schema of a fault to a form, and from the form to the text of a fault.

export interface Schema {
  description?: string;
  $ref?: string;
  const?: unknown;
  type?: string | string[];
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  default?: unknown;
}
export interface FabricSchema {
  $defs: Record<string, Schema>;
}

export interface Field {
  key: string; // empty: the value of the fault itself
  label: string;
  hint: string;
  input: 'text' | 'number' | 'switch';
  pattern?: string;
  minimum?: number;
  maximum?: number;
  required: boolean;
  initial: string;
}
// One way to say a fault's value: nothing (true), one value, or a map.
export interface Variant {
  label: string;
  map: boolean;
  fields: Field[];
}
export type Scope = 'link' | 'port' | 'switch' | 'host';
export interface Kind {
  key: string;
  help: string;
  scopes: Scope[];
  variants: Variant[];
}

// Keys of a fault that say when and to which frames, and not what.
export const kCommonKeys = ['after', 'for', 'every', 'count', 'probability'] as const;
const kNotKinds = new Set<string>([...kCommonKeys, 'name', 'on', 'at', 'match', 'when']);

// What a reader sees first in an empty field.
const kExamples: Record<string, string> = {
  duration: '10ms',
  probability: '1%',
  ratio: '1/2',
  size: '64KiB',
  rate: '10Gbps',
};

function resolved(schema: Schema, defs: Record<string, Schema>): { schema: Schema; name: string } {
  const name = schema.$ref?.replace('#/$defs/', '') ?? '';
  const def = name ? defs[name] : undefined;
  return def ? { schema: def, name } : { schema, name: '' };
}

function patternOf(schema: Schema): string | undefined {
  return schema.pattern ?? schema.anyOf?.find((s) => s.pattern)?.pattern;
}

function field(key: string, schema: Schema, required: boolean, defs: Record<string, Schema>): Field {
  const { schema: real, name } = resolved(schema, defs);
  const hints = [schema.description, name ? real.description : undefined].filter((h): h is string => !!h);
  const initial = schema.default === undefined ? '' : String(schema.default);
  const base = { key, label: key, hint: hints.join('; '), required, initial: required ? (kExamples[name] ?? initial) : '' };
  if (real.type === 'integer')
    return { ...base, input: 'number', minimum: real.minimum, maximum: real.maximum,
             initial: required ? String(real.minimum ?? 0) : '' };
  if (real.type === 'boolean') return { ...base, input: 'switch', initial };
  return { ...base, input: 'text', pattern: patternOf(real) };
}

function variant(schema: Schema, defs: Record<string, Schema>): Variant | null {
  if (schema.const === true) return { label: 'on', map: false, fields: [] };
  const { schema: real, name } = resolved(schema, defs);
  const isMap = real.properties !== undefined;
  if (isMap) {
    const fields = Object.entries(real.properties ?? {}).map(([key, s]) =>
      field(key, s, real.required?.includes(key) ?? false, defs),
    );
    return { label: real.description ?? name, map: true, fields };
  }
  if (real.type === 'array') return null; // its items stand beside it
  if (real.type === 'object')
    return { label: 'map', map: false, fields: [{ key: '', label: 'map', hint: 'such as { 26: 0 }', input: 'text', required: true, initial: '{ 26: 0 }' }] };
  const one = field('', schema, true, defs);
  return { label: 'value', map: false, fields: [{ ...one, label: name || 'value' }] };
}

function scopesOf(help: string): Scope[] {
  const of = help.split(':', 1)[0] ?? '';
  const scopes: Scope[] = [];
  if (/\blink\b|direction/.test(of)) scopes.push('link');
  if (/\bport\b|queue/.test(of)) scopes.push('port');
  if (/\bswitch\b/.test(of)) scopes.push('switch');
  if (/\bhost\b|\bNIC\b/.test(of)) scopes.push('host');
  return scopes.length ? scopes : ['link'];
}

// All kinds of faults that the schema has, in its order.
export function kinds(schema: FabricSchema): Kind[] {
  const fault = schema.$defs.fault;
  return Object.entries(fault?.properties ?? {})
    .filter(([key]) => !kNotKinds.has(key))
    .map(([key, s]) => {
      const help = s.description ?? '';
      const ways = (s.anyOf && !s.$ref ? s.anyOf : [s])
        .map((way) => variant({ ...way, description: way.description }, schema.$defs))
        .filter((v): v is Variant => v !== null);
      return { key, help: help.replace(/^[^:]*: /, ''), scopes: scopesOf(help), variants: ways };
    });
}

export function commonFields(schema: FabricSchema): Field[] {
  const properties = schema.$defs.fault?.properties ?? {};
  return kCommonKeys.flatMap((key) => {
    const s = properties[key];
    return s ? [{ ...field(key, s, false, schema.$defs), initial: '' }] : [];
  });
}

// A value as YAML in one line.
function plain(text: string): string {
  const trimmed = text.trim();
  if (/^[{[]/.test(trimmed)) return trimmed;
  return /^[A-Za-z0-9_][A-Za-z0-9_./%:*? +µ-]*$/.test(trimmed) ? trimmed : JSON.stringify(trimmed);
}

// "on: leaf1:1, loss: 1%, for: 10s".
export function faultText(
  on: string,
  kind: Kind,
  way: Variant,
  values: Record<string, string>,
  common: Record<string, string>,
): string {
  const filled = way.fields.filter((f) => (values[f.key] ?? '').trim() !== '');
  const value =
    way.fields.length === 0
      ? 'true'
      : way.map
        ? `{ ${filled.map((f) => `${f.key}: ${plain(values[f.key] ?? '')}`).join(', ')} }`
        : plain(values[''] ?? '');
  const more = Object.entries(common).filter(([, v]) => v.trim() !== '');
  return [`on: ${plain(on)}`, `${kind.key}: ${value}`, ...more.map(([k, v]) => `${k}: ${plain(v)}`)].join(', ');
}
