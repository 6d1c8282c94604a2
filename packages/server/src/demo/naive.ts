// The naive design, as it is often written: two tables; read, then write; refund on a failure, charge on a recovery.
import { createHash } from 'node:crypto';
import type pg from 'pg';
import { poolOf } from './connections.ts';
import { type Books, type Design, type Progress, rules, type Signal } from './design.ts';
import type { DemoJob } from './trace.ts';

/**
 * Each step is plausible, and each statement is right when it runs alone. What is missing is only what Recoup is about:
 * a guard in the write. `movements` is a log for the comparison; no decision is taken from it.
 */
const TABLES = `
create schema naive;
create table naive.wallets (id text primary key, balance bigint not null);
create table naive.jobs (id text primary key, wallet_id text not null, price bigint not null, ms int not null,
  state text not null, attempt int not null default 0, refunded boolean not null default false,
  not_before timestamptz not null default now(), worker text);
create index on naive.jobs (not_before) where state = 'queued';
create table naive.movements (job_id text not null, amount bigint not null);`;

interface ReadJob {
  wallet: string;
  price: number;
  attempt: number;
  refunded: boolean;
  balance: number;
}

/** A job that a naive worker has taken. */
export interface TakenJob {
  id: string;
  wallet_id: string;
  attempt: number;
  ms: number;
}

export async function openNaive(url: string, grants: Map<string, number>): Promise<Naive> {
  const naive = new Naive(url, 8);
  await naive.query(TABLES);
  const wallets = [...grants];
  await naive.query('insert into naive.wallets select * from unnest($1::text[], $2::bigint[])', [
    wallets.map(([id]) => id),
    wallets.map(([, amount]) => amount),
  ]);
  return naive;
}

export class Naive implements Design {
  readonly name = 'naive';
  readonly #pool: pg.Pool;

  constructor(url: string, connections: number) {
    this.#pool = poolOf(url, connections);
  }

  /** Named, so that the server plans each statement once: what is compared is the design, not the speed. */
  // biome-ignore lint/suspicious/noExplicitAny: rows as they come, as in many a small service
  async query(text: string, values: unknown[] = []): Promise<any[]> {
    const name = createHash('sha1').update(text).digest('hex');
    return (await this.#pool.query(values.length > 0 ? { name, text, values } : { text })).rows;
  }

  async submit({ id, wallet, price, ms }: DemoJob): Promise<void> {
    const [{ balance }] = await this.query('select balance from naive.wallets where id = $1', [wallet]);
    await this.#write(wallet, id, Number(balance), -price);
    const values = [id, wallet, price, ms];
    await this.query(
      `insert into naive.jobs (id, wallet_id, price, ms, state) values ($1, $2, $3, $4, 'queued')`,
      values,
    );
  }

  /** Writes a balance that was read before, changed by an amount. */
  async #write(wallet: string, job: string, read: number, amount: number): Promise<void> {
    await this.query(
      `with logged as (insert into naive.movements (job_id, amount) values ($1, $2))
       update naive.wallets set balance = $3 where id = $4`,
      [job, amount, read + amount, wallet],
    );
  }

  /** Looks for jobs that are due, then takes them. */
  async take(worker: string, count: number): Promise<TakenJob[]> {
    const due = await this.query(
      `select id from naive.jobs where state = 'queued' and not_before <= now() order by not_before limit $1`,
      [count],
    );
    if (due.length === 0) return [];
    return this.query(
      `update naive.jobs set state = 'running', attempt = attempt + 1, worker = $2 where id = any($1)
       returning id, wallet_id, attempt, ms`,
      [due.map(({ id }) => id), worker],
    );
  }

  async signal({ job, status }: Signal): Promise<void> {
    if (status === 'succeeded') await this.succeed(job);
    else await this.fail(job, {});
  }

  /** The job, and the balance of its wallet as it is now. */
  async #read(id: string): Promise<ReadJob> {
    const [job] = await this.query(
      `select j.wallet_id as wallet, j.price::float8 as price, j.attempt, j.refunded, w.balance::float8 as balance
       from naive.jobs j join naive.wallets w on w.id = j.wallet_id where j.id = $1`,
      [id],
    );
    return job;
  }

  /** A success after a refund is a recovery: charged again. */
  async succeed(id: string): Promise<void> {
    const { wallet, price, refunded, balance } = await this.#read(id);
    if (refunded) await this.#write(wallet, id, balance, -price);
    await this.query(`update naive.jobs set state = 'succeeded', refunded = false where id = $1`, [id]);
  }

  /** A failure gives the price back and, until there were too many, queues the job again. */
  async fail(id: string, { retryable = true, retryAfterMs = 0 }): Promise<void> {
    const { wallet, price, attempt, balance } = await this.#read(id);
    await this.#write(wallet, id, balance, price);
    const state = retryable && attempt < rules.maxFailures ? 'queued' : 'dead';
    const backoff = Math.min(rules.backoffBaseMs * 2 ** (attempt - 1), rules.backoffMaxMs);
    await this.query(
      `update naive.jobs set state = $2, refunded = true, not_before = now() + $3 * interval '1 millisecond' where id = $1`,
      [id, state, Math.max(backoff, retryAfterMs)],
    );
  }

  async progress(): Promise<Progress> {
    const [row] = await this.query(
      `select count(*) filter (where state in ('succeeded', 'dead'))::int as ended, count(*) filter (where state = 'succeeded')::int as succeeded,
         count(*) filter (where state = 'dead')::int as dead,
         (select count(distinct job_id) from naive.movements where amount > 0)::int as refunded,
         (select count(*) from (select from naive.movements where amount < 0 group by job_id having count(*) > 1) again)::int as reclaimed
       from naive.jobs`,
    );
    return row as Progress;
  }

  /** What runs in a worker that was killed moves no more: nobody looks for it. */
  async open(): Promise<number> {
    const [row] = await this.query(`select count(*)::int as open from naive.jobs where state = 'queued'`);
    return row.open;
  }

  async heldBy(worker: string): Promise<number> {
    const [row] = await this.query(
      `select count(*)::int as held from naive.jobs where state = 'running' and worker = $1`,
      [worker],
    );
    return row.held;
  }

  /** Nobody is told of anything. */
  async operate(): Promise<void> {}

  async outages(): Promise<Map<string, never[]>> {
    return new Map();
  }

  async deadLetters(): Promise<{ wallet: string; job: string; attempt: number }[]> {
    return this.query(`select wallet_id as wallet, id as job, attempt from naive.jobs where state = 'dead'`);
  }

  async books(): Promise<Books> {
    const balances = await this.query('select id, balance::float8 as balance from naive.wallets');
    const taken = await this.query('select job_id, -sum(amount)::float8 as taken from naive.movements group by job_id');
    const ended = await this.query(`select id from naive.jobs where state in ('succeeded', 'dead')`);
    return {
      balances: new Map(balances.map((row) => [row.id, row.balance])),
      taken: new Map(taken.map((row) => [row.job_id, row.taken])),
      ended: new Set(ended.map((row) => row.id)),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool.end();
  }
}
