// The form of every statement: constant SQL under a name, one JSON parameter with named and typed fields, one JSON answer.
import { createHash } from 'node:crypto';
import { inSchema } from './schema.ts';

/** The SQL types a field of the input may have, and what they are in TypeScript. */
interface SqlTypes {
  text: string;
  bigint: number;
  int: number;
  smallint: number;
  boolean: boolean;
  jsonb: unknown;
  timestamptz: string;
}
export type Columns = Readonly<Record<string, keyof SqlTypes>>;

/** One input of a statement: its columns by name; null and absent are the same. */
export type InputOf<C extends Columns> = { [K in keyof C]?: SqlTypes[C[K]] | null | undefined };

/**
 * How a statement meets a row that another transaction holds: `shared` passes over it and answers `busy`, `patient`
 * waits for it (under lock_timeout). Shared batches use the first, so that one slow transaction stalls only itself.
 */
export type LockMode = 'shared' | 'patient';

export interface Statement<C extends Columns, A> {
  readonly name: string;
  readonly columns: C;
  /** The text in a lock mode, in the default schema, as psql would take it. */
  readonly text: Readonly<Record<LockMode, string>>;
  /** Whether an input whose row another transaction holds is sent again by a statement that waits; else it is answered `busy`. */
  readonly waits: boolean;
  /**
   * What names the row that a statement holds first: a column of the input (a wallet, an upstream), or, where only the statement knows it, what
   * the answer `busy` names as `held`.
   */
  readonly holds: string;
  /** How many of its batches may be on their way at once; they never share a wallet. */
  readonly atOnce: number;
  /** Never set: carries the type of one answer. */
  readonly answer?: A;
}

/**
 * Declares a statement. `body` starts after the CTE `input`, which has one row per input with the columns named in
 * `columns` and `ord`, counted from 1; it must select one row with the column `answer`: a JSON array as text, each
 * element with its `ord`. One text in and one text out, because that is the same through every driver.
 */
export function statement<const C extends Columns, A>(
  name: string,
  columns: C,
  body: (lock: 'skip locked' | '') => string,
  { waits = true, atOnce = 1, holds = 'wallet_id' }: { waits?: boolean; atOnce?: number; holds?: string } = {},
): Statement<C, A> {
  const names = Object.keys(columns);
  const declared = names.map((column) => `${column} ${columns[column]}`).join(', ');
  const selected = names.map((column) => (columns[column] === 'text' ? `${column} collate "C" as ${column}` : column));
  const text = (lock: 'skip locked' | '') =>
    qualified(`/* ${name} */
with input as materialized (
  select ord, ${selected.join(', ')}
  from rows from (jsonb_to_recordset($1::text::jsonb) as (${declared})) with ordinality as i(${names.join(', ')}, ord)),
${body(lock).trim()}`);
  return { name, columns, waits, atOnce, holds, text: { shared: text('skip locked'), patient: text('') } };
}

/**
 * The end of a statement that answers each input: its `ord`, its outcome and what else is named. As arrays below one list
 * of names, because an object for each row takes PostgreSQL twice as long to write.
 */
export const answerEach = (from: string, outcome: string, others: Readonly<Record<string, string>>) => {
  const values = Object.values(others).map((sql) => `,\n    ${sql}`);
  return `
select json_build_object(
  'names', '${JSON.stringify(['ord', 'outcome', ...Object.keys(others)])}'::json,
  'rows', coalesce(json_agg(json_build_array(ord,
    ${outcome}${values.join('')})), '[]'))::text as answer
from ${from}`;
};

/**
 * The functions that take any type, by their full names: another schema on a caller's search_path may have one of that
 * name for exactly our type, and PostgreSQL would take that one.
 */
const POLYMORPHIC =
  /(?<![.\w])(json_agg|jsonb_agg|json_build_object|json_build_array|jsonb_build_array|jsonb_build_object|json_object_agg|array_remove|array_position|count|max|min)\(/g;
const qualified = (sql: string) => sql.replaceAll(POLYMORPHIC, 'pg_catalog.$1(');

export interface Rendered {
  readonly text: string;
  /** Name of the prepared statement: carries a hash of the text, so that two releases never share one. */
  readonly prepared: string;
}

const rendered = new Map<string, WeakMap<object, Record<LockMode, Rendered>>>();

/** The text for a schema, made once. */
export function render(of: Statement<Columns, unknown>, mode: LockMode, schema: string): Rendered {
  let cache = rendered.get(schema);
  if (!cache) {
    cache = new WeakMap();
    rendered.set(schema, cache);
  }
  let both = cache.get(of);
  if (!both) {
    both = {
      shared: renderText(of.text.shared, of.name, schema),
      patient: renderText(of.text.patient, of.name, schema),
    };
    cache.set(of, both);
  }
  return both[mode];
}

function renderText(text: string, name: string, schema: string): Rendered {
  const moved = inSchema(text, schema);
  const hash = createHash('sha256').update(moved).digest('hex').slice(0, 12);
  return { text: moved, prepared: `${name}.${hash}` };
}

/** The JSON of one input, without what is null: PostgreSQL reads every field that is there. */
export function encode<C extends Columns>(of: Statement<C, unknown>, input: InputOf<C>): string {
  let json = '';
  for (const column in of.columns) {
    const value = input[column];
    if (value !== null && value !== undefined) json += `${json === '' ? '{' : ','}"${column}":${JSON.stringify(value)}`;
  }
  return json === '' ? '{}' : `${json}}`;
}
export function encodeBatch(inputs: readonly string[]): string {
  return `[${inputs.join(',')}]`;
}
