// The one place that knows the schema's name: every statement is written for `recoup` and moved to another name here.

/** The schema that statements and migrations are written for. */
export const DEFAULT_SCHEMA = 'recoup';

const NAME = /^[a-z_][a-z0-9_]{0,62}$/;

/** Whether a name can be a schema of Recoup: lower-case letters, digits and `_`, at most 63, not starting with a digit. */
export function isSchemaName(name: string): boolean {
  return NAME.test(name) && !name.startsWith('pg_');
}

/** The same SQL in another schema. The text as written is what psql reads; only the name before the dot changes. */
export function inSchema(sql: string, schema: string): string {
  return schema === DEFAULT_SCHEMA ? sql : sql.replaceAll(/\brecoup\.(?=[a-z_])/g, `${schema}.`);
}
