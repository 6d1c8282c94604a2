// The service: opens Recoup on a database, starts the HTTP server, closes both in order.
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { InvalidInput, type OpenOptions, open, type Recoup, Refusal } from 'recoup';
import { openTelemetry } from 'recoup/opentelemetry';
import { Sender } from './deliveries/sender.ts';
import { isLoopback } from './http/access.ts';
import { Metrics } from './http/metrics.ts';
import { loggable } from './http/problem.ts';
import { buildServer, type ServerOptions } from './http/server.ts';
import { Spans } from './http/spans.ts';
import { Waits } from './http/waits.ts';
import { Keys } from './keys/keys.ts';
import { PaymentHooks, type PaymentSecrets } from './payments/hooks.ts';
import { httpProber } from './probing/http-prober.ts';
import { Sessions } from './sessions/sessions.ts';
import type { Tracing } from './tracing/sdk.ts';
import { Callbacks, type WebhookSecrets } from './webhooks/callbacks.ts';

export interface ServiceOptions {
  /** How Recoup is opened; `onTransition`, `onDropped` and `onSweep` are told too. */
  open: OpenOptions;
  /** The address to listen on; 127.0.0.1 unless set. */
  bind?: string;
  /** 7420 unless set; 0: a free one. */
  port?: number;
  /** Host names that requests may name, beside loopback's. */
  hosts?: readonly string[];
  /** Ask for keys on loopback too. */
  requireKeys?: boolean;
  /** Serve everybody without a key, whatever the address. */
  insecure?: boolean;
  /** What signed callback URLs begin with. */
  publicUrl?: string;
  webhookSecrets?: WebhookSecrets;
  /** Signing secrets of webhooks about payments. */
  paymentSecrets?: PaymentSecrets;
  /** Send webhooks to loopback, private and link-local addresses too. */
  webhooksToPrivate?: boolean;
  /** A file with secrets by the references of upstreams, for pools that are asked over HTTP. */
  probeCredentials?: string;
  /** How long a receiver of webhooks may take, in ms; 15,000 unless set. */
  webhookTimeoutMs?: number;
  /** Verify the books this often and keep the result as a metric; never unless set. */
  verifyEveryMs?: number;
  /** OpenTelemetry, started by `startTracing`; who started it closes it. */
  tracing?: Tracing;
  /** How long `close()` serves on while /readyz says no already, for load balancers that look now and then; 0 unless set. */
  stopDelayMs?: number;
  /** Long polls and streams at once; 1,000 unless set. */
  maxWaiting?: number;
  server?: Pick<
    ServerOptions,
    'logger' | 'heartbeatMs' | 'maxStreamMs' | 'maxConnections' | 'maxHeldBytes' | 'requestTimeoutMs'
  >;
}

export interface Service extends AsyncDisposable {
  readonly recoup: Recoup;
  readonly keys: Keys;
  readonly sessions: Sessions;
  readonly http: FastifyInstance;
  readonly url: string;
  /** Stops taking requests, ends what waits, lets the others finish, closes the database. Safe to call twice. */
  close(): Promise<void>;
}

