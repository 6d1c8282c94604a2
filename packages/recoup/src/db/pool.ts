// Recoup's own connections: a hot pool for transitions, a small one for reports, and transactions on them.
import pg from 'pg';
import { Refusal, TransactionAborted } from '../errors.ts';
import { type AnyStatement, type Database, decodeAnswer, overQueryable } from './database.ts';
import { kindOf } from './failures.ts';
import { type LockMode, render } from './statement.ts';

export interface PoolOptions {
  /** Connection string or the options of a pg pool. */
  connection: string | pg.PoolConfig;
  schema: string;
  /** Behind a transaction-mode pooler: unnamed statements, no session settings, no LISTEN. */
  pooler: boolean;
  /** Connections of the hot pool. */
  max: number;
  /** How long a statement may wait for a locked row, in milliseconds. */
  lockTimeoutMs: number;
  applicationName: string;
}

/**
 * Settings of the connections that run transitions. Every hot statement has an index for its job, so sequential scans and
 * JIT are only ever a bad plan made from stale statistics; the generic plan spares planning a statement of two pages each
 * time; and the isolation is the one that the statements are written for, whatever the role's default.
 */
const HOT_SETTINGS = {
  enable_seqscan: 'off',
  jit: 'off',
  plan_cache_mode: 'force_generic_plan',
  default_transaction_isolation: 'read\\ committed',
  search_path: 'pg_catalog,pg_temp',
};
/** How long a connection may say nothing where nothing is waited for. */
const SILENT_MS = 20_000;
/** Wallets waited for at once. */
export const MAX_PATIENT = 4;
/** Transactions of several statements at once. */
const MAX_JOINED = 4;

/**
 * What the pools are for. `hot`: batches and small reads, never held for long. `patient`: statements that wait for one
 * wallet. `joined`: transactions of several of our statements, short, and they wait for nobody's wallet. `caller`: `transaction(fn)`, which lasts as long as the caller's code and runs his statements too, so that
 * neither its length nor our settings meet the others: but for JIT, which takes 150 ms for a statement of 1 ms. `reports`: verify and what else reads much.
 */
type Purpose = 'hot' | 'patient' | 'joined' | 'caller' | 'reports';

/** The connections of one purpose. */
export interface PoolUsage {
  purpose: Purpose;
  max: number;
  /** Open ones. */
  open: number;
  idle: number;
  /** Callers that wait for one. */
  waiting: number;
}

