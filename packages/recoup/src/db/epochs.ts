// Epochs: opens the next one where transaction ids may be used twice, and tells whether that is due.
import type { Queryable } from './database.ts';
import { inSchema, quoted } from './schema.ts';

/** Transaction ids of an epoch: a position in the feed is `epoch * SPAN + transaction id`. 2^48 last for decades. */
const SPAN = '281474976710656';
/** SQL: where the positions of an epoch begin. */
const firstPosition = (number: string) => `(${number}::bigint * ${SPAN})`;

/** The append-only tables whose rows carry a position, and when what they tell of happened. */
const POSITIONED = {
  'recoup.entries': 'created_at',
  'recoup.attempts': 'ended_at',
  'recoup.block_events': 'at',
  'recoup.alert_events': 'at',
} as const;
type Table = keyof typeof POSITIONED;
const TABLES = Object.keys(POSITIONED) as Table[];

const lastIn = (tables: readonly Table[]) =>
  `greatest(${tables.map((table) => `(select tx from ${table} order by tx desc limit 1)`).join(', ')})`;

/** SQL: the newest position there is; null before the first. */
export const lastPosition = lastIn(TABLES);

/** SQL: a transaction id as a position of an epoch. */
export const positionOf = (xid: string, number: string) =>
  `(${firstPosition(number)} + ${xid}::text::bigint)::text::xid8`;

/** SQL: the first position above all of an epoch; not a bigint after the last one that there can be. */
export const positionAbove = (number: string) => `((${number}::numeric + 1) * ${SPAN})::text::xid8`;

/** SQL: the first position that the snapshot takes to be in the future. */
export const nextPosition = (number: string) => positionOf('pg_snapshot_xmax(pg_current_snapshot())', number);

const behindIn = (tables: readonly Table[], number: string) =>
  `coalesce(${lastIn(tables)} >= ${nextPosition(number)}, false)`;

/** SQL: whether there are rows of another cluster, ahead of this one: what a snapshot shows has ended, so it is below that. */
export const behind = (number: string) => behindIn(TABLES, number);

/** What an operator does where one is due. */
export const OPEN_EPOCH = 'recoup epochs open --reason "…"';

/** One row of `recoup.epochs`. Instants are RFC 3339 text here. */
export interface EpochRow {
  number: number;
  openedAt: string;
  reason: string;
  actor: string | null;
}

export interface EpochState extends EpochRow {
  /** The ledger or what stands beside it carries transaction ids that this server has not reached: rows of another cluster. The feed stands still. */
  behind: boolean;
  /** The server is not the one that the epoch was opened on: recovered, promoted, upgraded, or another cluster. */
  moved: boolean;
  /** Why another epoch has to be opened, and how, for people; null: none has. */
  due: string | null;
}

const columns = `json_build_object('number', e.number, 'openedAt', e.opened_at, 'reason', e.reason, 'actor', e.actor`;

const stateIn = (tables: readonly Table[]) => `
select ${columns},
  'behind', ${behindIn(tables, 'e.number')},
  'moved', coalesce(e.server <> recoup.server_id(), false))::text as answer
from recoup.epochs e order by e.number desc limit 1`;

const LIST = `select coalesce(json_agg(${columns}) order by e.number), '[]')::text as answer from recoup.epochs e`;

/** The newest epoch, and whether another one is due; reads only. Null where this schema has no epochs yet. */
export async function epochState(client: Queryable, schema: string): Promise<EpochState | null> {
  const there = `select to_regclass($1)::text as answer`;
  if ((await answerOf(client, there, [`${quoted(schema)}.epochs`])) === null) return null;
  const state = JSON.parse(
    (await answerOf(client, inSchema(stateIn(await positioned(client, schema)), schema), []))!,
  ) as EpochState;
  const why = state.behind
    ? 'the ledger has rows of another cluster, and the feed stands still'
    : 'the server was recovered, promoted or replaced since the epoch was opened, and may use transaction ids twice';
  return { ...state, due: state.behind || state.moved ? `${why}: ${OPEN_EPOCH}` : null };
}

export async function listEpochs(client: Queryable, schema: string): Promise<EpochRow[]> {
  return JSON.parse((await answerOf(client, inSchema(LIST, schema), []))!) as EpochRow[];
}

const NEWEST = '(select max(number) from recoup.epochs)';
const lower = (tables: readonly Table[], of: (table: Table) => string, more = 'null::xid8') => `
select least(${[...tables.map(of), more].join(', ')})::text as answer`;

// What was written since stands at the end of the order: from the last one before, along the index.
const writtenSince = (table: Table) =>
  `
  (select e.tx from ${table} e where e.tx > coalesce(
    (select b.tx from ${table} b where b.${POSITIONED[table]} < $1::timestamptz order by b.tx desc limit 1), '0'::xid8) order by e.tx limit 1)`;

const isBehind = (tables: readonly Table[]) => `select (${behindIn(tables, NEWEST)})::text as answer`;
const ahead = (table: string) => `
  select age(r.xmin) as age from ${table} r where r.tx >= ${nextPosition(NEWEST)} and r.tx < ${positionAbove(NEWEST)}`;
const younger = (table: string) => `
  (select e.tx from ${table} e, loaded l where e.tx >= l.place and e.tx < ${nextPosition(NEWEST)} and age(e.xmin) < l.age
   order by e.tx limit 1)`;
