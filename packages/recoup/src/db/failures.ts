// What an error of the driver means: which may be repeated, which is the input's fault, and the code a caller sees.
import { type ErrorCode, InvalidInput, Refusal, TransactionAborted, TransactionConflict } from '../errors.ts';

/**
 * - `race`: serialization failure or deadlock: the same statement may simply run again
 * - `locked`: lock_timeout
 * - `value`: class 22 or 23: one of the inputs carries it
 * - `gone`: the connection or the server; whether a commit happened is unknown
 */
export type FailureKind =
  | 'race'
  | 'locked'
  | 'value'
  | 'aborted'
  | 'gone'
  | 'read_only'
  | 'refused'
  | 'missing'
  | 'other';

const GONE_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT',
  '57014',
  '57P01',
  '57P02',
  '57P03',
  '57P05',
  '25P03',
  '25P04',
]);
const GONE_TEXT =
  /connection (terminated|ended|closed|is closed|timeout)|timeout (expired|exceeded)|Query read timeout|client (was closed|has encountered)|not queryable|CONNECTION_(CLOSED|ENDED|DESTROYED)|server closed the connection|read ECONN|write EPIPE/i;
const MISSING = new Set(['3F000', '42P01', '42883', '42703']);

/** Prisma's codes look like SQLSTATEs and hide the one behind them; these say by themselves what it was. */
const OF_PRISMA = /^P[1-9]\d{3}$/;
const SAID_BY_PRISMA: Readonly<Record<string, string>> = {
  P2034: '40001',
  TransactionWriteConflict: '40001',
  P1001: '08001',
  P1017: '08006',
  P2024: '53300',
};

/** The SQLSTATE (or the system's error code) of an error, looked for along its causes: wrappers hide it there. */
export function codeOf(error: unknown): string | undefined {
  for (
    let e = error as Record<string, unknown> | undefined, depth = 0;
    e && typeof e === 'object' && depth < 5;
    depth++
  ) {
    const meta = e.meta as Record<string, unknown> | undefined;
    const state = meta?.code ?? e.originalCode ?? e.code ?? e.kind;
    if (typeof state === 'string') {
      if (SAID_BY_PRISMA[state]) return SAID_BY_PRISMA[state];
      if (!OF_PRISMA.test(state) && (/^[0-9A-Z]{5}$/.test(state) || /^E[A-Z_]+$/.test(state))) return state;
    }
    const behind = meta?.driverAdapterError ?? e.cause ?? e.original ?? (e as { errors?: unknown[] }).errors?.[0];
    e = behind as Record<string, unknown> | undefined;
  }
  return undefined;
}

/** What kind of failure an error of any driver is. */
export function kindOf(error: unknown): FailureKind {
  const code = codeOf(error) ?? '';
  if (code === '40001' || code === '40P01') return 'race';
  if (code === '55P03') return 'locked';
  if (code === '25P02') return 'aborted';
  if (code === '25006') return 'read_only';
  if (code.startsWith('28') || code === '42501' || code === '3D000') return 'refused';
  if (MISSING.has(code)) return 'missing';
  if (GONE_CODES.has(code) || code.startsWith('08') || code.startsWith('53')) return 'gone';
  if (code.startsWith('22') || code.startsWith('23')) return 'value';
  const message = error instanceof Error ? error.message : String(error);
  return GONE_TEXT.test(message) ? 'gone' : 'other';
}

const CODES: Record<Exclude<FailureKind, 'aborted'>, ErrorCode> = {
  race: 'wallet_busy',
  locked: 'wallet_busy',
  value: 'database_error',
  gone: 'database_unavailable',
  read_only: 'database_read_only',
  refused: 'database_refused',
  missing: 'schema_missing',
  other: 'database_error',
};