export class Pools {
  readonly schema: string;
  readonly #options: PoolOptions;
  readonly #pools = new Map<Purpose, pg.Pool>();
  #ended = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.schema = options.schema;
  }

  get pooler(): boolean {
    return this.#options.pooler;
  }

  get lockTimeoutMs(): number {
    return this.#options.lockTimeoutMs;
  }

  /** For transitions and small reads. */
  get hot(): Database {
    return this.#over('hot');
  }

  /** For reports and verify, which read much: planned without the hot pool's settings. */
  get reports(): Database {
    return this.#over('reports');
  }

  /** A raw client, for migrations (which may take long) and notifications. The caller releases it. */
  connect(): Promise<pg.PoolClient> {
    return this.#pool('caller').connect();
  }

  /** A connection of its own, outside of the pools: for LISTEN. */
  dedicated(): pg.Client {
    return new pg.Client(this.#config('caller'));
  }

  /** Runs `fn` in one transaction: committed when it returns, rolled back when it throws. */
  async transaction<T>(
    purpose: 'patient' | 'joined' | 'caller',
    fn: (client: pg.PoolClient, db: Database) => Promise<T>,
    waitMs = this.lockTimeoutMs,
  ): Promise<T> {
    const client = await this.#pool(purpose).connect();
    const lent = lend(client);
    let broken: Error | undefined;
    const onError = (error: Error) => {
      broken = error;
    };
    client.on('error', onError);
    try {
      const isolation = purpose === 'caller' ? '' : ' isolation level read committed';
      await client.query(`begin${isolation}; set local lock_timeout = ${waitMs}`);
      const db = purpose === 'joined' ? this.#named(lent.client) : overQueryable(lent.client, this.schema);
      const result = await fn(lent.client, db);
      // The COMMIT of an aborted transaction answers ROLLBACK, without an error.
      const { command } = await client.query('commit');
      if (command === 'ROLLBACK') throw new TransactionAborted();
      return result;
    } catch (error) {
      // Where nobody listens any more a rollback would only be waited for once more; closing the connection is one.
      if (kindOf(error) === 'gone') broken ??= error as Error;
      else {
        await client.query('rollback').catch((e: Error) => {
          broken ??= e;
        });
      }
      throw error;
    } finally {
      lent.takeBack();
      // What the caller set on the session goes before somebody else gets the connection.
      if (purpose === 'caller' && !this.#options.pooler && !broken) {
        await client.query(CLEAN).catch((e: Error) => {
          broken = e;
        });
      }
      client.off('error', onError);
      client.release(broken);
    }
  }

  /** Reads on one snapshot, on a connection for reports: what is written meanwhile is not seen. */
  async snapshot<T>(fn: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const client = await this.#pool('reports').connect();
    try {
      await client.query('begin isolation level repeatable read read only');
      const result = await fn(client);
      await client.query('commit');
      client.release();
      return result;
    } catch (error) {
      client.release(true);
      throw error;
    }
  }

  usage(): PoolUsage[] {
    return [...this.#pools].map(([purpose, pool]) => {
      const { totalCount: open, idleCount: idle, waitingCount: waiting } = pool;
      return { purpose, max: pool.options.max, open, idle, waiting };
    });
  }

  async end(): Promise<void> {
    this.#ended = true;
    await Promise.all([...this.#pools.values()].map((pool) => pool.end()));
  }

  #over(purpose: Purpose): Database {
    return this.#named({ query: (query) => this.#pool(purpose).query(query) }, false);
  }

  /** Over our own connections: statements are prepared once on each, but for behind a pooler. */
  #named(on: { query(query: pg.QueryConfig): Promise<unknown> }, inTransaction = true): Database {
    const { schema, pooler } = this.#options;
    return {
      schema,
      inTransaction,
      run: async <A>(statement: AnyStatement<A>, inputs: string, mode: LockMode = 'patient') => {
        const { text, prepared } = render(statement, mode, schema);
        const values = [inputs];
        const query = pooler ? { text, values } : { name: prepared, text, values };
        return decodeAnswer<A>(await on.query(query), statement.name);
      },
    };
  }

  /** The pool for a purpose, made at its first use. */
  #pool(purpose: Purpose): pg.Pool {
    if (this.#ended) throw new Refusal('closed');
    let pool = this.#pools.get(purpose);
    if (!pool) {
      const max = {
        hot: this.#options.max,
        caller: this.#options.max,
        patient: MAX_PATIENT,
        joined: MAX_JOINED,
        reports: 2,
      }[purpose];
      pool = new pg.Pool({ ...this.#config(purpose), max });
      // An idle connection that the server closes is no news: the pool drops it, the next query opens another.
      pool.on('error', () => {});
      // Nor is it for one in use: its query hears of it. A client without a listener would end the whole process instead.
      pool.on('connect', (client) => client.on('error', () => {}));
      this.#pools.set(purpose, pool);
    }
    return pool;
  }

  #config(purpose: Purpose): pg.PoolConfig {
    const { connection, pooler, lockTimeoutMs, applicationName } = this.#options;
    // For its wallet, and then for its job.
    const waits = purpose === 'patient' || purpose === 'joined' ? 2 : 0;
    const given: pg.PoolConfig = typeof connection === 'string' ? { connectionString: connection } : connection;
    const settings = {
      hot: HOT_SETTINGS,
      patient: HOT_SETTINGS,
      joined: HOT_SETTINGS,
      caller: { jit: 'off' },
      reports: { jit: 'off', search_path: 'pg_catalog,pg_temp' },
    }[purpose];
    const all: Record<string, string> = { ...settings, lock_timeout: `${lockTimeoutMs}` };
    const flags = Object.entries(all).map(([key, value]) => `-c ${key}=${value}`);
    return {
      application_name: applicationName,
      connectionTimeoutMillis: 10_000,
      // A connection that went silent must not hold its calls for ever; what a caller runs or reads much may take longer.
      ...(purpose === 'hot' || purpose === 'patient' || purpose === 'joined'
        ? { query_timeout: SILENT_MS + waits * lockTimeoutMs }
        : {}),
      keepAlive: true,
      ...given,
      // Poolers refuse the startup parameter `options`.
      ...(pooler ? {} : { options: [given.options, ...flags].filter(Boolean).join(' ') }),
    };
  }
}

const CLEAN = 'reset session authorization; reset all; unlisten *; select pg_catalog.pg_advisory_unlock_all()';

/** The client as it is lent to a caller's function: after the function's end it belongs to somebody else's transaction. */
function lend(client: pg.PoolClient): { client: pg.PoolClient; takeBack(): void } {
  let over = false;
  const handler: ProxyHandler<pg.PoolClient> = {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      if (name === 'release' || name === 'end') return () => {};
      return (...args: unknown[]) => {
        if (over) throw new Refusal('closed', 'This transaction is over: its client cannot be used any more.');
        return Reflect.apply(value, target, args);
      };
    },
  };
  return {
    client: new Proxy(client, handler),
    takeBack: () => {
      over = true;
    },
  };
}
