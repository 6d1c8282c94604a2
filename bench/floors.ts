// Floors: the same rows moved by bare statements, without guards, ledger arithmetic or answers. What PostgreSQL itself costs.
import pg from 'pg';
import type { Shape } from './lives.ts';

const BATCH = 500;
const CLAIM = 250;
const CONSUMERS = 4;

const nakedTables = (schema: string) => `
create schema if not exists ${schema};
create table ${schema}.jobs (
  wallet_id text collate "C", id text collate "C", queue text collate "C", state text, price bigint, max_failures int, priority smallint,
  attempt int, not_before timestamptz, lease_until timestamptz, worker text, submitted_at timestamptz, started_at timestamptz,
  succeeded_at timestamptz, succeeded_attempt int, payload jsonb, result jsonb, primary key (wallet_id, id));
create index on ${schema}.jobs (queue, priority, not_before) where state = 'queued';
create table ${schema}.entries (
  wallet_id text collate "C", seq bigint, type text, amount bigint, balance bigint, job_id text collate "C", created_at timestamptz,
  primary key (wallet_id, seq))`;

/** The tables of a floor: Recoup's own with their indexes and checks, or the least that a queue with a list of entries needs. */
export const TABLES = {
  same: `
create schema if not exists same;
create table same.jobs (like recoup.jobs including all);
create table same.entries (like recoup.entries including all)`,
  naked: nakedTables('naked'),
};
export type FloorTables = keyof typeof TABLES;

const insert = (schema: string) => `
with i as materialized (select * from jsonb_to_recordset($1::text::jsonb) as i(wallet_id text, id text, seq bigint, payload jsonb)),
j as (insert into ${schema}.jobs (wallet_id, id, queue, state, price, max_failures, priority, attempt, not_before, submitted_at, payload)
      select wallet_id, id, 'floor', 'queued', 40, 5, 5, 0, now(), now(), payload from i)
insert into ${schema}.entries (wallet_id, seq, type, amount, balance, job_id, created_at)
select wallet_id, seq, 'charge', -40, -40, id, now() from i`;

const claim = (schema: string) => `
update ${schema}.jobs set state = 'running', attempt = attempt + 1, lease_until = now() + interval '30 seconds', worker = 'bench', started_at = now(), not_before = null
where (wallet_id, id) in (
  select wallet_id, id from ${schema}.jobs where queue = 'floor' and state = 'queued' and not_before <= now()
  order by priority, not_before limit ${CLAIM} for update skip locked)
returning wallet_id, id, payload`;

const finish = (schema: string) => `
update ${schema}.jobs j set state = 'succeeded', succeeded_at = now(), succeeded_attempt = 1, lease_until = null, result = '{"ok": true}'
from jsonb_to_recordset($1::text::jsonb) as i(wallet_id text, id text)
where j.wallet_id = i.wallet_id and j.id = i.id`;

/** The bare life: multi-row inserts of job and entry, SKIP LOCKED claims, multi-row updates; batched as the library batches. */
export async function floor(url: string, shape: Shape, tables: FloorTables): Promise<() => Promise<void>> {
  const options = '-c enable_seqscan=off -c jit=off';
  const pool = new pg.Pool({ connectionString: url, max: CONSUMERS, options });
  await pool.query(TABLES[tables]);
  return async () => {
    for (let start = 0; start < shape.jobs; start += BATCH) {
      const rows = Array.from({ length: Math.min(BATCH, shape.jobs - start) }, (_, i) => {
        const index = start + i;
        const payload = { prompt: 'a lighthouse at dusk', seconds: 5, index };
        return { wallet_id: `wallet-${index % shape.wallets}`, id: `floor-${index}`, seq: index + 1, payload };
      });
      await pool.query({ name: 'insert', text: insert(tables), values: [JSON.stringify(rows)] });
    }
    let left = shape.jobs;
    const consumer = async () => {
      while (left > 0) {
        const { rows } = await pool.query({ name: 'claim', text: claim(tables) });
        left -= rows.length;
        const keys = rows.map(({ wallet_id, id }) => ({ wallet_id, id }));
        if (keys.length > 0) {
          await pool.query({ name: 'finish', text: finish(tables), values: [JSON.stringify(keys)] });
        }
      }
    };
    await Promise.all(Array.from({ length: CONSUMERS }, consumer));
    await pool.end();
  };
}

/** Fills one wallet with entries and answers how its balance reads: by SQL, since a million grants would only take time. */
export async function fillWallet(url: string, wallet: string, entries: number): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(
    `insert into recoup.entries (wallet_id, seq, type, amount, balance, key, created_at)
     select $1, i, 'grant', 1, i, 'k' || i, now() - interval '1 day' + i * interval '1 millisecond' from generate_series(1, $2::bigint) i`,
    [wallet, entries],
  );
  await client.query(
    `insert into recoup.wallets (id, customer_id, balance, last_seq, last_entry_at)
     select $1, 'bench', $2::bigint, $2::bigint, created_at from recoup.entries where wallet_id = $1 and seq = $2::bigint`,
    [wallet, entries],
  );
  await client.query('analyze recoup.entries');
  await client.end();
}
