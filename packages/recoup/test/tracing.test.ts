// Tracing through recoup/opentelemetry: spans of transitions and handlers as the real SDK records them; the submitter is linked.
import * as api from '@opentelemetry/api';
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node';
import { Failure, type Recoup } from 'recoup';
import { openTelemetry, spanContextOf, traceparentOf } from 'recoup/opentelemetry';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { newId, type Stage, staging } from './support/stage.ts';
import { until } from './support/waiting.ts';

const { onFirst } = staging();
const exporter = new InMemorySpanExporter();
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
beforeAll(() => provider.register());
beforeEach(() => exporter.reset());
afterAll(() => provider.shutdown());

const named = (name: string) => exporter.getFinishedSpans().filter((span) => span.name === name);
const spanOf = async (name: string): Promise<ReadableSpan> => {
  await until(() => named(name).length > 0);
  return named(name)[0]!;
};
const tracedOn = (s: Stage): Promise<Recoup> => s.replica({ tracer: openTelemetry(api) });
const inside = <T>(name: string, work: (span: api.Span) => Promise<T>) =>
  api.trace.getTracer('test').startActiveSpan(name, (span) => work(span).finally(() => span.end()));

onFirst('a submit is a span of its caller, and the job carries the caller’s trace to the handler', async (s) => {
  const recoup = await tracedOn(s);
  const wallet = await s.wallet(100);
  const queue = newId('queue');
  const caller = await inside('caller', async (span) => {
    await recoup.jobs.submit({ wallet, job: 'j', queue, price: 10, payload: 'secret-payload' });
    return span.spanContext();
  });
  const send = await spanOf(`send ${queue}`);
  expect(send.parentSpanContext?.spanId).toBe(caller.spanId);
  expect(send.kind).toBe(api.SpanKind.CLIENT);
  expect(send.attributes).toEqual({
    'recoup.transition': 'job.submit',
    'recoup.outcome': 'charged',
    'messaging.system': 'recoup',
    'messaging.operation.name': 'send',
    'messaging.operation.type': 'send',
    'messaging.destination.name': queue,
  });
  expect((await recoup.jobs.get({ wallet, job: 'j' })).job.traceparent).toBe(traceparentOf(caller));

  const worker = recoup.work(queue, async () => ({ it: 'secret-result' }));
  const process = await spanOf(`process ${queue}`);
  await worker.stop();
  expect(process.kind).toBe(api.SpanKind.CONSUMER);
  expect(process.parentSpanContext).toBeUndefined();
  expect(process.spanContext().traceId).not.toBe(caller.traceId);
  expect(process.links.map(({ context }) => [context.traceId, context.spanId])).toEqual([
    [caller.traceId, caller.spanId],
  ]);
  expect(process.attributes).toEqual({
    'messaging.system': 'recoup',
    'messaging.operation.name': 'process',
    'messaging.operation.type': 'process',
    'messaging.destination.name': queue,
    'messaging.message.id': 'j',
    'recoup.wallet': wallet,
    'recoup.attempt': 1,
  });
  const report = await spanOf('job.succeed');
  expect(report.parentSpanContext?.spanId).toBe(process.spanContext().spanId);
  expect(named(`receive ${queue}`)).toHaveLength(1);
  const all = exporter.getFinishedSpans().map(({ name, attributes, events }) => ({ name, attributes, events }));
  expect(JSON.stringify(all)).not.toMatch(/secret-/);
});

onFirst('an own traceparent goes before the context; a lease that brings nothing is no span', async (s) => {
  const recoup = await tracedOn(s);
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  const wallet = await s.wallet(100);
  const queue = newId('queue');
  await inside('caller', () => recoup.jobs.submit({ wallet, job: 'j', queue, price: 1, traceparent }));
  expect((await recoup.jobs.get({ wallet, job: 'j' })).job.traceparent).toBe(traceparent);
  await recoup.jobs.submit({ wallet, job: 'k', queue: null, price: 1 });
  expect((await recoup.jobs.get({ wallet, job: 'k' })).job.traceparent).toBeNull();
  expect((await spanOf('job.submit')).attributes['recoup.outcome']).toBe('charged');
  await recoup.jobs.lease({ queue: newId('empty') });
  expect(exporter.getFinishedSpans().filter(({ name }) => name.startsWith('receive'))).toEqual([]);
});

onFirst('what fails says so by its name alone, refusals are outcomes, batches count', async (s) => {
  const recoup = await tracedOn(s);
  const wallet = await s.wallet(3);
  const queue = newId('queue');
  await recoup.jobs.submitMany(['a', 'b', 'c', 'd'].map((job) => ({ wallet, job, queue, price: 1 })));
  expect((await spanOf(`send ${queue}`)).attributes).toMatchObject({
    'messaging.batch.message_count': 4,
    'recoup.outcome': 'mixed',
  });
  const worker = recoup.work(queue, async () => {
    throw new Failure('secret-reason', { retryable: false });
  });
  await until(() => named(`process ${queue}`).length === 3);
  await worker.stop();
  for (const { attributes, status, events } of named(`process ${queue}`)) {
    expect(attributes['error.type']).toBe('Failure');
    expect(status).toEqual({ code: api.SpanStatusCode.ERROR });
    expect(events).toEqual([]);
  }
  expect(named('job.fail').map(({ attributes }) => attributes['recoup.outcome'])).toEqual(['dead', 'dead', 'dead']);
  expect(named('job.fail').map(({ status }) => status.code)).toEqual([0, 0, 0]);
});

onFirst('inside a caller’s transaction too; what throws is an error of its span', async (s) => {
  const recoup = await tracedOn(s);
  const wallet = await s.wallet(10);
  const caller = await inside('caller', async (span) => {
    await recoup.transaction(({ jobs }) => jobs.submit({ wallet, job: 'in', queue: null, price: 1 }));
    return span.spanContext();
  });
  expect((await spanOf('job.submit')).parentSpanContext?.spanId).toBe(caller.spanId);
  expect((await recoup.jobs.get({ wallet, job: 'in' })).job.traceparent).toBe(traceparentOf(caller));
  exporter.reset();
  const closed = await tracedOn(s);
  await closed.close();
  await expect(closed.jobs.submit({ wallet, job: 'no', queue: null, price: 1 })).rejects.toMatchObject({
    code: 'closed',
  });
  const span = await spanOf('job.submit');
  expect(span.status.code).toBe(api.SpanStatusCode.ERROR);
  expect(span.attributes).toMatchObject({ 'error.type': 'closed', 'recoup.outcome': 'closed' });
});

onFirst('a traceparent and a span context say the same', async () => {
  const text = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  expect(traceparentOf(spanContextOf(text))).toBe(text);
  expect(spanContextOf('nonsense')).toBeUndefined();
  expect(spanContextOf(null)).toBeUndefined();
  expect(traceparentOf(api.INVALID_SPAN_CONTEXT)).toBeUndefined();
});
