// Traces of the service: a process of its own that sends to a collector over HTTP; trace context without tracing; what to install.
import { errors } from 'recoup';
import { type TestDatabase, testDatabase } from 'recoup/testing';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { TRACING_PACKAGES } from '../src/tracing/sdk.ts';
import { Api, type Json } from './support/api.ts';
import { type ReceivedSpan, startReceiver } from './support/otlp-receiver.ts';
import { startServer } from './support/server-process.ts';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const TRACE = `00-${TRACE_ID}-00f067aa0ba902b7-01`;

let db: TestDatabase;
beforeAll(async () => {
  db = await testDatabase(inject('servers')[0]!.url);
});
afterAll(() => db.drop());

async function send(url: string, method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const json = body === undefined ? {} : { body: JSON.stringify(body) };
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  const response = await fetch(`${url}${path}`, { method, ...json, headers: { ...type, ...headers } });
  return { status: response.status, body: (await response.json()) as Json };
}

test('requests and transitions arrive at the collector, in the caller’s trace; the job carries the request’s context', async () => {
  const receiver = await startReceiver();
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    OTEL_SERVICE_NAME: 'recoup-tried',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
  };
  const server = await startServer(db.url, { argv: ['--tracing', '--poll-ms', '100'], env });
  await send(server.url, 'PUT', '/v1/wallets/w', { customer: 'c' });
  await send(server.url, 'PUT', '/v1/wallets/w/grants/g', { amount: 10 });
  const job = { queue: 'q', price: 1, payload: 'secret-payload' };
  await send(server.url, 'PUT', '/v1/wallets/w/jobs/j', job, { traceparent: TRACE });
  const leased = await send(server.url, 'POST', '/v1/queues/q/leases', { waitMs: 1000 });
  await send(server.url, 'POST', '/v1/wallets/w/jobs/j/succeed', { attempt: 1, result: 'secret-result' });
  await send(server.url, 'PUT', '/v1/wallets/none/jobs/j', job);
  await send(server.url, 'POST', '/v1/webhooks/runpod/secret-token', {});
  await fetch(`${server.url}/readyz`);
  server.signal('SIGTERM');
  expect(await server.ended).toBe(0);
  await receiver.close();

  const find = (name: string, status?: number): ReceivedSpan => {
    const found = receiver.spans.filter(
      (span) =>
        span.name === name &&
        (status ?? span.attributes['http.response.status_code']) === span.attributes['http.response.status_code'],
    );
    expect(found, name).toHaveLength(1);
    return found[0]!;
  };
  const submit = find('PUT /v1/wallets/:wallet/jobs/:job', 201);
  expect(submit).toMatchObject({ traceId: TRACE_ID, parentSpanId: '00f067aa0ba902b7', kind: 2, status: {} });
  expect(submit.attributes).toMatchObject({
    'http.request.method': 'PUT',
    'http.route': '/v1/wallets/:wallet/jobs/:job',
    'http.response.status_code': 201,
    'url.path': '/v1/wallets/:wallet/jobs/:job',
    'url.scheme': 'http',
    'recoup.operation': 'jobs.submit',
  });
  const sends = receiver.spans.filter(({ name }) => name === 'send q');
  expect(sends.map(({ attributes }) => attributes['recoup.outcome'])).toEqual(['charged', 'no_wallet']);
  expect(sends[0]).toMatchObject({ traceId: TRACE_ID, parentSpanId: submit.spanId });
  expect(leased.body.jobs[0].job.traceparent).toBe(`00-${TRACE_ID}-${submit.spanId}-01`);
  expect(find('receive q').attributes['messaging.system']).toBe('recoup');
  expect(find('PUT /v1/wallets/:wallet/jobs/:job', 404).status).toEqual({ code: 0 });
  expect(find('POST /v1/wallets/:wallet/jobs/:job/succeed').attributes['http.response.status_code']).toBe(200);
  expect(find('job.succeed').attributes['recoup.outcome']).toBe('succeeded');
  expect(receiver.resource).toMatchObject({ 'service.name': 'recoup-tried', 'deployment.environment.name': 'test' });
  expect(receiver.raw).not.toMatch(/secret-|readyz/);
  const line = server
    .logs()
    .split('\n')
    .find((one) => one.includes('"operation":"jobs.submit"'));
  expect(JSON.parse(line!)).toMatchObject({ traceId: TRACE_ID, status: 201 });
});

test('a collector that is not there delays nothing and keeps nobody from stopping', async () => {
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' };
  const server = await startServer(db.url, { argv: ['--tracing'], env });
  expect((await send(server.url, 'PUT', '/v1/wallets/alone', { customer: 'c' })).status).toBe(201);
  server.signal('SIGTERM');
  expect(await server.ended).toBe(0);
});

test('without the packages the start is refused, and says what to install', async () => {
  const hide = `export async function resolve(name, context, next) {
    if (name === '@opentelemetry/sdk-trace-node') throw Object.assign(new Error('gone'), { code: 'ERR_MODULE_NOT_FOUND' });
    return next(name, context);
  }`;
  const hook = `import { register } from 'node:module'; register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hide)}`)});`;
  const node = ['--import', `data:text/javascript,${encodeURIComponent(hook)}`];
  const refused = await startServer(db.url, { argv: ['--tracing'], node }).catch((error) => error);
  expect(refused.exitCode).toBe(errors.invalid.exit);
  expect(refused.message).toContain(`npm install ${TRACING_PACKAGES.join(' ')}`);
});

describe('without tracing', () => {
  let api: Api;
  beforeAll(async () => {
    api = await Api.start();
  });
  afterAll(() => api.close());

  test.each([
    ['as it came', TRACE, TRACE],
    ['of a later version: the part that is known', `01-${TRACE.slice(3)}-more`, TRACE],
    ['of a later version with nothing more', `cc-${TRACE.slice(3)}`, TRACE],
    ['that is none: ignored', 'nonsense', null],
    ['of the forbidden version: ignored', `ff-${TRACE.slice(3)}`, null],
    ['with more than its version has: ignored', `${TRACE}-more`, null],
    ['of zeros: ignored', TRACE.replace(TRACE_ID, '0'.repeat(32)), null],
  ])('the job keeps a traceparent header %s', async (_, given, kept) => {
    const wallet = await api.wallet();
    const submitted = await api.call(
      'jobs.submit',
      { wallet, job: 'j', queue: wallet, price: 1 },
      { traceparent: given },
    );
    expect(submitted.job.traceparent).toBe(kept);
    const batch = { items: [{ wallet, job: 'k', queue: wallet, price: 1 }] };
    await api.call('jobs.submitMany', batch, { traceparent: given });
    const { jobs } = await api.call('queues.lease', { queue: wallet, count: 2 });
    expect(jobs.map((one: { job: { traceparent: string } }) => one.job.traceparent)).toEqual([kept, kept]);
  });
});
