// The handle: opens a database, holds its parts together, joins callers' transactions, closes.
import { hostname } from 'node:os';
import type pg from 'pg';
import { type AlertAges, Alerts } from './alerts/alerts.ts';
import { untilItWins } from './db/again.ts';
import { BatchingRunner } from './db/batch.ts';
import { type Database, overQueryable, type Queryable } from './db/database.ts';
import { joinedTransactions } from './db/joined.ts';
import type { Pools, PoolUsage } from './db/pool.ts';
import { type Runner, transactionRunner } from './db/runner.ts';
import { type Tracer, traced } from './db/tracing.ts';
import { Epochs } from './epochs.ts';
import { InvalidInput, Refusal } from './errors.ts';
import { Feed } from './feed/feed.ts';
import { Inbox } from './inbox/inbox.ts';
import type { Capacity } from './jobs/answered.ts';
import { Jobs } from './jobs/jobs.ts';
import { nextReady } from './jobs/queries.ts';
import type { OpenOptions } from './options.ts';
import { Payments } from './payments/payments.ts';
import { Asking } from './probes/asking.ts';
import { probersInput } from './probes/inputs.ts';
import { Probes } from './probes/probes.ts';
import { ASKER, Probing } from './probes/probing.ts';
import { Queues } from './queues/configure.ts';
import { type Atomically, Subscriptions } from './subscriptions/subscriptions.ts';
import { Sweeper, type Swept } from './sweeps/sweeper.ts';
import { quiet } from './telling.ts';
import { Estimates } from './upstreams/estimates.ts';
import type { Decoding } from './upstreams/reporting.ts';
import { Upstreams } from './upstreams/upstreams.ts';
import { type Verified, type VerifyOptions, verify } from './verify.ts';
import { Waking } from './waking.ts';
import { Wallets } from './wallets/wallets.ts';
import { Webhooks } from './webhooks/webhooks.ts';
import { type Handler, Worker, type WorkOptions } from './worker/worker.ts';

/** Recoup inside a transaction of the caller: what is done here commits or rolls back with it. */
export interface InTransaction {
  readonly wallets: Wallets;
  readonly jobs: Jobs;
  readonly queues: Queues;
  readonly upstreams: Upstreams;
  readonly inbox: Inbox;
  readonly subscriptions: Subscriptions;
  readonly payments: Payments;
}

export class Recoup implements AsyncDisposable {
  readonly wallets: Wallets;
  readonly jobs: Jobs;
  readonly queues: Queues;
  readonly upstreams: Upstreams;
  readonly inbox: Inbox;
  readonly feed: Feed;
  readonly epochs: Epochs;
  readonly webhooks: Webhooks;
  readonly alerts: Alerts;
  readonly subscriptions: Subscriptions;
  readonly payments: Payments;
  readonly probes: Probes;
  readonly #pools: Pools;
  readonly #batches: BatchingRunner;
  /** The batches, told to the tracer where there is one. */
  readonly #runner: Runner;
  readonly #tracer: Tracer | undefined;
  readonly #reports: Runner;
  readonly #waking: Waking;
  readonly #sweeper: Sweeper;
  readonly #probing: Probing;
  readonly #workers = new Set<Worker>();
  readonly #onTransition: Runner['observe'];
  readonly #onError: (error: Error) => void;
  readonly #pollMs: number;
  readonly #decoding: Decoding;
  readonly #estimates: Estimates;
  /** The runner of a transaction. */
  readonly #inside = (db: Database): Runner => this.#traced(transactionRunner(db, this.#onTransition));
  #closing: Promise<void> | undefined;

