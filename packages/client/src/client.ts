// The client: every operation of the service as a method, pages and streams as iterators, and workers.
import { RecoupError } from './errors.ts';
import { OPERATIONS } from './generated/operations.ts';
import {
  type Input,
  type Item,
  invalid,
  type OperationName,
  type Output,
  type PageName,
  requestOf,
  rowOf,
  type StreamName,
} from './operation.ts';
import { type StreamItem, stream } from './streams.ts';
import { type CallOptions, Transport } from './transport.ts';
import type { Handler } from './worker/handler.ts';
import { Worker, type WorkOptions } from './worker/worker.ts';

export interface ClientOptions {
  /** Where the service is: `https://recoup.example`. Redirects are not followed. */
  url: string;
  /** An API key (`rcp_…`). On loopback none is needed. */
  key?: string;
  /** Sent with every request. */
  headers?: Readonly<Record<string, string>>;
  /** Another `fetch` than the one of the runtime. */
  fetch?: typeof fetch;
  /** How long one try may take, in ms; 30,000 unless set. */
  timeoutMs?: number;
  /** How long a call may take with all its repeats, in ms; 60,000 unless set. */
  deadlineMs?: number;
  /** The largest answer that is read, in bytes; 64 MiB unless set. */
  maxAnswerBytes?: number;
}

type Arguments<N extends OperationName> =
  Record<never, never> extends Input<N>
    ? [input?: Input<N>, options?: CallOptions]
    : [input: Input<N>, options?: CallOptions];

/** One operation as a function. `each` walks what its pages list, to the end. */
export type Call<N extends OperationName> = N extends StreamName
  ? (...given: Arguments<N>) => AsyncGenerator<StreamItem<N>, void>
  : ((...given: Arguments<N>) => Promise<Output<N>>) &
      (N extends PageName ? { each(...given: Arguments<N>): AsyncGenerator<Item<N>, void> } : unknown);

type Aggregate = OperationName extends infer N ? (N extends `${infer A}.${string}` ? A : never) : never;

/** The operations in groups: `jobs.submit` of the list is `client.jobs.submit(…)`. */
export type Calls = {
  readonly [A in Aggregate]: {
    readonly [N in OperationName as N extends `${A}.${infer V}` ? V : never]: Call<N>;
  };
};

const KNOWN = ['url', 'key', 'headers', 'fetch', 'timeoutMs', 'deadlineMs', 'maxAnswerBytes'];

/**
 * Refusals are thrown as `RecoupError` with a stable `code`; outcomes such as `duplicate` are returned. A call that got no
 * answer, or "not now" (408, 429, 502, 503, 504), is repeated with back-off until its deadline: what a call names by ids of
 * the caller's is done once, however often it is sent. Not repeated are `keys.create`, `epochs.open`, `deadLetters.redriveAll`, `probes.recheck`,
 * `webhookEndpoints.register` and `webhookEndpoints.rotate`.
 */
export class RecoupClient implements Calls {
  readonly wallets: Calls['wallets'];
  readonly plans: Calls['plans'];
  readonly subscriptions: Calls['subscriptions'];
  readonly payments: Calls['payments'];
  readonly jobs: Calls['jobs'];
  readonly upstreamRefs: Calls['upstreamRefs'];
  readonly queues: Calls['queues'];
  readonly upstreams: Calls['upstreams'];
  readonly blocks: Calls['blocks'];
  readonly pools: Calls['pools'];
  readonly limits: Calls['limits'];
  readonly probes: Calls['probes'];
  readonly estimates: Calls['estimates'];
  readonly inbox: Calls['inbox'];
  readonly deadLetters: Calls['deadLetters'];
  readonly feed: Calls['feed'];
  readonly epochs: Calls['epochs'];
  readonly keys: Calls['keys'];
  readonly callbacks: Calls['callbacks'];
  readonly webhooks: Calls['webhooks'];
  readonly webhookEndpoints: Calls['webhookEndpoints'];
  readonly webhookDeliveries: Calls['webhookDeliveries'];
  readonly alerts: Calls['alerts'];
  readonly system: Calls['system'];
  readonly #transport: Transport;

  /** Refuses `invalid` for options that cannot work. Nothing is sent yet. */
  constructor(options: ClientOptions) {
    this.#transport = new Transport(checked(options));
    const groups: Record<string, Record<string, unknown>> = {};
    for (const name of Object.keys(OPERATIONS) as OperationName[]) {
      const [group, verb] = name.split('.') as [string, string];
      groups[group] ??= {};
      groups[group][verb] = this.#method(name);
    }
    const calls = groups as unknown as Calls;
    this.wallets = calls.wallets;
    this.plans = calls.plans;
    this.subscriptions = calls.subscriptions;
    this.payments = calls.payments;
    this.jobs = calls.jobs;
    this.upstreamRefs = calls.upstreamRefs;
    this.queues = calls.queues;
    this.upstreams = calls.upstreams;
    this.blocks = calls.blocks;
    this.pools = calls.pools;
    this.limits = calls.limits;
    this.probes = calls.probes;
    this.estimates = calls.estimates;
    this.inbox = calls.inbox;
    this.deadLetters = calls.deadLetters;
    this.feed = calls.feed;
    this.epochs = calls.epochs;
    this.keys = calls.keys;
    this.callbacks = calls.callbacks;
    this.webhooks = calls.webhooks;
    this.webhookEndpoints = calls.webhookEndpoints;
    this.webhookDeliveries = calls.webhookDeliveries;
    this.alerts = calls.alerts;
    this.system = calls.system;
  }

