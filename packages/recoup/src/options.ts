// What `open()` takes, checked.
import type pg from 'pg';
import type { AlertAges } from './alerts/alerts.ts';
import { addressProblem } from './db/address.ts';
import type { PoolOptions } from './db/pool.ts';
import type { Labels } from './db/runner.ts';
import { DEFAULT_SCHEMA, isSchemaName, SCHEMA_RULE } from './db/schema.ts';
import type { Tracer } from './db/tracing.ts';
import { isRules, type Rules } from './decoders/rules.ts';
import { InvalidInput } from './errors.ts';
import { duration, integer, onlyFields, optionalInteger, text } from './input.ts';
import type { HttpProber } from './probes/asking.ts';
import { type Prober, probersInput } from './probes/inputs.ts';
import type { Swept } from './sweeps/sweeper.ts';
import type { DroppedHint } from './upstreams/answer.ts';

export interface OpenOptions {
  /** `postgres://…`, or the options of a `pg` pool. */
  connection: string | pg.PoolConfig;
  /** The schema Recoup lives in; `recoup` unless set. */
  schema?: string;
  /** Apply missing migrations first; otherwise a schema that does not fit is refused. */
  migrate?: boolean;
  /** Set behind a transaction-mode pooler: unnamed statements, no LISTEN, waking by poll. */
  pooler?: boolean;
  /** Connections for transitions; 10 unless set. */
  maxConnections?: number;
  /** How long a call may wait for a wallet that another transaction holds, in ms; then `wallet_busy`. 5,000 unless set. */
  lockTimeoutMs?: number;
  /** Run the sweeps in this process; true unless set. At least one process must. */
  sweep?: boolean;
  /** The longest that anything sleeps, in ms: due work starts within it even when nothing wakes it. 2,000 unless set. */
  pollMs?: number;
  /** Delete the rows of jobs that ended longer ago than this, in ms; never unless set. */
  pruneAfterMs?: number;
  /** An upstream that is on and was not used for so long is an alert, in ms; never unless set. */
  alertIdleMs?: number;
  /** A block that has been open for so long is an alert, in ms; 3,600,000 unless set. */
  alertBlockedMs?: number;
  /** Told of each answer, for metrics: `job.fail`, `duplicate`; and with `{ policy }` of each block that ends, or was tried: `block.recover`, `success`; and with `{ scope }` of each window that a person or the sweep began: `window.restart`, `reset`. */
  onTransition?: (transition: string, outcome: string, labels?: Labels) => void;
  /** Your rules for what providers answer, from `readRules` of recoup/decoders: they come before the built-in ones. */
  decoderRules?: Rules;
  /** By pool: asks whether an upstream works again, where the pool is set to be asked by a function (see `probes.set`). */
  probers?: Readonly<Record<string, Prober>>;
  /** Sends the requests of pools that are asked over HTTP; the service brings one. */
  httpProber?: HttpProber;
  /** Questions of probes at once from this process, 1 to 100; 8 unless set. */
  probesAtOnce?: number;
  /** Told of each value in a provider's answer that was implausible and counts for nothing, for metrics. */
  onDropped?: (dropped: DroppedHint) => void;
  /** This machine's clock, in ms since 1970: how old a provider's answer is goes by it, and nothing else. For tests and rehearsals that move the database's clock; `Date.now` unless set. */
  now?: () => number;
  /** Told of each pass of the sweeps, for metrics. */
  onSweep?: (swept: Swept) => void;
  /** Told of what goes wrong in the background: a sweep that failed, a row that cannot be handled. Default: console.error. */
  onError?: (error: Error) => void;
  /** Told of transitions and handlers as they run: recoup/opentelemetry makes one. */
  tracer?: Tracer;
  applicationName?: string;
}

const FIELDS = [
  'connection',
  'schema',
  'migrate',
  'pooler',
  'maxConnections',
  'lockTimeoutMs',
  'sweep',
  'pollMs',
  'pruneAfterMs',
  'alertIdleMs',
  'alertBlockedMs',
  'onTransition',
  'decoderRules',
  'probers',
  'httpProber',
  'probesAtOnce',
  'onDropped',
  'now',
  'onSweep',
  'onError',
  'tracer',
  'applicationName',
];

/** What the options come to, with their defaults. */
export function checkOptions(options: OpenOptions): {
  pool: PoolOptions;
  pollMs: number;
  pruneAfterMs: number | null;
  alertAges: AlertAges;
  probesAtOnce: number;
} {
  onlyFields('open', options, FIELDS);
  const schema = options.schema ?? DEFAULT_SCHEMA;
  if (!isSchemaName(schema)) {
    throw new InvalidInput('schema', SCHEMA_RULE);
  }
  if (!options.connection) throw new InvalidInput('connection', 'a connection string, or the options of a pg pool');
  const problem = typeof options.connection === 'string' ? addressProblem(options.connection) : null;
  if (problem !== null) throw new InvalidInput('connection', problem);
  for (const name of ['onTransition', 'httpProber', 'onDropped', 'now', 'onSweep', 'onError'] as const) {
    if (options[name] !== undefined && typeof options[name] !== 'function')
      throw new InvalidInput(name, 'must be a function');
  }
  if (options.decoderRules !== undefined && !isRules(options.decoderRules))
    throw new InvalidInput('decoderRules', 'must be what readRules of recoup/decoders gives');
  text('applicationName', options.applicationName, 63);
  const pollMs = integer('pollMs', options.pollMs ?? 2000, 10, 3_600_000);
  const pruneAfterMs = optionalInteger('pruneAfterMs', options.pruneAfterMs, 0, 315_360_000_000);
  const alertAges = {
    idleMs: duration('alertIdleMs', options.alertIdleMs, 1000),
    blockedMs: duration('alertBlockedMs', options.alertBlockedMs, 1000) ?? 3_600_000,
  };
  const pool = {
    connection: options.connection,
    schema,
    pooler: options.pooler ?? false,
    max: integer('maxConnections', options.maxConnections ?? 10, 4, 1000),
    lockTimeoutMs: integer('lockTimeoutMs', options.lockTimeoutMs ?? 5000, 1, 3_600_000),
    applicationName: options.applicationName ?? 'recoup',
  };
  probersInput(options.probers);
  const probesAtOnce = integer('probesAtOnce', options.probesAtOnce ?? 8, 1, 100);
  return { pool, pollMs, pruneAfterMs, alertAges, probesAtOnce };
}
