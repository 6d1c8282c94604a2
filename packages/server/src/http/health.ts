// What operators and machines ask of the server itself: alive, ready, metrics, the OpenAPI document, what an error means.
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { type ErrorCode, errors, type Recoup, Refusal, schemaState } from 'recoup';
import Type from 'typebox';
import type { Operation } from '../operations/operation.ts';
import type { Access } from './access.ts';
import { readFigures } from './figures.ts';
import type { Metrics } from './metrics.ts';

export interface HealthContext {
  recoup: Recoup;
  access: Access;
  metrics: Metrics;
  document: unknown;
  stopping: () => boolean;
}

const PATIENCE_MS = 2000;
const METRICS = {
  name: 'metrics',
  scopes: ['operator', 'viewer'],
  params: Type.Object({}),
} satisfies Partial<Operation>;

/** Addresses outside of `/v1`, each with GET (and HEAD). */
export const HEALTH_PATHS = ['/livez', '/readyz', '/metrics', '/openapi.json', '/errors/{code}'];

/** Whether the database answers and its schema fits this code. */
async function ready(recoup: Recoup): Promise<void> {
  const state = await inTime(recoup.transaction((_, client) => schemaState(client, recoup.schema)));
  const facts = { applied: state.applied, known: state.known };
  if (state.applied === 0) throw new Refusal('schema_missing', undefined, facts);
  if (state.applied < state.known) throw new Refusal('schema_behind', undefined, facts);
  if (state.compatibleFrom > state.known) throw new Refusal('schema_ahead', undefined, facts);
}

async function inTime<T>(work: Promise<T>): Promise<T> {
  const cancel = new AbortController();
  const late = sleep(PATIENCE_MS, undefined, { signal: cancel.signal }).then(() => {
    throw new Refusal('database_unavailable');
  });
  late.catch(() => {});
  try {
    return await Promise.race([work, late]);
  } finally {
    cancel.abort();
    work.catch(() => {});
  }
}

/** While it runs, whoever asks gets the same answer: many probes, or somebody who means harm, cost one look. */
function shared<T>(look: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => {
    running ??= look().finally(() => {
      running = undefined;
    });
    return running;
  };
}

export function addHealth(server: FastifyInstance, context: HealthContext): void {
  const { recoup, access, metrics, document, stopping } = context;
  const look = shared(async () => {
    await ready(recoup);
    // Money and work go on: what an operator has to do about the feed is no reason to take the service away.
    return inTime(recoup.epochs.current());
  });
  const figures = shared(() => inTime(readFigures(recoup)).catch(() => undefined));
  server.get('/livez', async () => ({ status: 'alive' }));
  server.get('/readyz', async () => {
    // Said before the listener closes, so that a load balancer looks elsewhere first.
    if (stopping()) throw new Refusal('closed');
    const { due } = await look();
    return { status: 'ready', notices: due === null ? [] : [due] };
  });
  server.get('/metrics', async (request, reply) => {
    access.checkScope(await access.caller(request), METRICS);
    metrics.figures(await figures());
    return reply.type(metrics.registry.contentType).send(await metrics.registry.metrics());
  });
  server.get('/openapi.json', async () => document);
  server.get<{ Params: { code: string } }>('/errors/:code', async (request) => {
    const { code } = request.params;
    if (!Object.hasOwn(errors, code)) throw new Refusal('not_found');
    const { status, exit, retry, sentence } = errors[code as ErrorCode];
    return { code, status, exitCode: exit, retryable: retry, meaning: sentence };
  });
}
