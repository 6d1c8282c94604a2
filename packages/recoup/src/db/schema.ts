// The one place that knows the schema's name: every statement is written for `recoup` and moved to another name here.

/** The schema that statements and migrations are written for. */
export const DEFAULT_SCHEMA = 'recoup';

const NAME = /^[a-z_][a-z0-9_]{0,62}$/;
const TAKEN = new Set(['public', 'information_schema']);

/** What a schema of Recoup may be called. */
export const SCHEMA_RULE =
  'lower-case letters, digits and _, at most 63, not starting with a digit or pg_, not public or information_schema';

export function isSchemaName(name: unknown): name is string {
  return typeof name === 'string' && NAME.test(name) && !name.startsWith('pg_') && !TAKEN.has(name);
}

/** The name as SQL writes it: quoted, for it may be a word of SQL. */
export const quoted = (schema: string) => (schema === DEFAULT_SCHEMA ? schema : `"${schema}"`);

/** The same SQL in another schema. The text as written is what psql reads; only the name before the dot changes. */
export function inSchema(sql: string, schema: string): string {
  return schema === DEFAULT_SCHEMA ? sql : sql.replaceAll(/\brecoup\.(?=[a-z_])/g, `${quoted(schema)}.`);
}
