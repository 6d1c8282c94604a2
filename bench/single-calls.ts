// Designs that charge one job per transaction: what a team writes by itself, and a submit's rows by one bare statement.
import pg from 'pg';

export const CALLERS = 64;
const PRICE = 40;
/** The design that sums entries has wallets of its own: it keeps no number of the last entry, which the others go by. */
const PREFIXES = ['wallet', 'summed'];
/** Wallets of each prefix, and what each of them holds at the start: the design that sums entries has some to sum. */
const WALLETS = 1000;
const ENTRIES = 50;
const MAX_TRIES = 100;

/** Recoup's own tables with their indexes and checks, and wallets that have moved before. */
const TABLES = `
create schema single;
create table single.wallets (like recoup.wallets including all);
create table single.jobs (like recoup.jobs including all);
create table single.entries (like recoup.entries including all);
insert into single.entries (wallet_id, seq, type, amount, balance, key, created_at)
select p || '-' || w, s, 'grant', 1000000, s * 1000000, 'k' || s, now()
from unnest(array['${PREFIXES.join("','")}']) p, generate_series(0, ${WALLETS - 1}) w, generate_series(1, ${ENTRIES}) s;
insert into single.wallets (id, customer_id, balance, last_seq, last_entry_at)
select p || '-' || w, 'bench', ${ENTRIES} * 1000000, ${ENTRIES}, now()
from unnest(array['${PREFIXES.join("','")}']) p, generate_series(0, ${WALLETS - 1}) w;
analyze single.wallets; analyze single.entries`;

const SQL = {
  guarded: `
update single.wallets set balance = balance - $2, last_seq = last_seq + 1, last_entry_at = now()
where id = $1 and balance >= $2 returning balance, last_seq`,
  read: 'select balance, last_seq from single.wallets where id = $1',
  readLocked: 'select balance, last_seq from single.wallets where id = $1 for update',
  write: 'update single.wallets set balance = $2, last_seq = $3, last_entry_at = now() where id = $1',
  sum: 'select sum(amount) as balance, max(seq) as last_seq from single.entries where wallet_id = $1',
  insertEntry: `
insert into single.entries (wallet_id, seq, type, amount, balance, job_id, created_at)
values ($1, $2, 'charge', -$3::bigint, $4, $5, now())`,
  insertJob: `
insert into single.jobs (wallet_id, id, queue, state, price, max_failures, not_before, submitted_at, payload)
values ($1, $2, 'single', 'queued', $3, 5, now(), now(), $4)`,
  // The rows of one submit by one statement that commits by itself: no test of what is there, no answer.
  bare: `
with w as (
  update single.wallets set balance = balance - $3, last_seq = last_seq + 1, last_entry_at = now() where id = $1
  returning balance, last_seq),
j as (
  insert into single.jobs (wallet_id, id, queue, state, price, max_failures, not_before, submitted_at, payload)
  values ($1, $2, 'single', 'queued', $3, 5, now(), now(), $4))
insert into single.entries (wallet_id, seq, type, amount, balance, job_id, created_at)
select $1, last_seq, 'charge', -$3::bigint, balance, $2, now() from w`,
};

type Query = (name: keyof typeof SQL, values: unknown[]) => Promise<pg.QueryResult>;
/** Takes the price from a wallet: the balance and the entry's number after it; undefined where it holds too little. */
type Charge = (query: Query, wallet: string) => Promise<{ balance: number; seq: number } | undefined>;

/** Reads, decides in Node, writes what it worked out. Without a lock two at once lose one of their charges. */
const readThenWrite =
  (look: 'read' | 'readLocked'): Charge =>
  async (query, wallet) => {
    const { rows } = await query(look, [wallet]);
    const [balance, seq] = [Number(rows[0].balance) - PRICE, Number(rows[0].last_seq) + 1];
    if (balance < 0) return undefined;
    await query('write', [wallet, balance, seq]);
    return { balance, seq };
  };

export const DESIGNS: Record<string, Charge> = {
  'guarded update': async (query, wallet) => {
    const { rows } = await query('guarded', [wallet, PRICE]);
    return rows[0] && { balance: Number(rows[0].balance), seq: Number(rows[0].last_seq) };
  },
  'read then write': readThenWrite('read'),
  'select for update': readThenWrite('readLocked'),
  'sum of entries': async (query, wallet) => {
    // The sum is only right while nobody else adds an entry.
    await query('readLocked', [wallet]);
    const { rows } = await query('sum', [wallet]);
    const balance = Number(rows[0].balance) - PRICE;
    return balance < 0 ? undefined : { balance, seq: Number(rows[0].last_seq) + 1 };
  },
};

export class SingleCalls implements AsyncDisposable {
  readonly #pool: pg.Pool;
  #count = 0;

  private constructor(url: string, connections: number) {
    this.#pool = new pg.Pool({ connectionString: url, max: connections });
  }

  static async open(url: string, connections: number): Promise<SingleCalls> {
    const calls = new SingleCalls(url, connections);
    await calls.#pool.query(TABLES);
    // Every connection is there and has planned its statements before anything is timed.
    const clients = await Promise.all(Array.from({ length: connections }, () => calls.#pool.connect()));
    for (const client of clients) client.release();
    for (const design of Object.keys(DESIGNS)) await calls.submit(design, 2 * connections);
    return calls;
  }

  /** So many jobs by 64 callers, each of which waits for its own before it submits the next. */
  async submit(design: string, jobs: number): Promise<void> {
    const charge = DESIGNS[design]!;
    let left = jobs;
    const caller = async () => {
      while (left-- > 0) await this.#one(charge, design === 'sum of entries' ? 'summed' : 'wallet');
    };
    await Promise.all(Array.from({ length: CALLERS }, caller));
  }

  /** One submit's rows by one statement. */
  async bare(): Promise<void> {
    const { wallet, job, payload } = this.#next('wallet');
    await this.#pool.query({ name: 'bare', text: SQL.bare, values: [wallet, job, PRICE, payload] });
  }

  async #one(charge: Charge, prefix: string): Promise<void> {
    const { wallet, job, payload } = this.#next(prefix);
    for (let tries = 0; ; tries++) {
      const client = await this.#pool.connect();
      const query: Query = (name, values) => client.query({ name, text: SQL[name], values });
      try {
        await client.query('begin');
        const charged = await charge(query, wallet);
        if (!charged) throw new Error(`${wallet} ran out of credit`);
        await query('insertEntry', [wallet, charged.seq, PRICE, charged.balance, job]);
        await query('insertJob', [wallet, job, PRICE, payload]);
        await client.query('commit');
        return;
      } catch (error) {
        await client.query('rollback');
        // Two read the same number: the one design that has no lock runs again.
        if ((error as pg.DatabaseError).code !== '23505' || tries === MAX_TRIES) throw error;
      } finally {
        client.release();
      }
    }
  }

  #next(prefix: string) {
    const index = this.#count++;
    const payload = JSON.stringify({ prompt: 'a lighthouse at dusk', seconds: 5, index });
    return { wallet: `${prefix}-${index % WALLETS}`, job: `job-${index}`, payload };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool.end();
  }
}