/** The refusal for an error of the driver; refusals pass through. `inTransaction`: the caller's, where nothing may be repeated. */
export function asRefusal(error: unknown, inTransaction: boolean): Refusal {
  if (error instanceof Refusal) return error;
  const kind = kindOf(error);
  if (kind === 'aborted') return new TransactionAborted({ cause: error });
  if (inTransaction && (kind === 'race' || kind === 'locked')) {
    const what =
      kind === 'locked' ? 'a row stayed locked past lock_timeout' : 'it lost a race with another transaction';
    const details = { sqlstate: codeOf(error) };
    return new TransactionConflict(`Run the whole transaction again: ${what}.`, details, { cause: error });
  }
  // What a driver says of an address that is none, before it connects.
  if (/^ERR_(INVALID_URL|SOCKET_BAD_PORT)$/.test(codeOf(error) ?? '')) {
    return new InvalidInput('connection', 'must be an address as postgres://user@host:port/database');
  }
  const parameter = /unsupported startup parameter:? *(\S+)?/i.exec(error instanceof Error ? error.message : '');
  if (parameter) {
    const message = `A pooler refuses the startup parameter ${parameter[1] ?? 'options'}: open with \`pooler: true\`.`;
    return new Refusal('database_refused', message, {}, { cause: error });
  }
  const code = CONSTRAINT_CODES[constraintOf(error)];
  const rival = code !== 'pruned' || /, charge\)/.test(String((error as { detail?: unknown }).detail ?? error));
  if (code !== undefined && rival) {
    if (!inTransaction) return new Refusal(code, undefined, {}, { cause: error });
    // An error of the database has ended the caller's transaction: no answer to one item, whatever it is about.
    if (code === 'pruned')
      return new TransactionConflict('Run the whole transaction again: a rival booked the job.', {}, { cause: error });
    return new TransactionAborted({ cause: error }, { code });
  }
  const state = codeOf(error);
  return new Refusal(CODES[kind], reasonOf(error, kind), state ? { sqlstate: state } : {}, { cause: error });
}

/**
 * What a person needs to know beside the sentence: which role, database or right, which address. Only where the error is the
 * server's or the system's own: what wraps one quotes statements and values.
 */
function reasonOf(error: unknown, kind: FailureKind): string | undefined {
  // Two addresses of one host were tried: the first says enough.
  const first: unknown = (error as { errors?: unknown[] } | undefined)?.errors?.[0] ?? error;
  const { message, code, severity, syscall } = first as Error & Record<'code' | 'severity' | 'syscall', unknown>;
  if (kind === 'refused' && severity !== undefined) return `The database refused: ${message}.`;
  if (kind === 'gone' && syscall !== undefined && typeof code === 'string') {
    return `The database does not answer: ${message}.`;
  }
  return undefined;
}

/**
 * Constraints that answer for a statement: the two balance checks where a batch passes the limit together, and the charge
 * that a rival booked, whose job ended and was pruned, while this submit waited for the wallet.
 */
const CONSTRAINT_CODES: Readonly<Record<string, ErrorCode>> = {
  wallets_balance: 'balance_limit',
  entries_balance: 'balance_limit',
  entries_once_per_job: 'pruned',
};

/** The constraint that refused a value; a shard's suffix on the name does not matter. */
function constraintOf(error: unknown): string {
  const name = (error as { constraint?: unknown } | undefined)?.constraint;
  const message = error instanceof Error ? error.message : '';
  const found = typeof name === 'string' ? name : (/constraint "(\w+)"/.exec(message)?.[1] ?? '');
  return found.replace(/_\d+$/, '');
}

/**
 * Whether an error means "run the whole transaction again": a TransactionConflict, or what a driver says itself where
 * SERIALIZABLE fails only at COMMIT.
 */
export function isConflict(error: unknown): boolean {
  return (error instanceof Refusal && error.code === 'transaction_conflict') || kindOf(error) === 'race';
}

const MAX_RACES = 20;

/**
 * Whether a failure of a batch may be one input's: a value, or a row that the server stumbles over (a corrupt page, a host's
 * own trigger). What concerns the connection, the login or the schema concerns all of them.
 */
export const mayBeOneInputs = (error: unknown): boolean => ['value', 'other'].includes(kindOf(error));

/** Runs again what lost a race (40001, 40P01): nothing of it was done. */
export async function retryRace<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (kindOf(error) !== 'race' || attempt >= MAX_RACES) throw error;
      await new Promise((done) => setTimeout(done, Math.random() * Math.min(2 ** attempt, 100)));
    }
  }
}
