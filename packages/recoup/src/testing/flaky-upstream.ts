// A provider that misbehaves on purpose, by seed: slow answers that finish later, errors, lost and doubled callbacks.
import { Agent, createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Plan, type PlanOptions, planner } from './flaky-plan.ts';

export type { FlakyRates, Plan } from './flaky-plan.ts';

/** An answer about an account, before any work: of a provider that limits it, or does not know its key. */
export interface Refused {
  status: number;
  headers?: Readonly<Record<string, string>>;
  body: object;
}

export interface FlakyOptions extends PlanOptions {
  /** By default a free one. */
  port?: number;
  /** Misfortune on demand: a plan for this attempt, or undefined for the seed's. */
  plan?: (job: string, attempt: number) => Plan | undefined;
  /** Accounts that are refused: by the key of `authorization: Bearer KEY`, and the time since the first request in ms. */
  refuse?: (key: string | null, sinceMs: number) => Refused | undefined;
}

/** What the upstream saw of an account. */
export interface FlakyAccount {
  requests: number;
  /** Of these, answered by `refuse`. */
  refused: number;
}

/** What really happened to a job. */
export interface FlakyRun {
  requests: number;
  /** How often its work was done: a customer pays for it if this is not 0, and once. */
  done: number;
  /** Requests whose work is still going on. */
  working: number;
}

/**
 * `POST /v1/run` with `{ id, attempt?, ms?, callback? }`: `ms` is how long the work takes, `callback` a URL that gets
 * `{ id, attempt, status, result | error }`, again until it answers 2xx. Without `attempt` the requests of an id are
 * counted. `GET /v1/run/ID` tells the truth: `{ id, status }` with succeeded, working or failed; 404 if it never came.
 */
