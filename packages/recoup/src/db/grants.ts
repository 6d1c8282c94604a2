// What the role that serves may do: the least that every call needs. The role that migrates owns the schema and keeps the rest.
import { InvalidInput } from '../errors.ts';
import type { Queryable } from './database.ts';
import { asRefusal } from './failures.ts';
import { inSchema, isSchemaName, quoted, SCHEMA_RULE } from './schema.ts';

/**
 * The rights by table; a test holds it to the migrations. Entries and wallets are never deleted, entries never changed.
 * Jobs, attempts and lease requests are deleted by pruning; notes may be erased, which is a person's work.
 */
export const RIGHTS: Readonly<Record<string, string>> = {
  migrations: 'select',
  wallets: 'select, insert, update',
  entries: 'select, insert',
  notes: 'select, insert',
  queues: 'select, insert, update',
  jobs: 'select, insert, update, delete',
  attempts: 'select, insert, delete',
  lease_requests: 'select, insert, update, delete',
  api_keys: 'select, insert, update',
  secrets: 'select, insert',
  // Opened by the role that owns the schema.
  epochs: 'select',
};

/** Of the role that serves: whether it is there, and why rights would not restrict it. */
const ROLE = `select r.oid is not null as there, coalesce(r.rolsuper, false) as super,
  coalesce(pg_has_role(r.oid, n.nspowner, 'member'), false) as owns
  from (values ($1::text, $2::text)) v (role, schema)
  left join pg_roles r on r.rolname = v.role left join pg_namespace n on n.nspname = v.schema`;

/**
 * Lets a role serve on a schema and do nothing else there: rights it had and does not need are taken away. Repeat it after
 * a migration. Refuses `invalid` where there is no such role, or where it is a superuser or owns the schema.
 */
export async function grantTo(client: Queryable, schema: string, role: string): Promise<void> {
  if (!isSchemaName(schema)) throw new InvalidInput('schema', SCHEMA_RULE);
  try {
    const result = await client.query(ROLE, [role, schema]);
    const [found] = (Array.isArray(result) ? result : result.rows) as {
      there: boolean;
      super: boolean;
      owns: boolean;
    }[];
    if (!found?.there) throw new InvalidInput('grantTo', `must name a role that is there; got ${JSON.stringify(role)}`);
    if (found.super) throw new InvalidInput('grantTo', 'is a superuser: no right restricts it');
    if (found.owns)
      throw new InvalidInput('grantTo', 'owns the schema: migrate with another role than the one that serves');
    // One text is one transaction: nobody sees the role without what it had.
    await client.query(inSchema(statements(quoted(schema), `"${role.replaceAll('"', '""')}"`), schema), []);
  } catch (error) {
    throw asRefusal(error, false);
  }
}

const statements = (schema: string, role: string): string =>
  [
    `revoke all on schema ${schema} from ${role}`,
    `grant usage on schema ${schema} to ${role}`,
    `revoke all on all tables in schema ${schema} from ${role}`,
    ...Object.entries(RIGHTS).map(([table, rights]) => `grant ${rights} on recoup.${table} to ${role}`),
  ].join(';\n');