/**
 * A dump is loaded before anything is written, so what was written here is younger than the youngest row that is certainly
 * restored, of whichever table: often one table alone has such rows. Its position is also above the transaction that
 * loaded that row, which leaves out what was loaded later. Where no row is certain, everything of the epoch may be
 * from here. Reads the tables.
 */
const restoredIn = (tables: readonly Table[]) => `
with loaded as materialized (
  select age, ${positionOf('greatest(pg_snapshot_xmin(pg_current_snapshot())::text::bigint - age, 0)', NEWEST)} as place
  from (select min(age) as age from (${tables.map(ahead).join(' union all ')}) a) youngest)
select case when (select age >= 0 from loaded) then least(${tables.map(younger).join(', ')})
  else ${positionOf("'0'", NEWEST)} end::text as answer`;

const between = (table: string) => `
  (select e.tx from ${table} e where e.tx >= $1::xid8 and e.tx < ${nextPosition(NEWEST)} order by e.tx limit 1)`;
const NOW = `select ${positionOf('pg_snapshot_xmin(pg_current_snapshot())', 'max(number)')}::text as answer from recoup.epochs`;

/**
 * Opens the next epoch in the caller's transaction: waits until nobody writes, so that no position of the old epoch can
 * appear behind one of the new. A default, not a column: what is written every day costs nothing more. Needs the owner
 * of the tables. Readers of older cursors are told again what was written `since` an instant, and what was written beside
 * rows of another cluster.
 */
export async function openEpoch(
  client: Queryable,
  schema: string,
  { reason, actor, since }: { reason: string; actor: string | null; since: string | null },
): Promise<void> {
  const ask = (sql: string, values: unknown[] = []) => answerOf(client, inSchema(sql, schema), values);
  const tables = await positioned(client, schema);
  const now = await ask(NOW);
  // Looked for before the lock, as it may read everything; what ends meanwhile is looked up under it, and may lie lower.
  const written = since === null ? null : await ask(lower(tables, writtenSince), [since]);
  const restored = (await ask(isBehind(tables))) === 'true';
  const beside = restored ? await ask(restoredIn(tables)) : null;
  // Not by LOCK TABLE: the owner has given up the rights that it asks for before PostgreSQL 17. This changes nothing, and holds them.
  for (const table of tables) await ask(`alter table ${table} alter column tx set not null`);
  const reread =
    since === null && !restored
      ? null
      : await ask(lower(tables, between, 'least($2::xid8, $3::xid8)'), [now, written, beside]);
  const insert = `insert into recoup.epochs (number, reason, actor, reread_from)
    select max(number) + 1, $1, $2, $3::xid8 from recoup.epochs returning number::text as answer`;
  const next = positionOf('pg_current_xact_id()', (await ask(insert, [reason, actor, reread]))!);
  for (const table of tables) {
    await ask(`alter table ${table} alter column tx set default ${next}`);
  }
}

const OWNS = `select pg_has_role(relowner, 'usage')::text as answer from pg_class where oid = to_regclass($1)`;
/** The last change that came from elsewhere, with a minute for clocks that differ; null where this server never recovered since its start. */
const RECOVERED = `select (pg_last_xact_replay_timestamp() - interval '1 minute')::text as answer where not pg_is_in_recovery()`;

/**
 * Opens one where it is certain that positions would go wrong or may have: in the transaction of a migration, which every
 * start of a service begins with. Tells again whatever may have been written before, back to the last epoch where
 * nothing else is known. Does without where somebody reads the tables for long, or the role does not own them: then
 * `recoup doctor` says what is to be done.
 */
export async function openEpochIfDue(client: Queryable, schema: string): Promise<void> {
  const state = await epochState(client, schema);
  if (!state?.due || (await answerOf(client, OWNS, [`${quoted(schema)}.entries`])) !== 'true') return;
  const reason = state.behind ? 'rows of another cluster: restored from a dump' : 'another server or timeline';
  await client.query('savepoint epoch', []);
  try {
    await client.query(`set local lock_timeout = '3s'`, []);
    const since = state.behind ? null : ((await answerOf(client, RECOVERED, [])) ?? state.openedAt);
    await openEpoch(client, schema, { reason, actor: 'recoup', since });
    await client.query('release savepoint epoch', []);
  } catch {
    await client.query('rollback to savepoint epoch', []);
  }
}

const WITH_TX = `select coalesce(json_agg(t), '[]')::text as answer from unnest(string_to_array($1, ',')) t
  where exists (select from pg_attribute where attrelid = to_regclass(t) and attname = 'tx' and not attisdropped)`;

/** The tables that this schema has of them: one that is still to be migrated has fewer. */
async function positioned(client: Queryable, schema: string): Promise<Table[]> {
  const names = TABLES.map((table) => inSchema(table, schema));
  const there = JSON.parse((await answerOf(client, WITH_TX, [names.join(',')]))!) as string[];
  return TABLES.filter((_, index) => there.includes(names[index]!));
}

/** The column `answer` of the first row, as text, through any driver. */
async function answerOf(client: Queryable, sql: string, values: unknown[]): Promise<string | null> {
  const result = await client.query(sql, values);
  const rows = (Array.isArray(result) ? result : result.rows) as { answer?: string | null }[];
  return rows[0]?.answer ?? null;
}
