// Operations as routes: each request is checked, run and answered the same way.
import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import { Refusal, type Verified } from 'recoup';
import type { Keys } from '../keys/keys.ts';
import { bind } from '../operations/bound.ts';
import { bodyLimit, type Caller, type Context, type Operation, type StreamEvent } from '../operations/operation.ts';
import type { PaymentHooks } from '../payments/hooks.ts';
import type { Callbacks } from '../webhooks/callbacks.ts';
import type { Access } from './access.ts';
import { loggable, problemOf, refusalFor } from './problem.ts';
import { type Spans, traceparentOf } from './spans.ts';
import { HEARTBEAT_MS, MAX_STREAM_MS, writeStream } from './streams.ts';
import { invalidInput, readFields } from './validation.ts';
import type { Waits } from './waits.ts';

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller | null;
    rawBody: Buffer | null;
    /** Where the answer goes. */
    answer: ServerResponse | null;
  }
  interface FastifyContextConfig {
    operation?: Operation;
  }
}

export interface RouteContext {
  recoup: Context['recoup'];
  keys: Keys;
  callbacks: Callbacks;
  payments: PaymentHooks;
  access: Access;
  waits: Waits;
  spans: Spans | undefined;
  heartbeatMs?: number;
  maxStreamMs?: number;
  /** Told of each verification, for its metric. */
  onVerified: (verified: Verified) => void;
}

const METHODS: HTTPMethods[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const VALIDATED = { params: 'params', querystring: 'query', body: 'body' } as const;

/** `/v1/wallets/{wallet}` as the router writes it. */
const routeOf = (path: string) => path.replaceAll(/\{(\w+)\}/g, ':$1');

export function addRoutes(server: FastifyInstance, operations: readonly Operation[], context: RouteContext): void {
  server.decorateRequest('caller', null);
  server.decorateRequest('rawBody', null);
  server.decorateRequest('answer', null);
  server.decorateRequest('span', null);
  for (const operation of operations) addRoute(server, operation, context);
}

function addRoute(server: FastifyInstance, operation: Operation, context: RouteContext): void {
  const { access } = context;
  server.route({
    method: operation.method,
    url: routeOf(operation.path),
    config: { operation },
    exposeHeadRoute: operation.method === 'GET' && !operation.stream,
    bodyLimit: bodyLimit(operation),
    schema: {
      params: operation.params,
      querystring: operation.query,
      ...(operation.body ? { body: operation.body } : {}),
    },
    attachValidation: true,
    onRequest: (request, _reply, done) => {
      if (operation.scopes === 'signature') return done();
      const caller = attempt(() => access.caller(request));
      if (caller instanceof Error) return done(caller);
      const admit = (known: Caller) => {
        request.caller = known;
        return attempt(() => access.checkScope(known, operation));
      };
      // Who needs no key is known at once, and costs no promise.
      if (caller instanceof Promise) caller.then(admit).then((refused) => done(refused ?? undefined), done);
      else done(admit(caller) ?? undefined);
    },
    preValidation: (request, _reply, done) => {
      try {
        request.query = readFields(operation.query, request.query as Record<string, unknown>);
        request.params = readFields(operation.params, request.params as Record<string, unknown>);
        // A body whose fields are all optional may be left out.
        if (operation.body && request.rawBody === null) request.body = {};
        done();
      } catch (error) {
        done(error as Error);
      }
    },
    handler: (request, reply) => answer(request, reply, operation, context),
  });
}

/** What it gives, or the error that it throws: what calls back must not run inside of a catch. */
function attempt<T>(run: () => T): T | Error {
  try {
    return run();
  } catch (error) {
    return error as Error;
  }
}

async function answer(request: FastifyRequest, reply: FastifyReply, operation: Operation, context: RouteContext) {
  const { validationError } = request;
  if (validationError) {
    const where = validationError.validationContext as keyof typeof VALIDATED;
    const value = where === 'querystring' ? request.query : request[where as 'params' | 'body'];
    throw invalidInput(validationError.validation![0]!, operation, VALIDATED[where], value);
  }
  const parts = [request.query, operation.body ? request.body : {}, request.params] as Record<string, unknown>[];
  const input: Record<string, unknown> = Object.assign({}, ...parts);
  const caller = request.caller ?? { key: null, scopes: [], customer: null };
  const wait = context.waits.begin(reply.raw, operation.waits === true || operation.stream !== undefined);
  try {
    const { recoup, keys, callbacks, payments } = context;
    const raw = { headers: request.headers, body: request.rawBody ?? Buffer.alloc(0) };
    const { spans } = context;
    // With a tracer, jobs are submitted in the request's own span, which is a child of the header's.
    const traceparent = spans ? undefined : traceparentOf(request);
    const inner: Context = { recoup, keys, callbacks, payments, caller, signal: wait.signal, raw, traceparent };
    if (caller.customer !== null) await bind(inner, operation, input, caller.customer);
    const run = () => operation.run(inner, input);
    const result = spans ? spans.within(request, run) : run();
    if (operation.stream) {
      await streamed(request, reply, result as AsyncIterable<StreamEvent>, operation.stream, wait.signal, context);
      return reply;
    }
    const output = (await result) as { outcome?: string; retryAfterMs?: number | null };
    if (operation.name === 'system.verify') context.onVerified(output as unknown as Verified);
    if (operation.retryAfter && typeof output.retryAfterMs === 'number')
      reply.header('retry-after', Math.ceil(output.retryAfterMs / 1000));
    const created = operation.created !== undefined && output.outcome === operation.created;
    return reply.code(created ? 201 : 200).send(output);
  } finally {
    wait.end();
  }
}

async function streamed(
  request: FastifyRequest,
  reply: FastifyReply,
  events: AsyncIterable<StreamEvent>,
  kind: 'sse' | 'ndjson',
  signal: AbortSignal,
  context: RouteContext,
): Promise<void> {
  const iterator = events[Symbol.asyncIterator]();
  const first = await iterator.next();
  reply.hijack();
  await writeStream(reply.raw, first, iterator, {
    kind,
    signal,
    headers: { 'x-request-id': request.id },
    heartbeatMs: context.heartbeatMs ?? HEARTBEAT_MS,
    maxMs: kind === 'sse' ? (context.maxStreamMs ?? MAX_STREAM_MS) : Number.POSITIVE_INFINITY,
    problem: (error) => {
      const refusal = refusalFor(error);
      request.log.error({ reqId: request.id, ...loggable(error, refusal) }, 'a stream broke off');
      return problemOf(refusal, request.url.split('?')[0]!, request.id);
    },
  });
}

/** What an address does not take: 405 with Allow; OPTIONS answers with Allow alone (there is no CORS). */
export function addMethods(server: FastifyInstance, taken: readonly { method: string; path: string; head: boolean }[]) {
  for (const path of new Set(taken.map((route) => route.path))) {
    const routes = taken.filter((route) => route.path === path);
    const allowed = [...new Set(routes.flatMap(({ method, head }) => (head ? [method, 'HEAD'] : [method])))];
    const allow = [...allowed, 'OPTIONS'].join(', ');
    server.route({
      method: METHODS.filter((method) => !allowed.includes(method)),
      url: routeOf(path),
      onRequest: async (request, reply) => {
        reply.header('allow', allow);
        if (request.method === 'OPTIONS') return reply.code(204).send();
        throw new Refusal('method_not_allowed', `${request.method} is not taken here, only ${allow}.`, { allow });
      },
      handler: () => {},
    });
  }
}
