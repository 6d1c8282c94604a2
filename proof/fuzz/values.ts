// Values as JSON text: what a schema takes, and what somebody who means harm sends instead.
import fc, { type Arbitrary } from 'fast-check';

export interface Schema {
  type?: string | string[];
  format?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  patternProperties?: Record<string, Schema>;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  $ref?: string;
}

/** Names and numbers that lead somewhere: without them a request would hardly get past the first look-up. */
export type Pools = Readonly<Record<string, readonly string[]>>;

const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
const objects = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;

const NUMBERS = `0 -0 -1 1 0.5 1.0 1e0 1e2 1e-400 1e400 -1e400 2147483647 2147483648 -2147483649 9007199254740991
  9007199254740992 9007199254740993 -9007199254740991 99999999999999999999999 1E+3 0.1e1`.split(/\s+/);

const TEXTS = [
  '',
  ' ',
  '.',
  '..',
  '../../etc/passwd',
  '\u0000',
  'a\u0000b',
  '\u001b[2J',
  'a\r\nset-cookie: x=1',
  '\u202egnp',
  '\u2028',
  'Ä',
  'A\u0308',
  'ﬀ',
  '👩‍👩‍👧',
  '*',
  '@/etc/passwd',
  "' or 1=1 --",
  '$1',
  '{{x}}',
  '%',
  '%00',
  '%2e%2e',
  'null',
  'true',
  '0',
  '1e3',
  '0x10',
  '-1',
  '__proto__',
  'constructor',
  'toString',
  'recoup',
  '2026-02-30T00:00:00Z',
  '2026-01-01',
  '0000-01-01T00:00:00Z',
  '9999-12-31T23:59:59Z',
  '+275760-09-13T00:00:00Z',
  '2026-01-01T00:00:00+99:99',
  '2016-12-31T23:59:60Z',
  'x'.repeat(201),
  'é'.repeat(200),
  '𝒳'.repeat(200),
  'x'.repeat(5000),
];

/** JSON that no field expects, or only some do. */
export const hostile: Arbitrary<string> = fc.oneof(
  { withCrossShrink: true },
  fc.constantFrom('null', 'true', 'false', '[]', '{}', '""', '[null]', '{"":0}'),
  fc.constantFrom(...NUMBERS),
  fc.constantFrom(...TEXTS.map((text) => JSON.stringify(text))),
  // Escapes that are no character, keys that mean something to an engine, a key twice.
  fc.constantFrom('"\\ud800"', '"\\udc00x"', '"\\u0000"', '{"\\u0000":1}', '{"a":1,"a":2}', '{"toJSON":1}'),
  fc.constantFrom('{"__proto__":{"admin":true}}', '{"constructor":{"prototype":{"x":1}}}', '{"\\u005f_proto__":1}'),
  fc.constantFrom(nested(40), nested(5000), objects(200), objects(20_000), `[${'0,'.repeat(20_000)}0]`),
  fc.string({ unit: 'binary', maxLength: 300 }).map((text) => JSON.stringify(text)),
  fc.json({ maxDepth: 5 }),
  fc.maxSafeInteger().map(String),
  fc.double().map((number) => JSON.stringify(number)),
);

const DAY = 86_400_000;
const instants = (now: number) => [now - DAY, now - 1000, now, now + DAY].map((ms) => new Date(ms).toISOString());

function texts(schema: Schema, field: string, pools: Pools): Arbitrary<string> {
  if (schema.format === 'date-time') return fc.constantFrom(...instants(Date.UTC(2026, 5, 1)));
  const known = pools[field];
  const any = fc.string({
    unit: 'grapheme',
    minLength: schema.minLength ?? 0,
    maxLength: Math.min(schema.maxLength ?? 40, 40),
  });
  return known ? fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...known) }, { weight: 1, arbitrary: any }) : any;
}

const ofSchema = (pools: Pools, resolve: (schema: Schema) => Schema) => {
  const valid = (given: Schema, field: string): Arbitrary<string> => {
    const schema = resolve(given);
    if (schema.enum) return fc.constantFrom(...schema.enum.map((one) => JSON.stringify(one)));
    if (schema.anyOf) return fc.oneof(...schema.anyOf.map((one) => valid(one, field)));
    switch (schema.type) {
      case 'null':
        return fc.constant('null');
      case 'boolean':
        return fc.constantFrom('true', 'false');
      case 'integer': {
        const { minimum: min = -1000, maximum: max = 1000 } = schema;
        const near = Math.min(max, min + (pools.waits?.includes(field) ? 50 : 1000));
        const edges = pools.waits?.includes(field) ? [min] : [min, max];
        return fc
          .oneof(
            { weight: 5, arbitrary: fc.integer({ min, max: near }) },
            { weight: 1, arbitrary: fc.constantFrom(...edges) },
          )
          .map(String);
      }
      case 'string':
        return texts(schema, field, pools).map((text) => JSON.stringify(text));
      case 'array':
        return fc
          .array(schema.items ? mixed(schema.items, field) : hostile, { maxLength: 4 })
          .map((items) => `[${items.join(',')}]`);
      case 'object':
        return body(schema).map(textOf);
      default:
        return fc.json({ maxDepth: 3 });
    }
  };
  /** Mostly right. */
  const mixed = (schema: Schema, field: string): Arbitrary<string> =>
    fc.oneof({ weight: 12, arbitrary: valid(schema, field) }, { weight: 1, arbitrary: hostile });
  /** Fields with their values; some are left out, some are not known, some come twice. */
  const body = (given: Schema): Arbitrary<[string, string][]> => {
    const { properties = {}, required = [] } = resolve(given);
    const own = Object.entries(properties).map(([field, schema]) =>
      fc
        .option(mixed(schema, field), { freq: required.includes(field) ? 25 : 1 })
        .map((text) => (text === null ? [] : [[field, text] as [string, string]])),
    );
    const names = fc.constantFrom(
      '__proto__',
      'constructor',
      'toString',
      '',
      'a b',
      '\u0000',
      'Ä',
      ...Object.keys(properties),
    );
    const others = fc.array(fc.tuple(names, hostile), { maxLength: 2 });
    const extra = fc.oneof({ weight: 9, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: others });
    return fc.tuple(fc.tuple(...own), extra).map(([fields, more]) => [...fields.flat(), ...more]);
  };
  return { mixed, body };
};

/** Generators for schemas; `resolve` follows references. */
export const generators = ofSchema;

/** Fields as the text of an object, in their order, also where a name comes twice. */
export const textOf = (fields: readonly (readonly [string, string])[]): string =>
  `{${fields.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`;

/** A JSON text as a path or a query holds it. */
export function bare(text: string): string {
  if (!text.startsWith('"')) return text;
  return String(JSON.parse(text)).toWellFormed();
}