export interface FlakyUpstream extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`, without a slash at its end. */
  readonly url: string;
  /** The ground truth, by job id. */
  readonly runs: ReadonlyMap<string, Readonly<FlakyRun>>;
  /** By the key that requests carried; those without one are not in it. */
  readonly accounts: ReadonlyMap<string, Readonly<FlakyAccount>>;
  /**
   * Requests by kind of plan, those of refused accounts as `refused`; callbacks that arrived (`callbacks`), that nobody took (`callbacks_undelivered`), and
   * work that was done without one (`callbacks_lost`).
   */
  readonly counts: Readonly<Record<string, number>>;
  /** Answers, work and callbacks that are still to come. */
  readonly pending: number;
  /** The plan that this job and attempt meets; `ms` is how long the work takes. */
  plan(job: string, attempt: number, ms?: number): Plan;
  /** Resolves when nothing is pending, also by `close`. */
  idle(): Promise<void>;
  /** Ends connections, work and callbacks at once. */
  close(): Promise<void>;
}

const WORK_MS = 10;
const DELIVERIES = 6;
const MAX_BODY = 1_048_576;
const RESULT = { text: 'Here is your result.' };

/** Starts one on the loopback. Close it, or declare it with `await using`. */
export async function flakyUpstream(options: FlakyOptions = {}): Promise<FlakyUpstream> {
  const upstream = new Upstream(options);
  await upstream.listen(options.port ?? 0);
  return upstream;
}

class Upstream implements FlakyUpstream {
  readonly runs = new Map<string, FlakyRun>();
  readonly accounts = new Map<string, FlakyAccount>();
  readonly counts: Record<string, number> = {};
  pending = 0;
  readonly #onDemand: (job: string, attempt: number) => Plan | undefined;
  readonly #seeded: ReturnType<typeof planner>;
  readonly #refuse: NonNullable<FlakyOptions['refuse']>;
  #startedAt: number | undefined;
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 });
  #closed = false;
  #url = '';
  #waiting: (() => void)[] = [];

  constructor(options: FlakyOptions) {
    this.#onDemand = options.plan ?? (() => undefined);
    this.#seeded = planner(options);
    this.#refuse = options.refuse ?? (() => undefined);
  }

  get url(): string {
    return this.#url;
  }

  listen(port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, '127.0.0.1', () => {
        this.#url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
        resolve();
      });
    });
  }

  plan(job: string, attempt: number, ms = WORK_MS): Plan {
    return this.#onDemand(job, attempt) ?? this.#seeded(job, attempt, ms);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url = '' } = request;
    try {
      if (method === 'POST' && url === '/v1/run') return this.#run(await readRun(request), request, response);
      const asked = method === 'GET' ? /^\/v1\/run\/([^/?]+)$/.exec(url)?.[1] : undefined;
      if (asked === undefined) return send(response, 404, { error: 'there is no such route' });
      const id = decodeURIComponent(asked);
      const run = this.runs.get(id);
      if (!run) return send(response, 404, { error: 'this job was never sent' });
      if (run.done > 0) send(response, 200, { id, status: 'succeeded', result: RESULT });
      else send(response, 200, { id, status: run.working > 0 ? 'working' : 'failed' });
    } catch (error) {
      send(response, 400, { error: (error as Error).message });
    }
  }

  #run(asked: RunRequest, request: IncomingMessage, response: ServerResponse): void {
    if (this.#refused(request, response)) return;
    const { id, callback } = asked;
    const run = this.runs.get(id) ?? { requests: 0, done: 0, working: 0 };
    this.runs.set(id, run);
    run.requests += 1;
    const attempt = asked.attempt ?? run.requests;
    const plan = this.plan(id, attempt, asked.ms);
    this.#count(plan.kind);
    if (plan.doneMs !== null) {
      run.working += 1;
      this.#after(plan.doneMs, () => {
        run.working -= 1;
        run.done += 1;
      });
    }
    // The client may be gone by then; that changes nothing about the work.
    this.#after(plan.answerMs, () => {
      if (plan.answer === 'drop') request.socket.destroy();
      else if (plan.answer === 'result') send(response, 200, { id, attempt, status: 'succeeded', result: RESULT });
      else {
        const headers = plan.retryAfter === undefined ? {} : { 'retry-after': String(plan.retryAfter) };
        send(response, plan.answer, { id, attempt, status: 'failed', error: plan.kind }, headers);
      }
    });
    if (callback === undefined) return;
    if (plan.doneMs !== null && plan.callbacks.every(({ status }) => status === 'failed'))
      this.#count('callbacks_lost');
    for (const { status, ms } of plan.callbacks) {
      const outcome = status === 'succeeded' ? { result: RESULT } : { error: plan.kind };
      const body = JSON.stringify({ id, attempt, status, ...outcome });
      this.#after(ms, () => this.#deliver(callback, body, 1));
    }
  }

  /** Whether the account was refused: then nothing is known of the job here. */
  #refused({ headers }: IncomingMessage, response: ServerResponse): boolean {
    const key = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? null;
    this.#startedAt ??= performance.now();
    const refused = this.#refuse(key, performance.now() - this.#startedAt);
    if (key !== null) {
      const account = this.accounts.get(key) ?? { requests: 0, refused: 0 };
      this.accounts.set(key, { requests: account.requests + 1, refused: account.refused + (refused ? 1 : 0) });
    }
    if (!refused) return false;
    this.#count('refused');
    send(response, refused.status, refused.body, refused.headers);
    return true;
  }

  async #deliver(url: string, body: string, tries: number): Promise<void> {
    const taken = await post(url, body, this.#agent);
    if (taken) this.#count('callbacks');
    else if (tries === DELIVERIES) this.#count('callbacks_undelivered');
    else this.#after(50 * 2 ** tries, () => this.#deliver(url, body, tries + 1));
  }

  #count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }

  #after(ms: number, work: () => void | Promise<void>): void {
    if (this.#closed) return;
    this.pending += 1;
    const timer = setTimeout(async () => {
      this.#timers.delete(timer);
      await work();
      this.pending -= 1;
      if (this.pending === 0) this.#tellIdle();
    }, ms);
    this.#timers.add(timer);
  }

  #tellIdle(): void {
    for (const done of this.#waiting.splice(0)) done();
  }

  idle(): Promise<void> {
    return this.pending === 0 ? Promise.resolve() : new Promise((done) => this.#waiting.push(done));
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#agent.destroy();
    for (const timer of this.#timers) clearTimeout(timer);
    this.#tellIdle();
    if (!this.#server.listening) return;
    const closed = new Promise((done) => this.#server.close(done));
    this.#server.closeAllConnections();
    await closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

interface RunRequest {
  id: string;
  attempt: number | undefined;
  ms: number | undefined;
  callback: string | undefined;
}

async function readRun(request: IncomingMessage): Promise<RunRequest> {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) {
    body += chunk as string;
    if (body.length > MAX_BODY) throw new Error('the body must have at most 1 MiB');
  }
  const { id, attempt, ms, callback } = (JSON.parse(body) ?? {}) as Record<string, unknown>;
  if (typeof id !== 'string' || id === '') throw new Error('id: must be a text');
  if (attempt !== undefined && !(Number.isInteger(attempt) && (attempt as number) >= 1)) {
    throw new Error('attempt: must be an integer from 1');
  }
  if (ms !== undefined && !(typeof ms === 'number' && ms >= 0 && ms <= 3_600_000)) {
    throw new Error('ms: must be a number from 0 to 3,600,000');
  }
  if (callback !== undefined && !(typeof callback === 'string' && /^http:/.test(callback) && URL.canParse(callback))) {
    throw new Error('callback: must be an http URL');
  }
  return { id, attempt, ms, callback } as RunRequest;
}

/** Whether it was answered 2xx. */
function post(url: string, body: string, agent: Agent): Promise<boolean> {
  return new Promise((resolve) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const request = httpRequest(url, { method: 'POST', agent, headers }, (response) => {
      response.resume();
      response.on('close', () => resolve(response.complete && Math.floor(response.statusCode! / 100) === 2));
    });
    request.on('error', () => resolve(false));
    request.end(body);
  });
}

function send(response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void {
  if (response.destroyed || response.writableEnded) return;
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
