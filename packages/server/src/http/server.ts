// The HTTP server: Fastify with our errors, limits, checks and routes; what it listens on and how it closes.

import { randomUUID } from 'node:crypto';
import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
  LogController,
} from 'fastify';
import { type Recoup, Refusal } from 'recoup';
import type { Keys } from '../keys/keys.ts';
import { operations } from '../operations/operations.ts';
import type { PaymentHooks } from '../payments/hooks.ts';
import type { Sessions } from '../sessions/sessions.ts';
import type { Callbacks } from '../webhooks/callbacks.ts';
import { Access, type AccessOptions } from './access.ts';
import { Bodies } from './bodies.ts';
import { answerBroken, watchConnections } from './connections.ts';
import { addConsole, SESSION_METHODS, SESSION_PATH } from './console.ts';
import { addHealth, HEALTH_PATHS } from './health.ts';
import type { Metrics } from './metrics.ts';
import { openapi } from './openapi.ts';
import { loggable, PROBLEM_TYPE, problemOf, refusalFor, retryAfter } from './problem.ts';
import { addMethods, addRoutes } from './routes.ts';
import type { Spans } from './spans.ts';
import type { Waits } from './waits.ts';

export interface ServerOptions extends AccessOptions {
  recoup: Recoup;
  keys: Keys;
  callbacks: Callbacks;
  payments: PaymentHooks;
  sessions: Sessions;
  metrics: Metrics;
  waits: Waits;
  /** Set where requests are traced. */
  spans?: Spans | undefined;
  logger?: FastifyServerOptions['logger'];
  /** Whether it is about to stop: served on, unready. */
  draining?: () => boolean;
  heartbeatMs?: number;
  /** How long a stream of the feed lasts before its client has to resume, in ms; 15 minutes unless set. */
  maxStreamMs?: number;
  /** Connections at once; 10,000 unless set. */
  maxConnections?: number;
  /** Bodies that arrive or are being handled, in bytes of all of them; 256 MiB unless set. */
  maxHeldBytes?: number;
  /** How long a request may take to arrive, in ms; 30,000 unless set. */
  requestTimeoutMs?: number;
}

/** Longer than the longest long poll and the heartbeats of streams. */
const SOCKET_TIMEOUT_MS = 90_000;
const REQUEST_ID = /^[\w.:-]{1,100}$/;

/** The server, not listening yet. */
export function buildServer(options: ServerOptions): FastifyInstance {
  const { recoup, keys, callbacks, payments, sessions, metrics, waits, spans } = options;
  const access = new Access(keys, sessions, options);
  const server = Fastify({
    ...limits(options),
    logger: loggerOf(options.logger),
    // One line per request, of ours: an address may hold a signed URL, and bodies are content.
    logController: new LogController({ disableRequestLogging: true }),
    // A logger for each request would cost more than most of what we do for it; our lines name the request themselves.
    childLoggerFactory: (logger) => logger,
    genReqId: (request) => {
      const given = request.headers['x-request-id'];
      return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
    },
    clientErrorHandler: answerBroken,
    // Before there is a route, and without its hooks.
    frameworkErrors: (error, request, reply) => {
      sendProblem(request, reply.headers(headersOf(request.id)) as unknown as FastifyReply, refusalFor(error));
    },
  });
  let stopping = false;
  const sockets = watchConnections(server.server);
  server.addHook('preClose', async () => {
    stopping = true;
    waits.stop();
    // Opened ahead by a client or a load balancer: Node does not count them as idle and would wait for their time-out.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
  });
  server.server.maxConnections = options.maxConnections ?? 10_000;
  // As it is: a schema describes the answer, it does not cut it.
  server.setSerializerCompiler(() => (value) => JSON.stringify(value));
  addParsers(server, options.maxHeldBytes);
  // First, so that a request that a later hook refuses has its span too.
  spans?.addHooks(server);
  const draining = () => stopping || (options.draining?.() ?? false);
  addHooks(server, access, metrics, { stopping: () => stopping, draining });
  addErrors(server);
  const onVerified = metrics.verified.bind(metrics);
  const { heartbeatMs, maxStreamMs } = options;
  const streams = { ...(heartbeatMs ? { heartbeatMs } : {}), ...(maxStreamMs ? { maxStreamMs } : {}) };
  const context = { recoup, keys, callbacks, payments, access, waits, spans, onVerified, ...streams };
  addRoutes(server, operations, context);
  const document = openapi(operations);
  addHealth(server, { recoup, access, metrics, document, stopping: draining });
  addConsole(server, { keys, sessions, access });
  addMethods(server, [
    ...operations.map(({ method, path, stream }) => ({ method, path, head: method === 'GET' && !stream })),
    ...HEALTH_PATHS.map((path) => ({ method: 'GET', path, head: true })),
    ...SESSION_METHODS.map((method) => ({ method, path: SESSION_PATH, head: method === 'GET' })),
  ]);
  return server;
}