/** Refuses what `open()` refuses, and `keys_required`. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const maxWaiting = options.maxWaiting ?? 1000;
  const waits = new Waits(maxWaiting);
  const metrics = new Metrics(() => waits.count, maxWaiting);
  let log: FastifyInstance['log'] | undefined;
  const { tracing } = options;
  const onTransition = (transition: string, outcome: string, labels?: Readonly<Record<string, string>>) => {
    metrics.transition(transition, outcome, labels);
    options.open.onTransition?.(transition, outcome, labels);
  };
  const onError = (error: Error) => {
    metrics.background(error);
    if (options.open.onError) options.open.onError(error);
    else log?.error(loggable(error), 'went wrong in the background');
  };
  const recoup = await open({
    applicationName: 'recoup-server',
    ...(tracing ? { tracer: openTelemetry(tracing.api) } : {}),
    httpProber: httpProber({
      allowPrivate: options.webhooksToPrivate ?? false,
      ...(options.probeCredentials !== undefined && { credentialsFile: options.probeCredentials }),
    }),
    ...options.open,
    onTransition,
    onDropped: (dropped) => {
      metrics.dropped(dropped);
      options.open.onDropped?.(dropped);
    },
    onSweep: (swept) => {
      metrics.swept(swept);
      options.open.onSweep?.(swept);
    },
    onError,
  });
  try {
    const keys = new Keys(recoup);
    const bind = options.bind ?? '127.0.0.1';
    if (!isLoopback(bind) && !options.insecure && !(await keys.any())) {
      const message = `Bound to ${bind}, the server starts only with an API key: recoup keys create --name me --scopes admin`;
      throw new Refusal('keys_required', message, { bind });
    }
    const { webhookSecrets, publicUrl } = options;
    const callbacks = new Callbacks(recoup, {
      ...(webhookSecrets ? { secrets: webhookSecrets } : {}),
      ...(publicUrl ? { publicUrl } : {}),
      onUnknown: (unknown) => {
        onTransition('webhook.take', 'no_job');
        http.log.warn({ ...unknown }, 'a webhook about a job that is not here');
      },
    });
    const sessions = new Sessions(recoup, keys, { links: isLoopback(bind) });
    // Where nothing can be written now, the first URL and the first session make them.
    await Promise.all([callbacks.prepare(), sessions.prepare()]).catch(() => {});
    const access = {
      bind,
      hosts: options.hosts ?? [],
      requireKeys: options.requireKeys ?? false,
      insecure: options.insecure ?? false,
    };
    let closing: Promise<void> | undefined;
    const draining = () => closing !== undefined;
    const spans = tracing && new Spans(tracing.api);
    const http = buildServer({
      ...options.server,
      ...access,
      recoup,
      keys,
      callbacks,
      payments: new PaymentHooks(recoup, options.paymentSecrets),
      sessions,
      metrics,
      waits,
      spans,
      draining,
    });
    log = http.log;
    metrics.watch(recoup);
    const url = await listen(http, bind, options.port ?? 7420);
    // Where this role could not open it: an operator has to know, also when nobody looks at /readyz.
    const due = await recoup.epochs.current().then(
      (state) => state.due,
      () => null,
    );
    if (due !== null) http.log.warn({ due }, 'the ledger needs a new epoch');
    const verifying = verifyAgainAndAgain(recoup, metrics, http, options.verifyEveryMs);
    const sender = startSender(recoup, options, onError);
    const stop = async () => {
      clearInterval(verifying);
      await sleep(options.stopDelayMs ?? 0);
      await http.close();
      await sender?.stop();
      await recoup.close();
    };
    const close = () => {
      closing ??= stop();
      return closing;
    };
    return { recoup, keys, sessions, http, url, close, [Symbol.asyncDispose]: close };
  } catch (error) {
    await recoup.close();
    throw error;
  }
}

/** Sends beside the sweeps: where those do not run, neither does it. */
function startSender(recoup: Recoup, options: ServiceOptions, onError: (error: Error) => void): Sender | undefined {
  if (options.open.sweep === false) return undefined;
  const { webhooksToPrivate: allowPrivate = false, webhookTimeoutMs: timeoutMs } = options;
  const everyMs = options.open.pollMs ?? 2000;
  const sender = new Sender(recoup, {
    allowPrivate,
    everyMs,
    onError,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
  sender.start();
  return sender;
}

/** What the system says of an address that cannot be listened on, as what it means. */
async function listen(http: FastifyInstance, host: string, port: number): Promise<string> {
  try {
    return await http.listen({ host, port });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      throw new Refusal('port_in_use', `Port ${port} of ${host} is taken: name another one, or 0 for a free one.`, {
        bind: host,
        port,
      });
    }
    if (code === 'EACCES') throw new InvalidInput('port', `must be one that this user may listen on; got ${port}`);
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN' || code === 'EINVAL')
      throw new InvalidInput('bind', `must be an address of this machine; got ${JSON.stringify(host)}`);
    throw error;
  }
}

function verifyAgainAndAgain(recoup: Recoup, metrics: Metrics, http: FastifyInstance, everyMs: number | undefined) {
  if (everyMs === undefined) return undefined;
  let running = false;
  const pass = async () => {
    // Reads everything: a pass that takes longer than the interval is not joined by another.
    if (running) return;
    running = true;
    try {
      const verified = await recoup.verify();
      metrics.verified(verified);
      for (const problem of verified.problems) http.log.error({ problem }, 'the books do not add up');
    } catch (error) {
      http.log.error(loggable(error), 'the books could not be verified');
    } finally {
      running = false;
    }
  };
  return setInterval(() => void pass(), everyMs).unref();
}
