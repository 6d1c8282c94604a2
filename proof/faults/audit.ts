// The audit: the clients' record against what the database holds, by SQL of its own and by `verify`.
import { open } from '../../packages/recoup/src/index.ts';
import type { Postgres } from './postgres.ts';
import { type Book, type Intent, isAcknowledged, type Submitted } from './record.ts';

export interface Finding {
  /** How many there are, and the first few in words. */
  count: number;
  examples: string[];
}

export interface Audit {
  acknowledged: number;
  /** Acknowledged changes that are not there. */
  lost: Finding;
  /** Changes that were meant once and are there twice. */
  doubled: Finding;
  /** Jobs that took something else from their wallet than they came to. */
  wrong: Finding;
  /** Entries that nobody asked for. */
  foreign: Finding;
  /** Jobs with a queue or a deadline that reached no end. */
  unended: Finding;
  /** What verify found. */
  problems: Finding;
}

interface EntryRow {
  wallet: string;
  type: string;
  amount: number;
  job: string | null;
  key: string | null;
}
interface JobRow {
  state: string;
  price: number;
  final: number | null;
}

const ENTRIES = `select wallet_id as wallet, type, amount::float8 as amount, job_id as job, key from recoup.entries
  where wallet_id like $1`;
const JOBS = `select wallet_id as wallet, id, state, price::float8 as price, final_price::float8 as final from recoup.jobs
  where wallet_id like $1`;
/** Jobs that the workers, the sweeps or a deadline still have to end. */
const OPEN = `select wallet_id || ' ' || id || ' ' || state as open from recoup.jobs
  where wallet_id like $1 and (state in ('queued', 'running') or (state = 'waiting' and deadline_at is not null))`;

export async function openJobs(postgres: Postgres, wallets: string): Promise<string[]> {
  return (await postgres.query(OPEN, [`${wallets}%`])).map(({ open }) => String(open));
}

export const finding = (all: readonly string[]): Finding => ({ count: all.length, examples: all.slice(0, 5) });
/** What was meant: a client without keys asks under another name each time. */
const meant = (id: string) => id.replace(/#\d+$/, '');

export async function audit(postgres: Postgres, book: Book, wallets: string): Promise<Audit> {
  const entries = (await postgres.query(ENTRIES, [`${wallets}%`])) as unknown as EntryRow[];
  const rows = (await postgres.query(JOBS, [`${wallets}%`])) as unknown as (JobRow & { wallet: string; id: string })[];
  const held = new Held(entries, rows);
  const acknowledged = book.intents.filter(isAcknowledged);
  return {
    acknowledged: acknowledged.length,
    lost: finding(acknowledged.filter((intent) => !held.has(intent)).map(inWords)),
    doubled: finding(held.doubled()),
    wrong: finding(book.jobs.flatMap((job) => held.wrong(job))),
    foreign: finding(held.foreign(book)),
    unended: finding(await openJobs(postgres, wallets)),
    problems: finding(await verified(postgres)),
  };
}

async function verified(postgres: Postgres): Promise<string[]> {
  const recoup = await open({ connection: postgres.url, sweep: false });
  const { ok, problems } = await recoup.verify();
  await recoup.close();
  return ok ? [] : problems.map((problem) => JSON.stringify(problem));
}

const inWords = ({ kind, wallet, id, amount, answer, doubts }: Intent) =>
  `${kind} ${wallet} ${id} ${amount ?? ''} answered ${answer} after ${doubts} doubts`;

/** What the database holds, by what it is about. */
class Held {
  readonly #entries: readonly EntryRow[];
  readonly #amounts = new Map<string, number>();
  readonly #taken = new Map<string, number>();
  readonly #jobs = new Map<string, JobRow>();

  constructor(entries: readonly EntryRow[], jobs: readonly (JobRow & { wallet: string; id: string })[]) {
    this.#entries = entries;
    for (const { wallet, type, amount, job, key } of entries) {
      this.#amounts.set(`${type} ${wallet} ${key ?? job}`, amount);
      const name = `${wallet} ${job}`;
      if (key === null) this.#taken.set(name, (this.#taken.get(name) ?? 0) - amount);
    }
    for (const job of jobs) this.#jobs.set(`${job.wallet} ${job.id}`, job);
  }

  /** Whether an acknowledged change is there, as it was meant. */
  has({ kind, wallet, id, amount = 0, answer, doubts }: Intent): boolean {
    const entry = (type: string) => this.#amounts.get(`${type} ${wallet} ${id}`);
    const job = this.#jobs.get(`${wallet} ${id}`);
    switch (kind) {
      case 'grant':
      case 'adjust':
        return (entry(kind) ?? this.#amounts.get(`${kind} ${wallet} ${id}#${doubts}`)) === amount;
      case 'submit':
        return (entry('charge') ?? this.#amounts.get(`charge ${wallet} ${id}#${doubts}`)) === -amount;
      case 'fail':
        return job !== undefined && entry('refund') === job.price;
      case 'succeed':
        return job?.state === 'succeeded' && (answer !== 'reclaimed' || entry('reclaim') === -job.price);
      case 'settle':
        return job !== undefined && job.final === amount && entry('settle') === job.price - amount;
      case 'cancel':
        return job?.state === 'canceled' && entry('refund') === job.price && (job.final ?? 0) === amount;
    }
  }

  /** Entries of a kind by what was meant with them: more than one is one too many. */
  doubled(): string[] {
    const seen = new Map<string, number>();
    for (const { wallet, type, key, job } of this.#entries) {
      const name = `${type} ${wallet} ${meant(key ?? job ?? '')}`;
      seen.set(name, (seen.get(name) ?? 0) + 1);
    }
    return [...seen].filter(([, count]) => count > 1).map(([name, count]) => `${name}: ${count} times`);
  }

  wrong({ wallet, id, price, takes }: Submitted): string[] {
    const job = this.#jobs.get(`${wallet} ${id}`);
    const taken = this.#taken.get(`${wallet} ${id}`) ?? 0;
    const ended = job?.state === 'succeeded' ? (job.final ?? price) : (job?.final ?? 0);
    const wanted = takes === 'as it ended' ? ended : takes;
    return taken === wanted ? [] : [`${wallet} ${id} took ${taken} instead of ${wanted} (${job?.state})`];
  }

  foreign(book: Book): string[] {
    const known = new Set(book.intents.map(({ wallet, id }) => `${wallet} ${meant(id)}`));
    return this.#entries
      .filter(({ wallet, key, job }) => !known.has(`${wallet} ${meant(key ?? job ?? '')}`))
      .map(({ wallet, type, key, job }) => `${type} ${wallet} ${key ?? job}`);
  }
}