  /** Use `open()`. */
  constructor(
    pools: Pools,
    options: Omit<OpenOptions, 'pruneAfterMs'> & {
      pollMs: number;
      pruneAfterMs: number | null;
      alertAges: AlertAges;
      probesAtOnce: number;
    },
  ) {
    this.#pools = pools;
    this.#onError = quiet(options.onError ?? ((error: Error) => console.error(`recoup: ${error.message}`)), () => {});
    this.#onTransition = quiet(options.onTransition ?? (() => {}), this.#onError);
    this.#pollMs = options.pollMs;
    this.#batches = new BatchingRunner(pools, this.#onTransition);
    this.#tracer = options.tracer;
    this.#runner = this.#traced(this.#batches);
    this.#reports = transactionRunner({ ...pools.reports, inTransaction: false }, () => {});
    this.#waking = new Waking(pools);
    const wake = (queue: string) => this.#waking.wake(queue);
    this.wallets = new Wallets(this.#runner);
    this.queues = new Queues(this.#runner, this.#reports);
    const onDropped = quiet(options.onDropped ?? (() => {}), this.#onError);
    const now = options.now ?? (() => Date.now());
    this.#decoding = {
      rules: options.decoderRules,
      onDropped,
      providers: new Map(),
      now,
      onGated: () => this.#waking.wake(ASKER),
    };
    this.#estimates = new Estimates(this.#reports);
    this.upstreams = new Upstreams(this.#runner, this.#decoding, this.#estimates);
    this.jobs = new Jobs(this.#runner, wake, this.#capacity(joinedTransactions(pools, this.#inside)), this.#tracer);
    this.inbox = new Inbox(this.#runner);
    this.subscriptions = new Subscriptions(this.#runner, this.#atomically);
    this.payments = new Payments(this.#runner, this.#atomically);
    this.feed = new Feed(this.#runner);
    this.epochs = new Epochs(pools);
    this.webhooks = new Webhooks(this.#runner);
    this.alerts = new Alerts(this.#runner, options.alertAges);
    this.#sweeper = new Sweeper(this.#runner, this.#waking, {
      subscriptions: this.subscriptions,
      lookAtAlerts: () => this.alerts.look(),
      capMs: this.#pollMs,
      pruneAfterMs: options.pruneAfterMs,
      onError: this.#onError,
      onSweep: quiet(options.onSweep ?? (() => {}), this.#onError),
    });
    const asking = new Asking(this.#runner, this.#decoding, probersInput(options.probers), options.httpProber);
    this.#probing = new Probing(this.#runner, this.#waking, asking, {
      holder: `${options.applicationName ?? 'recoup'} ${hostname()} ${process.pid}`,
      capMs: this.#pollMs,
      atOnce: options.probesAtOnce,
      onError: this.#onError,
    });
    this.probes = new Probes(this.#runner, this.#reports, this.#probing, () => this.#waking.wake(ASKER));
    if (options.sweep ?? true) {
      this.#sweeper.start();
      this.#probing.start();
    }
  }

  /** The schema that Recoup lives in here. */
  get schema(): string {
    return this.#pools.schema;
  }

  /**
   * Recoup inside the caller's transaction: its own INSERT and the charge commit together or not at all. Nothing is
   * retried, batched or wrapped in a savepoint: a lost race throws TransactionConflict (run the whole transaction again).
   * Waking cannot happen before the commit: call `wake(queue)` after it, or let the workers' poll find the job.
   */
  using(client: Queryable): InTransaction {
    // A pool would take another connection for each statement: charged at once, whatever becomes of the transaction.
    if (typeof client?.query !== 'function') {
      const rule = 'must have query(text, values): a pg client, or what recoup/adapters makes of another';
      throw new InvalidInput('client', rule);
    }
    if ('totalCount' in client)
      throw new InvalidInput('client', 'must be the client that began the transaction, not a pool');
    return this.#parts(this.#inside(overQueryable(client, this.#pools.schema)), () => {});
  }

  #parts(runner: Runner, wake: (queue: string) => void): InTransaction {
    const capacity = this.#capacity((work) => work(runner));
    return {
      wallets: new Wallets(runner),
      jobs: new Jobs(runner, wake, capacity, this.#tracer),
      queues: new Queues(runner, runner),
      upstreams: new Upstreams(runner, this.#decoding, this.#estimates),
      inbox: new Inbox(runner),
      subscriptions: new Subscriptions(runner, (fn) => fn(runner)),
      payments: new Payments(runner, (fn) => fn(runner)),
    };
  }

  #capacity(transact: Capacity['transact']): Capacity {
    const { lockTimeoutMs } = this.#pools;
    return { decoding: this.#decoding, estimates: this.#estimates, lockTimeoutMs, transact };
  }

  /**
   * Runs `fn` in a transaction of Recoup's own connection and wakes the workers after its commit. The client takes the
   * caller's statements too. Run again from the start when it lost a race, up to five times: `fn` must not do what
   * cannot be repeated.
   */
  transaction<T>(fn: (recoup: InTransaction, client: pg.PoolClient) => Promise<T>): Promise<T> {
    let thrown: unknown;
    const once = async () => {
      const woken = new Set<string>();
      const result = await this.#pools.transaction('caller', async (client, db) => {
        try {
          return await fn(
            this.#parts(this.#inside(db), (queue) => woken.add(queue)),
            client,
          );
        } catch (error) {
          thrown = error;
          throw error;
        }
      });
      for (const queue of woken) this.wake(queue);
      return result;
    };
    return untilItWins(
      once,
      (refusal) => refusal,
      (refusal, error) => (error === thrown ? error : refusal),
    );
  }

  /** One of Recoup's own transactions, for what takes more than one statement. */
  readonly #atomically: Atomically = (fn) =>
    untilItWins(
      () => this.#pools.transaction('patient', (_, db) => fn(this.#inside(db))),
      (_, error) => new Refusal('wallet_busy', undefined, {}, { cause: error }),
      (refusal) => refusal,
    );

  /** Tells idle workers, here and elsewhere, that a queue has something. A hint: without it the poll finds the job. */
  wake(queue: string): void {
    this.#waking.wake(queue);
  }

  /**
   * For who leases by hand: make it before leasing; when nothing was due, `wait` ends as soon as the queue was woken since,
   * the next job of the queue is due, the poll's cap or `ms` is over, or the signal fires. A hint: lease again and see.
   */
  waiter(queue: string): (ms: number, signal: AbortSignal) => Promise<void> {
    this.#waking.listen();
    const seen = this.#waking.count(queue);
    return async (ms, signal) => {
      const inMs = await this.#dueInMs(queue);
      const due = inMs === null || inMs <= 0 ? this.#pollMs : Math.max(inMs, 5);
      await this.#waking.wait(queue, Math.min(ms, due, this.#pollMs), signal, seen);
    };
  }

  async #dueInMs(queue: string): Promise<number | null> {
    return (await this.#runner.read(nextReady, [{ queue }]))[0]?.inMs ?? null;
  }

  /** Runs jobs of a queue with a handler until the handle closes or `stop()` is called on what it returns. */
  work(queue: string, handler: Handler, options: WorkOptions = {}): Worker {
    if (this.#closing) throw new Refusal('closed');
    const context = {
      jobs: this.jobs,
      waking: this.#waking,
      dueInMs: (name: string) => this.#dueInMs(name),
      onError: this.#onError,
      pollMs: this.#pollMs,
      tracer: this.#tracer,
    };
    const worker = new Worker(queue, handler, options, context);
    this.#waking.listen();
    this.#workers.add(worker);
    void worker.stopped.then(() => this.#workers.delete(worker));
    worker.start();
    return worker;
  }

  #traced(runner: Runner): Runner {
    return this.#tracer ? traced(runner, this.#tracer) : runner;
  }

  /** The connections of this handle now, by what they are for: those that are there, idle ones, callers that wait for one. */
  connections(): PoolUsage[] {
    return this.#pools.usage();
  }

  /** One pass of the sweeps now, beside the loop. */
  sweep(): Promise<Swept> {
    return this.#sweeper.pass();
  }

  /** Replays the ledger and holds every promise against it; names the wallet and the first wrong entry. Reads everything. */
  verify(options: VerifyOptions = {}): Promise<Verified> {
    return verify(this.#pools, options);
  }

  /** Drains the workers (finish or release), waits for calls on their way, closes the connections. Safe to call twice. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await Promise.all([...this.#workers].map((worker) => worker.stop()));
    await Promise.all([this.#sweeper.stop(), this.#probing.stop()]);
    await this.#waking.close();
    await this.#batches.close();
    await this.#pools.end();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
