// The rules of the schema, from the catalog of a migrated database, each with the SQL that takes it away or weakens it.
import { conditionsOf, without } from './conditions.ts';

type Query = (sql: string, values?: unknown[]) => Promise<Record<string, unknown>[]>;

/** One rule, or one condition of a rule. */
export interface Rule {
  readonly id: string;
  /** A constraint, a unique index, a trigger, or `table.column` that may not be null. */
  readonly name: string;
  readonly table: string;
  /** Takes it away. */
  readonly remove: string;
}

const CONSTRAINTS = `select c.conname as name, r.relname as table, c.contype::text as type, pg_get_constraintdef(c.oid) as definition
  from pg_constraint c join pg_class r on r.oid = c.conrelid
  where c.connamespace = 'recoup'::regnamespace and c.contype in ('c', 'p', 'u', 'x', 'f') order by 2, 1`;
const UNIQUE = `select i.relname as name, r.relname as table from pg_index x join pg_class i on i.oid = x.indexrelid join pg_class r on r.oid = x.indrelid
  where i.relnamespace = 'recoup'::regnamespace and x.indisunique
    and not exists (select from pg_constraint c where c.conindid = x.indexrelid) order by 2, 1`;
const TRIGGERS = `select t.tgname as name, r.relname as table from pg_trigger t join pg_class r on r.oid = t.tgrelid
  where r.relnamespace = 'recoup'::regnamespace and not t.tgisinternal order by 2, 1`;
const NOT_NULL = `select a.attname as name, r.relname as table from pg_attribute a join pg_class r on r.oid = a.attrelid
  where r.relnamespace = 'recoup'::regnamespace and r.relkind = 'r' and a.attnum > 0 and a.attnotnull and not exists (
    select from pg_index x where x.indrelid = r.oid and x.indisprimary and a.attnum = any(x.indkey)) order by 2, a.attnum`;

/** Every rule of the schema, and for a CHECK of several conditions each of them. */
export async function rulesOf(query: Query): Promise<Rule[]> {
  const texts = async (sql: string) => (await query(sql)) as Record<'name' | 'table' | 'type' | 'definition', string>[];
  const rules: Rule[] = [];
  const add = (name: string, table: string, remove: string, id = name) =>
    rules.push({ id, name, table, remove: remove.replace('TABLE', `recoup.${table}`) });
  for (const { name, table, type, definition } of await texts(CONSTRAINTS)) {
    add(name, table, `alter table TABLE drop constraint ${name} cascade`);
    if (type !== 'c') continue;
    for (const condition of conditionsOf(definition).filter(({ kind }) => kind === 'conjunct')) {
      const weaker = `alter table TABLE drop constraint ${name}, add constraint ${name} ${without(definition, condition)}`;
      add(name, table, weaker, `${name} · ${condition.text}`);
    }
  }
  for (const { name, table } of await texts(UNIQUE)) add(name, table, `drop index recoup.${name}`);
  for (const { name, table } of await texts(TRIGGERS)) add(name, table, `drop trigger ${name} on TABLE`);
  for (const { name, table } of await texts(NOT_NULL)) {
    add(`${table}.${name}`, table, `alter table TABLE alter column ${name} drop not null`);
  }
  return rules;
}