/** With errors written as ours are, also those that Fastify logs by itself. */
function loggerOf(logger: ServerOptions['logger']): NonNullable<ServerOptions['logger']> {
  if (!logger) return false;
  const given = logger === true ? {} : logger;
  return { ...given, serializers: { ...given.serializers, err: (error: unknown) => loggable(error) as never } };
}

function limits(options: ServerOptions) {
  const arrive = options.requestTimeoutMs ?? 30_000;
  return {
    connectionTimeout: SOCKET_TIMEOUT_MS,
    requestTimeout: arrive,
    keepAliveTimeout: 72_000,
    http: {
      maxHeaderSize: 32_768,
      headersTimeout: Math.min(arrive, 10_000),
      // How often Node looks for requests that are late.
      connectionsCheckingInterval: Math.min(arrive, 5000),
      // Node would answer with nothing: who may be asked is our check, and its refusal a problem like any other.
      requireHostHeader: false,
    },
    return503OnClosing: false,
    // Two ids of 200 code points, each of them up to four bytes, each of these three characters.
    routerOptions: { maxParamLength: 16_000, caseSensitive: true, ignoreTrailingSlash: false },
    ajv: {
      customOptions: {
        coerceTypes: false as const,
        removeAdditional: false as const,
        useDefaults: false,
        allowUnionTypes: true,
      },
    },
  };
}

/** Every answer has these. */
const headersOf = (id: string) => ({
  'x-request-id': id,
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
});

/** The address in an answer: senders log those, so the token of a signed URL is left out. */
const pathOf = (url: string) => url.split('?')[0]!.replace(/^(\/v1\/webhooks\/[^/]*\/).+$/, '$1…');

/** JSON only. */
function addParsers(server: FastifyInstance, maxHeldBytes: number | undefined): void {
  const bodies = new Bodies(maxHeldBytes);
  // `__proto__` is a name like any other in JSON: a result that has it must settle its job, and is stored as it is. Beside
  // our own fields it is unknown, like any other.
  const parseJson = server.getDefaultJsonParser('ignore', 'ignore');
  server.removeAllContentTypeParsers();
  server.addHook('preParsing', (request, reply, payload, done) => {
    request.answer = reply.raw;
    done(null, payload);
  });
  server.addContentTypeParser('application/json', (request, _payload, done) => {
    bodies.read(request, request.caller !== null, request.answer!, (error, bytes) => {
      if (error) return done(error);
      if (bytes!.length === 0) return done(null, undefined);
      request.rawBody = bytes!;
      parseJson(request, bytes!.toString(), done);
    });
  });
}

function addHooks(
  server: FastifyInstance,
  access: Access,
  metrics: Metrics,
  { stopping, draining }: Record<'stopping' | 'draining', () => boolean>,
): void {
  // Hooks of every request call back instead of returning promises: a promise each would cost more than what they do.
  server.addHook('onRequest', (request, reply, done) => {
    reply.headers(headersOf(request.id));
    const health = request.url === '/readyz' || request.url === '/livez';
    try {
      access.checkHost(request);
      if (stopping() && !health) throw new Refusal('closed');
      done();
    } catch (error) {
      done(error as Error);
    }
  });
  server.addHook('onSend', (_request, reply, payload, done) => {
    // A connection that was kept open would hold up the close; its next request belongs to another replica.
    if (draining()) reply.header('connection', 'close');
    done(null, payload);
  });
  const told = ['info', 'debug', 'trace'].includes(server.log.level);
  server.addHook('onResponse', (request, reply, done) => {
    const name = request.routeOptions.config.operation?.name ?? 'other';
    const { statusCode: status } = reply.raw;
    const ms = reply.elapsedTime;
    metrics.request(name, status, ms / 1000);
    if (told) server.log.info(factsOf(request, name, status, ms), 'answered');
    done();
  });
}

function factsOf(request: FastifyRequest, operation: string, status: number, ms: number) {
  const { id: reqId, method, routeOptions, span, caller } = request;
  const facts = {
    reqId,
    method,
    route: routeOptions.url,
    status,
    ms: Math.round(ms),
    operation,
    key: caller?.key ?? null,
  };
  return span ? { ...facts, traceId: span.spanContext().traceId } : facts;
}

function sendProblem(request: Pick<FastifyRequest, 'url' | 'id'>, reply: FastifyReply, refusal: Refusal): FastifyReply {
  const problem = problemOf(refusal, pathOf(request.url), request.id);
  // As bytes: an object would get a charset, which JSON does not have.
  return reply
    .code(refusal.status)
    .header('content-type', PROBLEM_TYPE)
    .send(Buffer.from(JSON.stringify(problem)));
}

function addErrors(server: FastifyInstance): void {
  server.setErrorHandler((error, request, reply) => {
    const refusal = refusalFor(error);
    if (refusal.status >= 500) request.log.error({ reqId: request.id, ...loggable(error, refusal) }, 'refused');
    const seconds = retryAfter(refusal);
    if (seconds !== undefined) reply.header('retry-after', seconds);
    if (refusal.code === 'unauthorized') reply.header('www-authenticate', 'Bearer realm="recoup"');
    return sendProblem(request, reply, refusal);
  });
}
