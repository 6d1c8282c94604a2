// What the role that serves may do: the least that every call needs. The role that migrates owns the schema and keeps the rest.
import { InvalidInput } from '../errors.ts';
import type { Queryable } from './database.ts';
import { asRefusal } from './failures.ts';
import { inSchema, isSchemaName, quoted, SCHEMA_RULE } from './schema.ts';

/**
 * The rights by table; a test holds it to the migrations. Entries and wallets are never deleted, entries and the terms of grants never changed;
 * nor are upstreams, limits, blocks and snapshots, nor what happened to an upstream or a block, nor notes of the inbox, nor alerts. Jobs, attempts, lease
 * requests, uses, seconds that rolled and deliveries are deleted by pruning, endpoints by whoever registered them; notes may be erased, which is a person's work.
 */
export const RIGHTS: Readonly<Record<string, string>> = {
  migrations: 'select',
  wallets: 'select, insert, update',
  entries: 'select, insert',
  notes: 'select, insert',
  grants: 'select, insert',
  grant_entries: 'select, insert',
  payments: 'select, insert, update',
  payment_ids: 'select, insert',
  plans: 'select, insert, update',
  subscriptions: 'select, insert, update',
  subscription_periods: 'select, insert, update',
  subscription_events: 'select, insert',
  queues: 'select, insert, update',
  jobs: 'select, insert, update, delete',
  attempts: 'select, insert, delete',
  lease_requests: 'select, insert, update, delete',
  api_keys: 'select, insert, update',
  secrets: 'select, insert',
  upstreams: 'select, insert, update',
  blocks: 'select, insert, update',
  block_events: 'select, insert',
  upstream_events: 'select, insert',
  upstream_leases: 'select, insert, update, delete',
  limits: 'select, insert, update',
  windows: 'select, insert, update, delete',
  uses: 'select, insert, delete',
  snapshots: 'select, insert, update',
  probers: 'select, insert, update, delete',
  probes: 'select, insert, update, delete',
  affinities: 'select, insert, update, delete',
  inbox_notes: 'select, insert',
  alerts: 'select, insert, update',
  alert_events: 'select, insert',
  webhook_endpoints: 'select, insert, update, delete',
  webhook_secrets: 'select, insert, update, delete',
  webhook_deliveries: 'select, insert, update, delete',
  // Opened by the role that owns the schema.
  epochs: 'select',
};

/**
 * Columns that only their default fills. Who chose a position could hide an entry behind every cursor of the feed, or put
 * one ahead of all of them, where the feed stands still.
 */
export const FILLED_BY_DEFAULT: Readonly<Record<string, string>> = {
  entries: 'tx',
  attempts: 'tx',
  block_events: 'tx',
  alert_events: 'tx',
  subscription_events: 'tx',
};

/** Of the role that serves, where the schema is still to be made by the one that asks, too: whether it is there, and why rights would not restrict it. */
const ROLE = `select r.oid is not null as there, coalesce(r.rolsuper, false) as super,
  coalesce(pg_has_role(r.oid, coalesce(n.nspowner, current_user::regrole), 'member'), false) as owns
  from (values ($1::text, $2::text)) v (role, schema)
  left join pg_roles r on r.rolname = v.role left join pg_namespace n on n.nspname = v.schema`;

/** The columns of those tables that may be written, as a list for `grant`; from the catalog, so that none is forgotten. */
const COLUMNS = `select f.name, string_agg(quote_ident(a.attname), ', ' order by a.attnum) as columns
  from unnest($2::text[], $3::text[]) f (name, filled)
  join pg_class c on c.relname = f.name join pg_namespace n on n.oid = c.relnamespace and n.nspname = $1
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attname <> f.filled
  group by f.name`;

/** Refuses what `grantTo` would refuse, and changes nothing: before a migration, so that a misspelt role stops that too. */
export async function checkGrantee(client: Queryable, schema: string, role: string): Promise<void> {
  if (!isSchemaName(schema)) throw new InvalidInput('schema', SCHEMA_RULE);
  const [found] = await rowsOf<{ there: boolean; super: boolean; owns: boolean }>(client, ROLE, [role, schema]).catch(
    (error: unknown) => {
      throw asRefusal(error, false);
    },
  );
  if (!found?.there) throw new InvalidInput('grantTo', `must name a role that is there; got ${JSON.stringify(role)}`);
  if (found.super) throw new InvalidInput('grantTo', 'is a superuser: no right restricts it');
  if (found.owns)
    throw new InvalidInput('grantTo', 'owns the schema: migrate with another role than the one that serves');
}

/**
 * Lets a role serve on a schema and do nothing else there: rights it had and does not need are taken away. Repeat it after
 * a migration. Refuses `invalid` where there is no such role, or where it is a superuser or owns the schema.
 */
export async function grantTo(client: Queryable, schema: string, role: string): Promise<void> {
  await checkGrantee(client, schema, role);
  try {
    const filled = [schema, Object.keys(FILLED_BY_DEFAULT), Object.values(FILLED_BY_DEFAULT)];
    const columns = new Map<string, string>();
    for (const row of await rowsOf<{ name: string; columns: string }>(client, COLUMNS, filled)) {
      columns.set(row.name, row.columns);
    }
    // One text is one transaction: nobody sees the role without what it had.
    await client.query(inSchema(statements(quoted(schema), `"${role.replaceAll('"', '""')}"`, columns), schema), []);
  } catch (error) {
    throw asRefusal(error, false);
  }
}

async function rowsOf<T>(client: Queryable, sql: string, values: unknown[]): Promise<T[]> {
  const result = await client.query(sql, values);
  return (Array.isArray(result) ? result : result.rows) as T[];
}

// Taking the rights on a table away takes those on its columns away, too.
const statements = (schema: string, role: string, columns: ReadonlyMap<string, string>): string =>
  [
    `revoke all on schema ${schema} from ${role}`,
    `grant usage on schema ${schema} to ${role}`,
    `revoke all on all tables in schema ${schema} from ${role}`,
    ...Object.entries(RIGHTS).map(([table, rights]) => {
      const of = columns.get(table);
      const narrowed = of === undefined ? rights : rights.replace('insert', `insert (${of})`);
      return `grant ${narrowed} on recoup.${table} to ${role}`;
    }),
  ].join(';\n');
