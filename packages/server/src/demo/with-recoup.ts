// The replay with Recoup: the library does what the naive design does by hand.
import type pg from 'pg';
import { open, type Recoup } from 'recoup';
import { accounts, newCredential, POOL } from './accounts.ts';
import { poolOf } from './connections.ts';
import { type Books, type Design, type Progress, rules, type Signal } from './design.ts';
import { type Outage, outagesOf } from './outages.ts';
import type { Tally } from './tally.ts';
import type { DemoJob } from './trace.ts';

export interface RecoupDesign extends Design {
  readonly recoup: Recoup;
}

const ENDED = `('succeeded', 'dead', 'canceled', 'discarded')`;

/** Opens the schema and gives every wallet its credits. `tally` hears of every answer. */
export async function openRecoup(url: string, grants: Map<string, number>, tally: Tally): Promise<RecoupDesign> {
  const recoup = await open({ connection: url, migrate: true, pollMs: 500, onTransition: tally.transition });
  const { queue, maxFailures, backoffBaseMs, backoffMaxMs, retryAfterMaxMs, leaseMs } = rules;
  await recoup.queues.configure(queue, { maxFailures, backoffBaseMs, backoffMaxMs, retryAfterMaxMs, leaseMs });
  const wallets = [...grants];
  await Promise.all(wallets.map(([wallet]) => recoup.wallets.open({ wallet, customer: wallet })));
  await recoup.wallets.grantMany(wallets.map(([wallet, amount]) => ({ wallet, amount, key: 'opening' })));
  for (const account of accounts) await recoup.upstreams.register({ ...account, pool: POOL });
  return new OverRecoup(recoup, url);
}

class OverRecoup implements RecoupDesign {
  readonly name = 'Recoup';
  readonly recoup: Recoup;
  /** For looking only: all that changes something goes through the library. */
  readonly #look: pg.Pool;

  constructor(recoup: Recoup, url: string) {
    this.recoup = recoup;
    this.#look = poolOf(url, 2);
  }

  async submit({ wallet, id, price, ms }: DemoJob): Promise<void> {
    await this.recoup.jobs.submit({ wallet, job: id, queue: rules.queue, price, payload: { ms } });
  }

  async signal({ status, reason, ...key }: Signal): Promise<void> {
    if (status === 'succeeded') await this.recoup.jobs.succeed(key);
    else await this.recoup.jobs.fail({ ...key, verdict: 'definitive', ...(reason === undefined ? {} : { reason }) });
  }

  /** What only a person can resolve, resolved: a new key for each account whose key is refused. */
  async operate(): Promise<void> {
    for (const { subject } of await this.recoup.inbox.list({ pool: POOL })) {
      const upstream = /^upstream:(.+)$/.exec(subject)?.[1];
      if (upstream === undefined) continue;
      const credentialRef = newCredential(upstream);
      await this.recoup.upstreams.replaceCredential(upstream, {
        credentialRef,
        actor: 'operator',
        reason: 'a new key',
      });
    }
  }

  async outages(): Promise<Map<string, Outage[]>> {
    const all = new Map<string, Outage[]>();
    for (const { upstream } of accounts) all.set(upstream, outagesOf(await this.recoup.upstreams.history(upstream)));
    return all;
  }

  async progress(): Promise<Progress> {
    const { rows } = await this.#look.query(`
      select count(*) filter (where state in ${ENDED})::int as ended, count(*) filter (where state = 'succeeded')::int as succeeded,
        count(*) filter (where state = 'dead')::int as dead, count(refunded_at)::int as refunded, count(reclaimed_at)::int as reclaimed
      from recoup.jobs`);
    return rows[0] as Progress;
  }

  async open(): Promise<number> {
    const { rows } = await this.#look.query(
      `select count(*)::int as open from recoup.jobs where state not in ${ENDED}`,
    );
    return rows[0].open;
  }

  async heldBy(worker: string): Promise<number> {
    const { rows } = await this.#look.query(
      `select count(*)::int as held from recoup.jobs where state = 'running' and worker = $1`,
      [worker],
    );
    return rows[0].held;
  }

  async deadLetters(): Promise<{ wallet: string; job: string; attempt: number }[]> {
    const dead = [];
    for await (const { wallet, id, attempt } of this.recoup.jobs.deadLetters.list()) {
      dead.push({ wallet, job: id, attempt });
    }
    return dead;
  }

  async books(): Promise<Books> {
    const balances = await this.#look.query('select id, balance::float8 as balance from recoup.wallets');
    const taken = await this.#look.query(
      'select job_id, -sum(amount)::float8 as taken from recoup.entries where job_id is not null group by job_id',
    );
    const ended = await this.#look.query(`select id from recoup.jobs where state in ${ENDED}`);
    return {
      balances: new Map(balances.rows.map((row) => [row.id, row.balance])),
      taken: new Map(taken.rows.map((row) => [row.job_id, row.taken])),
      ended: new Set(ended.rows.map((row) => row.id)),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.recoup.close();
    await this.#look.end();
  }
}
