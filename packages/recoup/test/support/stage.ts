// A database per test file and server, with the handles and clients that tests open on it; all closed with the file.
import pg from 'pg';
import { afterAll, expect, inject, test } from 'vitest';
import type { TestServer } from '../../../server/test/global-setup.ts';
import { type OpenOptions, open, type Recoup, type Submit } from '../../src/index.ts';
import { type TestDatabase, testDatabase } from '../../src/testing.ts';

export const servers: readonly TestServer[] = inject('servers');

/** One attempt in somebody's hands, and the queue it came from. */
export interface Running {
  wallet: string;
  job: string;
  attempt: number;
}

let counter = 0;
/** An id that no other test uses. */
export const newId = (kind: string): string => `${kind}-${++counter}`;

export class Stage {
  readonly server: TestServer;
  readonly db: TestDatabase;
  /** A handle without sweeps: what is due stays until a test sweeps. */
  readonly recoup: Recoup;
  /** What the background of the handles complained of. */
  readonly complaints: Error[];
  readonly #handles: Recoup[];
  readonly #clients: pg.Client[] = [];

  private constructor(server: TestServer, db: TestDatabase, recoup: Recoup, complaints: Error[]) {
    this.server = server;
    this.db = db;
    this.recoup = recoup;
    this.complaints = complaints;
    this.#handles = [recoup];
  }

  static async on(server: TestServer): Promise<Stage> {
    const db = await testDatabase(server.url);
    const complaints: Error[] = [];
    const onError = (error: Error) => void complaints.push(error);
    return new Stage(server, db, await open({ connection: db.url, sweep: false, onError }), complaints);
  }

  /** Another replica. */
  async replica(options: Partial<OpenOptions> = {}): Promise<Recoup> {
    const onError = (error: Error) => void this.complaints.push(error);
    const handle = await open({ connection: this.db.url, sweep: false, onError, ...options });
    this.#handles.push(handle);
    return handle;
  }

  /** A raw client: for holding locks and for other people's transactions. */
  async client(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: this.db.url });
    client.on('error', () => {});
    await client.connect();
    this.#clients.push(client);
    return client;
  }

  /** A new wallet that holds these credits. */
  async wallet(credits = 0, overdraftLimit = 0): Promise<string> {
    const wallet = newId('wallet');
    await this.recoup.wallets.open({ wallet, customer: 'customer', overdraftLimit });
    if (credits > 0) await this.recoup.wallets.grant({ wallet, key: 'start', amount: credits });
    return wallet;
  }

  /** A queued job in a queue and a wallet of its own, unless others are named. */
  async queued(price: number, more: Partial<Submit> = {}): Promise<{ wallet: string; job: string; queue: string }> {
    const wallet = more.wallet ?? (await this.wallet(price));
    const submit = { wallet, job: newId('job'), queue: newId('queue'), price, ...more };
    await this.recoup.jobs.submit(submit);
    return { wallet, job: submit.job, queue: submit.queue as string };
  }

  /** Such a job, running in its first attempt. */
  async running(price: number, more: Partial<Submit> = {}): Promise<Running & { queue: string }> {
    const { queue, ...key } = await this.queued(price, more);
    const attempt = await this.lease(queue);
    return { ...key, attempt, queue };
  }

  /** A job without a queue, as its caller's own queue has it. */
  async external(price: number, more: Partial<Submit> = {}): Promise<{ wallet: string; job: string }> {
    const { wallet, job } = await this.queued(price, { queue: null, ...more });
    return { wallet, job };
  }

  /** Takes the one job that is ready in a queue, whenever it is due; returns its attempt. */
  async lease(queue: string): Promise<number> {
    await this.due(queue);
    const leased = await this.recoup.jobs.lease({ queue, count: 2, worker: 'tester' });
    expect(leased).toHaveLength(1);
    return leased[0]!.job.attempt;
  }

  /** Makes every queued job of a queue due, by moving the clock. */
  async due(queue: string): Promise<void> {
    const [row] = await this.db.query(
      `select ceil(extract(epoch from max(not_before) - recoup.clock()) * 1000)::int as ms from recoup.jobs where queue = $1`,
      [queue],
    );
    const ms = Number(row?.ms ?? 0);
    if (ms > 0) await this.db.advance(ms);
  }

  /** Stops the clock at a full millisecond, so that a Date is exact. */
  async stopClock(): Promise<number> {
    const now = await this.db.now();
    await this.db.setClock(now);
    return now.getTime();
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.end().catch(() => {})));
    await Promise.all(this.#handles.map((handle) => handle.close()));
    await this.db.drop();
  }
}

type Body = (stage: Stage) => Promise<void>;

/** What a file of tests needs: the same test on every server or on the first one, on the file's database there. */
export function staging(): {
  onEvery: (name: string, body: Body) => void;
  onFirst: (name: string, body: Body) => void;
} {
  const stages = new Map<TestServer, Promise<Stage>>();
  const stageOn = (server: TestServer): Promise<Stage> => {
    const stage = stages.get(server) ?? Stage.on(server);
    stages.set(server, stage);
    return stage;
  };
  afterAll(async () => {
    for (const stage of stages.values()) await (await stage).close();
  });
  const on = (some: readonly TestServer[]) => (name: string, body: Body) => {
    for (const server of some) test(`${name} [${server.name}]`, async () => body(await stageOn(server)));
  };
  return { onEvery: on(servers), onFirst: on(servers.slice(0, 1)) };
}

/** The last test of a file: after all of it the books are right. */
export async function booksAreRight({ recoup }: Stage): Promise<void> {
  const { ok, problems, sumOfEntries, sumOfBalances } = await recoup.verify({ testClock: true });
  expect(problems).toEqual([]);
  expect(ok).toBe(true);
  expect(sumOfEntries).toBe(sumOfBalances);
}
