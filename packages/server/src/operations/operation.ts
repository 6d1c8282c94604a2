// What an operation is: one thing a caller may do, with its address, schemas, scopes and function.
import { type ErrorCode, InvalidInput, type Recoup } from 'recoup';
import type { Static, TObject, TSchema } from 'typebox';
import type { Keys } from '../keys/keys.ts';
import type { PaymentHooks } from '../payments/hooks.ts';
import type { Callbacks } from '../webhooks/callbacks.ts';

/** What a key may be for. `admin` may do everything. */
export const SCOPES = ['app', 'worker', 'viewer', 'support', 'operator', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

/** Who asks. */
export interface Caller {
  /** The key's id; null for a caller on loopback without a key. */
  key: string | null;
  scopes: readonly Scope[];
  /** Set: sees only the wallets of this customer. */
  customer: string | null;
}

/** What operations run on. */
export interface Context {
  readonly recoup: Recoup;
  readonly keys: Keys;
  readonly callbacks: Callbacks;
  readonly payments: PaymentHooks;
  readonly caller: Caller;
  /** Fires when the caller is gone, or when the server stops: what waits ends. */
  readonly signal: AbortSignal;
  /** The trace that the caller is in (W3C), kept with the jobs that are submitted. */
  readonly traceparent?: string | undefined;
  /** The request as it came, for those who verify a signature over it. */
  readonly raw?: { headers: Readonly<Record<string, string | string[] | undefined>>; body: Buffer };
}

export type Method = 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE';

/** An event of a stream; `id` is what a reader gives back to go on behind it. */
export interface StreamEvent {
  id?: string;
  event?: string;
  data: unknown;
}

export interface Operation {
  /** `aggregate.verb`: the operationId, the CLI command and the name in the docs. */
  readonly name: string;
  readonly summary: string;
  readonly description?: string;
  /** Keys with one of these may do it, and `admin`. `signature`: carries its own proof, no key is asked for. */
  readonly scopes: readonly Exclude<Scope, 'admin'>[] | 'signature';
  readonly method: Method;
  /** As OpenAPI writes it: `/v1/wallets/{wallet}`. */
  readonly path: string;
  readonly params: TObject;
  readonly query: TObject;
  readonly body: TObject | null;
  /** What it answers, or what each event of its stream carries. */
  readonly output: TSchema;
  /** The codes it can answer beside those that any request can (see COMMON_ERRORS). */
  readonly errors: readonly ErrorCode[];
  readonly writes: boolean;
  /** Has a field `customer`, which is its own for a key that is bound to one. */
  readonly ofCustomer?: true;
  /** The outcome that answers 201. */
  readonly created?: string;
  /** Answers a stream of events instead of one JSON value. */
  readonly stream?: 'sse' | 'ndjson';
  /** Takes many items: its body may be larger. */
  readonly batch?: boolean;
  /** False: a repeat would do it once more, or be refused for what the first call did: after a lost answer a person looks. */
  readonly repeatable?: false;
  /** Its answer says in `retryAfterMs` when to ask again: as Retry-After too, where it is not null. */
  readonly retryAfter?: true;
  /** May wait for this long before it answers: counted among those that wait. */
  readonly waits?: boolean;
  run(context: Context, input: Record<string, unknown>): Promise<unknown> | AsyncIterable<StreamEvent>;
}

/** Payload and result are at most 1 MiB of JSON each; escaped and wrapped they are longer. */
const BODY_LIMIT = 4 * 1_048_576;
const BATCH_BODY_LIMIT = 32 * 1_048_576;

/** How many bytes the body of an operation may have. */
export const bodyLimit = ({ batch }: Pick<Operation, 'batch'>): number => (batch ? BATCH_BODY_LIMIT : BODY_LIMIT);

/** What any request can answer. */
export const COMMON_ERRORS: readonly ErrorCode[] = [
  'invalid',
  'unauthorized',
  'forbidden',
  'wrong_host',
  'foreign_origin',
  'rate_limited',
  'internal',
  'database_error',
  'database_unavailable',
  'database_read_only',
  'database_refused',
  'schema_missing',
];
/** What any request with a body can answer. */
export const BODY_ERRORS: readonly ErrorCode[] = ['too_large', 'unsupported_media_type', 'request_timeout'];

type InputOf<P extends TObject, Q extends TObject, B extends TObject | null> = Static<P> &
  Static<Q> &
  (B extends TObject ? Static<B> : unknown);

/** An operation with its input typed by its schemas; what is absent is empty. */
export function operation<P extends TObject, Q extends TObject, B extends TObject | null>(
  given: Omit<Operation, 'params' | 'query' | 'body' | 'run' | 'writes'> & {
    params: P;
    query: Q;
    body: B;
    writes?: boolean;
    run(context: Context, input: InputOf<P, Q, B>): Promise<unknown> | AsyncIterable<StreamEvent>;
  },
): Operation {
  return {
    ...given,
    writes: given.writes ?? given.method !== 'GET',
    run: (context, input) => given.run(context, input as InputOf<P, Q, B>),
  };
}

/** The answers of a batch form of the library. What it refuses of an item it names `submitMany[3].price`: here that is `items[3].price`. */
export async function answerItems<T>(answers: Promise<T[]>): Promise<{ items: T[] }> {
  try {
    return { items: await answers };
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    const { field, rule } = error.details as { field: string; rule: string };
    throw new InvalidInput(field.replace(/^\w+Many\[/, 'items['), rule);
  }
}