  /**
   * Works on a queue: leases jobs by long poll as slots are free, keeps their leases, reports what the handler returns or
   * throws until it is heard. Stop it on SIGTERM: `worker.stop()`.
   */
  work(queue: string, handler: Handler, options: WorkOptions = {}): Worker {
    const worker = new Worker(queue, handler, options, this);
    worker.start();
    return worker;
  }

  #method(name: OperationName): unknown {
    const row = rowOf(name);
    if (row.stream)
      return (input: never = {} as never, options: CallOptions = {}) =>
        stream(this.#transport, name as StreamName, input, options);
    const call = (input: Record<string, unknown> = {}, options: CallOptions = {}) => this.#call(name, input, options);
    if (!row.page) return call;
    return Object.assign(call, {
      each: (input: Record<string, unknown> = {}, options: CallOptions = {}) => each(call, row.page!, input, options),
    });
  }

  async #call(name: OperationName, input: Record<string, unknown>, options: CallOptions): Promise<unknown> {
    const row = rowOf(name);
    if (name !== 'queues.lease') return this.#transport.call(requestOf(row, input), options, row.repeatable !== false);
    // With an id of its own a lost answer is asked for again: the same jobs and attempts. And it may wait.
    const request = requestOf(row, { ...input, requestId: input.requestId ?? crypto.randomUUID() });
    const waitMs = Number(input.waitMs ?? 0) || 0;
    const { timeoutMs, deadlineMs } = { ...this.#transport.options, ...options };
    return this.#transport.call(
      request,
      { ...options, timeoutMs: timeoutMs + waitMs, deadlineMs: deadlineMs + waitMs },
      true,
    );
  }
}

async function* each(
  call: (input: Record<string, unknown>, options: CallOptions) => Promise<unknown>,
  list: string,
  input: Record<string, unknown>,
  options: CallOptions,
): AsyncGenerator<unknown, void> {
  let cursor: unknown = input.cursor;
  do {
    const page = (await call({ ...input, ...(cursor === undefined ? {} : { cursor }) }, options)) as Record<
      string,
      unknown
    >;
    yield* page[list] as unknown[];
    // A page of a filter may be empty and go on; where a cursor stays good for what comes, `ended` says that this is all now.
    cursor = page.ended === true ? null : page.cursor;
  } while (cursor !== null);
}

function checked(options: ClientOptions): ConstructorParameters<typeof Transport>[0] {
  if (typeof options !== 'object' || options === null) throw invalid('options', 'must be an object');
  for (const name of Object.keys(options)) {
    if (!KNOWN.includes(name)) throw invalid(name, `is not an option of the client; known: ${KNOWN.join(', ')}`);
  }
  const { key, headers = {}, timeoutMs = 30_000, deadlineMs = 60_000, maxAnswerBytes = 67_108_864 } = options;
  if (key !== undefined && !/^[\x21-\x7e]+$/.test(key)) throw invalid('key', 'must be printable ASCII without spaces');
  for (const [name, value] of Object.entries({ timeoutMs, deadlineMs, maxAnswerBytes })) {
    if (!(typeof value === 'number' && value > 0)) throw invalid(name, 'must be a number above 0');
  }
  const fetch = options.fetch ?? globalThis.fetch;
  if (typeof fetch !== 'function') throw invalid('fetch', 'must be a function; this runtime has none');
  try {
    new Headers(headers);
  } catch (cause) {
    throw new RecoupError('invalid', 'headers: cannot be sent', { status: 400, details: { field: 'headers' }, cause });
  }
  // Called as a function of nobody's: browsers and edge runtimes insist on it.
  const send: typeof globalThis.fetch = (input, init) => fetch(input, init);
  return { url: address(options.url), key, headers, fetch: send, timeoutMs, deadlineMs, maxAnswerBytes };
}

/** The URL without its last slash; it may have a path, for a service behind a prefix. */
function address(url: string): string {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    throw invalid('url', 'must be the http or https URL of the service');
  }
  const plain =
    /^https?:$/.test(parsed.protocol) && !parsed.search && !parsed.hash && !parsed.username && !parsed.password;
  if (!plain) throw invalid('url', 'must be an http or https URL without user, query and fragment');
  return parsed.href.replace(/\/+$/, '');
}
