// A database as an older release left it, what stands in it, and customers who go on while it is upgraded.
import pg from 'pg';
import { inject } from 'vitest';
import { times } from './look.ts';
import { type Older, older } from './older.ts';

export interface OldDatabase extends AsyncDisposable {
  url: string;
  query(sql: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
  client(): Promise<pg.Client>;
  /** Opens the release that made it; each is closed with the database. */
  open(options?: { migrate?: boolean; sweep?: boolean }): Promise<Older>;
}

let counter = 0;

/** An empty database with the schema of an older release. */
export async function oldDatabase(newest: number, server = inject('servers')[0]!.url): Promise<OldDatabase> {
  const name = `recoup_old_${process.pid}_${Date.now().toString(36)}_${counter++}`;
  const admin = new pg.Client({ connectionString: server });
  await admin.connect();
  await admin.query(`create database ${name} template template0 encoding 'UTF8'`);
  const url = Object.assign(new URL(server), { pathname: `/${name}` }).href;
  const clients: pg.Client[] = [];
  const handles: Older[] = [];
  const client = async () => {
    const one = new pg.Client({ connectionString: url });
    one.on('error', () => {});
    await one.connect();
    clients.push(one);
    return one;
  };
  const open = async (options = {}) => {
    const release = await older(newest);
    const handle = await release.open({ connection: url, sweep: false, onError: () => {}, ...options });
    handles.push(handle);
    return handle;
  };
  await open({ migrate: true });
  const looking = await client();
  return {
    url,
    client,
    open,
    query: async (sql, values) => (await looking.query(sql, values as unknown[])).rows,
    [Symbol.asyncDispose]: async () => {
      await Promise.all(clients.map((one) => one.end().catch(() => {})));
      await Promise.all(handles.map((handle) => handle.close()));
      await admin.query(`drop database if exists ${name} with (force)`);
      await admin.end();
    },
  };
}

/** A wallet with jobs in every state and entries of every type, as the release writes them. */
export async function fill({ wallets, jobs }: Older, wallet: string): Promise<void> {
  await wallets.open({ wallet, customer: 'ada', overdraftLimit: 5 });
  await wallets.grant({ wallet, key: 'start', amount: 1000, note: 'what was paid' });
  await wallets.adjust({ wallet, key: 'sorry', amount: -7, actor: 'ann', note: 'why' });
  const running = async (job: string) => {
    await jobs.submit({ wallet, job, queue: `${wallet}-${job}`, price: 10, payload: { job }, labels: { of: wallet } });
    await jobs.lease({ queue: `${wallet}-${job}`, requestId: `r-${job}` });
    return { wallet, job, attempt: 1 };
  };
  await jobs.submit({ wallet, job: 'queued', queue: 'later', price: 10, payload: 1 });
  await jobs.submit({ wallet, job: 'external', queue: null, price: 3 });
  await running('running');
  await jobs.handOver({ ...(await running('waiting')), upstreamRef: `ref-${wallet}` });
  await jobs.succeed({ ...(await running('done')), result: { fine: true } });
  await jobs.fail({ ...(await running('dead')), verdict: 'definitive', retryable: false, reason: 'no' });
  const late = await running('late');
  await jobs.fail({ ...late, verdict: 'presumed', retryable: false, reason: 'no answer' });
  await jobs.succeed({ ...late, result: 'after all' });
  await jobs.settle({ wallet, job: 'late', finalPrice: 8 });
  await running('canceled');
  await jobs.cancel({ wallet, job: 'canceled', keep: 2, reason: 'not wanted' });
  await jobs.release({ ...(await running('released')), reason: 'drained' });
}

const TABLES = ['wallets', 'entries', 'jobs', 'attempts', 'notes', 'queues', 'lease_requests', 'api_keys', 'secrets'];

/** Every row of every table that is there, as objects. */
export async function rowsOf(db: OldDatabase): Promise<Record<string, Record<string, unknown>[]>> {
  const found: Record<string, Record<string, unknown>[]> = {};
  for (const table of TABLES) {
    if (!(await db.query('select to_regclass($1)::text as there', [`recoup.${table}`]))[0]!.there) continue;
    const rows = await db.query(`select to_json(t)::text as row from recoup.${table} t order by t::text collate "C"`);
    found[table] = rows.map(({ row }) => JSON.parse(row as string));
  }
  return found;
}

/** The rows as they were seen before: columns that came since left out. */
export function asBefore(
  before: Record<string, Record<string, unknown>[]>,
  now: Record<string, Record<string, unknown>[]>,
) {
  const cut = (table: string) => {
    const columns = Object.keys(before[table]![0] ?? {});
    const rows = now[table]!.map((row) => Object.fromEntries(columns.map((name) => [name, row[name]])));
    return rows.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  };
  return Object.fromEntries(Object.keys(before).map((table) => [table, cut(table)]));
}

/** What a customer was told, call by call. */
export interface Told {
  /** Prices of jobs that were acknowledged as done. */
  paid: number;
  /** Codes of refusals; each call was made again until it was answered. */
  refusals: string[];
}

const RETRYABLE = /^(wallet_busy|database_unavailable|transaction_conflict)$/;

/** A customer with a wallet of his own: submits, leases and reports until he is told to stop, each call until it is answered. */
export async function customer(handle: Older, wallet: string, stopped: () => boolean): Promise<Told> {
  const told: Told = { paid: 0, refusals: [] };
  const surely = async <T>(call: () => Promise<T>): Promise<T> => {
    for (;;) {
      try {
        return await call();
      } catch (error) {
        const { code } = error as { code?: string };
        if (!RETRYABLE.test(String(code))) throw error;
        told.refusals.push(String(code));
      }
    }
  };
  await surely(() => handle.wallets.open({ wallet, customer: wallet }));
  await surely(() => handle.wallets.grant({ wallet, key: 'start', amount: 1_000_000 }));
  for (let n = 0; !stopped(); n++) {
    const [job, queue, price] = [`job-${n}`, `of-${wallet}`, 1 + (n % 7)];
    await surely(() => handle.jobs.submit({ wallet, job, queue, price, payload: { n } }));
    const requestId = `lease-${n}`;
    const leased = await surely(() => handle.jobs.lease({ queue, requestId }));
    const attempt = leased[0]!.job.attempt;
    if (n % 3 === 0) {
      await surely(() =>
        handle.jobs.fail({ wallet, job, attempt, verdict: 'definitive', retryable: false, reason: 'no' }),
      );
      if (n % 2 === 0) continue;
    }
    // Also of those that failed: late, and paid after all.
    await surely(() => handle.jobs.succeed({ wallet, job, attempt, result: { n } }));
    told.paid += price;
  }
  return told;
}

/** Many customers at these handles, in turn; `stop` ends them and says what each wallet must hold. */
export function customers(handles: readonly Older[], count: number, prefix: string) {
  let stopping = false;
  const all = times(count, (index) => customer(handles[index % handles.length]!, `${prefix}-${index}`, () => stopping));
  const ended = Promise.all(all);
  // Heard of when it is stopped.
  ended.catch(() => {});
  return {
    stop: async () => {
      stopping = true;
      const told = await ended;
      return told.map(({ paid, refusals }, index) => ({
        wallet: `${prefix}-${index}`,
        booked: 1_000_000 - paid,
        refusals,
      }));
    },
  };
}
