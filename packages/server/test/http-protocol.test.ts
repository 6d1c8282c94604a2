// HTTP as such: addresses, methods, hosts, origins, headers, limits, health, metrics, the OpenAPI document, a database that is gone.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { errors } from 'recoup';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CuttingProxy as DatabaseProxy } from '../../recoup/test/support/proxy.ts';
import { until } from '../../recoup/test/support/waiting.ts';
import { openapi } from '../src/http/openapi.ts';
import { COMMON_ERRORS } from '../src/operations/operation.ts';
import { operations } from '../src/operations/operations.ts';
import { Api, type Json } from './support/api.ts';

let api: Api;
beforeAll(async () => {
  api = await Api.start({ server: { requestTimeoutMs: 1000 } });
});
afterAll(() => api.close());

/** What a socket gets back for these bytes. */
function bytes(text: string): Promise<string> {
  const { hostname, port } = new URL(api.service.url);
  return new Promise((resolve, reject) => {
    let got = '';
    const socket = connect(Number(port), hostname, () => socket.write(text));
    socket.setEncoding('utf8').on('data', (chunk) => {
      got += chunk;
    });
    socket.on('close', () => resolve(got)).on('error', reject);
  });
}

describe('addresses and methods', () => {
  test('an unknown address is 404, a known one with another method 405 with Allow, HEAD is GET without a body', async () => {
    expect(await api.send('GET', '/nope')).toMatchObject({
      status: 404,
      body: { code: 'not_found', instance: '/nope' },
    });
    expect(await api.send('GET', '/v1/wallet')).toMatchObject({ status: 404 });
    const wrong = await api.send('DELETE', '/v1/wallets/w/jobs/j');
    expect(wrong).toMatchObject({ status: 405, body: { code: 'method_not_allowed' } });
    expect(wrong.headers.get('allow')).toBe('PUT, GET, HEAD, OPTIONS');
    const wallet = await api.wallet();
    const get = await api.send('GET', `/v1/wallets/${wallet}/balance`);
    const head = await api.send('HEAD', `/v1/wallets/${wallet}/balance`);
    expect(head).toMatchObject({ status: 200, body: '' });
    expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'));
    expect((await api.send('HEAD', '/v1/feed/stream')).status).toBe(405);
    const options = await api.send('OPTIONS', '/v1/feed');
    expect(options).toMatchObject({ status: 204 });
    expect([...options.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
  });

  test('every path of the list refuses every method that is not in it', async () => {
    for (const path of new Set(operations.map((one) => one.path))) {
      const taken = operations.filter((one) => one.path === path).map((one) => one.method as string);
      const url = path.replaceAll(/\{\w+\}/g, 'x');
      for (const method of ['GET', 'PUT', 'POST', 'PATCH', 'DELETE']) {
        if (taken.includes(method)) continue;
        expect((await api.send(method, url)).status, `${method} ${url}`).toBe(405);
      }
    }
  });

  test('a problem has the members of RFC 9457, its type leads to what the code means, and the request has an id', async () => {
    const answer = await api.send('GET', '/v1/wallets/nobody/balance?', undefined, { 'x-request-id': 'abc.1' });
    expect(answer.body).toEqual({
      type: '/errors/no_wallet',
      title: errors.no_wallet.sentence,
      status: 404,
      detail: errors.no_wallet.sentence,
      instance: '/v1/wallets/nobody/balance',
      code: 'no_wallet',
      requestId: 'abc.1',
      wallet: 'nobody',
    });
    expect(answer.headers.get('x-request-id')).toBe('abc.1');
    expect(await api.send('GET', answer.body.type)).toMatchObject({
      status: 200,
      body: { code: 'no_wallet', exitCode: 4 },
    });
    expect((await api.send('GET', '/errors/constructor')).status).toBe(404);
    const evil = await api.send('GET', '/v1/queues', undefined, { 'x-request-id': 'a"b' });
    expect(evil.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('who talks to us', () => {
  test('a host name that is not ours is refused, whatever the port', async () => {
    const port = new URL(api.service.url).port;
    for (const host of ['evil.example', `evil.example:${port}`, '127.0.0.1.evil.example']) {
      expect(await api.raw('GET', '/v1/queues', { host }), host).toMatchObject({
        status: 421,
        body: { code: 'wrong_host' },
      });
    }
    expect(await bytes('GET /v1/queues HTTP/1.1\r\nhost:\r\nconnection: close\r\n\r\n')).toContain('HTTP/1.1 421');
    expect(await bytes('GET /v1/queues HTTP/1.0\r\n\r\n')).toContain('HTTP/1.1 421');
    for (const host of [`localhost:${port}`, 'LOCALHOST', `127.0.0.1:${port}`, `[::1]:${port}`]) {
      expect((await api.raw('GET', '/v1/queues', { host })).status, host).toBe(200);
    }
  });

  test('a page of another origin is refused, also where no body and no preflight is needed', async () => {
    const { wallet, job } = await api.running();
    const cancel = `/v1/wallets/${wallet}/jobs/${job}/cancel`;
    for (const origin of ['https://evil.example', 'null', 'http://localhost:1']) {
      expect(await api.send('POST', cancel, undefined, { origin })).toMatchObject({
        status: 403,
        body: { code: 'foreign_origin' },
      });
    }
    for (const site of ['cross-site', 'same-site']) {
      expect((await api.send('GET', '/v1/verify', undefined, { 'sec-fetch-site': site })).status).toBe(403);
    }
    const own = await api.send('POST', cancel, undefined, { origin: api.service.url, 'sec-fetch-site': 'same-origin' });
    expect(own).toMatchObject({ status: 200, body: { outcome: 'canceled' } });
    expect([...own.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
  });
});

describe('limits', () => {
  test('headers that are too large, bytes that are not HTTP, a request that does not arrive', async () => {
    const large = await bytes(`GET / HTTP/1.1\r\nhost: localhost\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`);
    expect(large).toContain('HTTP/1.1 431');
    expect(large).toContain('"code":"headers_too_large"');
    expect(await bytes('hello\r\n\r\n')).toContain('"code":"invalid"');
    const slow = await bytes(
      'PUT /v1/wallets/w HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{',
    );
    expect(slow).toContain('HTTP/1.1 408');
    const both = await bytes(
      'POST /v1/keys HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n{}',
    );
    expect(both).toContain('HTTP/1.1 400');
  }, 60_000);

  test('a path part longer than any id is refused as invalid', async () => {
    expect(await api.send('GET', `/v1/wallets/${'x'.repeat(15_000)}/balance`)).toMatchObject({
      status: 400,
      body: { field: 'wallet' },
    });
  });
});

describe('the server itself', () => {
  test('alive, ready, metrics', async () => {
    const { wallet } = await api.running();
    await api.call('system.verify');
    expect(await api.send('GET', '/livez')).toMatchObject({ status: 200, body: { status: 'alive' } });
    expect(await api.send('GET', '/readyz')).toMatchObject({ status: 200, body: { status: 'ready' } });
    await api.call('jobs.submit', { wallet, job: 'waits', queue: 'metrics', price: 1 });
    const { body } = await api.send('GET', '/metrics');
    expect(body).toMatch(/^recoup_transitions_total\{transition="job.submit",outcome="charged"\} \d+$/m);
    expect(body).toMatch(/^recoup_queue_ready\{queue="metrics"\} 1$/m);
    expect(body).toMatch(/^recoup_queue_oldest_due_seconds\{queue="metrics"\} [\d.]+$/m);
    expect(body).toMatch(/^recoup_jobs_running [1-9]/m);
    expect(body).toMatch(/^recoup_database_up 1$/m);
    expect(body).toMatch(/^recoup_verify_ok 1$/m);
    expect(body).toMatch(/^recoup_oldest_snapshot_seconds [\d.]+$/m);
    expect(body).toMatch(/^recoup_http_request_duration_seconds_count\{operation="jobs.submit",status="201"\} \d+$/m);
    expect(body).toContain('recoup_http_waiting 0');
  });

  test('verifies the books again and again where it is told to', async () => {
    const service = await Api.replica(api.db, { verifyEveryMs: 50 });
    const verified = async () => (await (await fetch(`${service.url}/metrics`)).text()).includes('recoup_verify_ok 1');
    await until(verified);
    await service.close();
  });

  test('the log says where something failed, never what the rows held', async () => {
    const lines: string[] = [];
    const logger = { level: 'info', stream: { write: (line: string) => void lines.push(line) } };
    const service = await Api.replica(api.db, { server: { logger } });
    await api.db.query(`alter table recoup.wallets add constraint broken check (customer_id <> 'hush-hush')`);
    const init = { method: 'PUT', body: '{"customer":"hush-hush"}', headers: { 'content-type': 'application/json' } };
    const answer = await fetch(`${service.url}/v1/wallets/w`, init);
    expect(answer.status).toBe(500);
    expect(await answer.json()).toMatchObject({ code: 'database_error', detail: errors.database_error.sentence });
    await api.db.query('alter table recoup.wallets drop constraint broken');
    await service.close();
    expect(lines.join('')).toContain('"sqlstate":"23514"');
    expect(lines.join('')).not.toContain('hush-hush');
  });

  test('a lost race is counted as duplicate', async () => {
    const wallet = await api.wallet();
    for (let i = 0; i < 3; i++) await api.call('wallets.grant', { wallet, key: 'same', amount: 1 });
    const { body } = await api.send('GET', '/metrics');
    expect(body).toMatch(/^recoup_transitions_total\{transition="wallet.grant",outcome="duplicate"\} [2-9]/m);
  });
});

describe('the OpenAPI document', () => {
  test('is served as it is made from the list, and names every operation, scope and code', async () => {
    const { body } = await api.send('GET', '/openapi.json');
    expect(body).toEqual(JSON.parse(JSON.stringify(openapi(operations))));
    expect(operations.length).toBeGreaterThan(35);
    for (const { name, path, method, errors: own } of operations) {
      const described = body.paths[path][method.toLowerCase()];
      expect(described.operationId).toBe(name);
      for (const code of own) {
        expect(described.responses[errors[code].status].description, `${name} ${code}`).toContain(`\`${code}\``);
      }
    }
    expect(body.components.schemas.Problem.properties.code.enum).toEqual(Object.keys(errors));
    expect(COMMON_ERRORS.every((code) => code in errors)).toBe(true);
  });

  test('names and addresses are unique, fields of path, query and body never share a name', () => {
    expect(new Set(operations.map(({ name }) => name)).size).toBe(operations.length);
    expect(new Set(operations.map(({ method, path }) => `${method} ${path}`)).size).toBe(operations.length);
    for (const { name, path, params, query, body } of operations) {
      const fields = [params, query, body].flatMap((schema) => Object.keys(schema?.properties ?? {}));
      expect(new Set(fields).size, name).toBe(fields.length);
      expect(
        [...path.matchAll(/\{(\w+)\}/g)].map(([, field]) => field),
        name,
      ).toEqual(Object.keys(params.properties));
    }
  });

  test('passes the linter', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'recoup-openapi-'));
    try {
      const file = join(folder, 'openapi.json');
      await writeFile(file, JSON.stringify(openapi(operations)));
      const cli = join(import.meta.dirname, '../../../node_modules/@redocly/cli/bin/cli.js');
      const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
      const lint = promisify(execFile)(
        process.execPath,
        [cli, 'lint', '--extends=recommended', '--format=json', file],
        { cwd: folder, env },
      );
      const { stdout } = await lint.catch((error) => error as { stdout: string });
      const report = JSON.parse(stdout.slice(stdout.indexOf('{'))) as Json;
      expect(report.totals).toMatchObject({ errors: 0, warnings: 0 });
      expect(report.problems.map((one: Json) => `${one.ruleId}: ${one.message} ${one.location?.[0]?.pointer}`)).toEqual(
        [],
      );
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('a database that is gone', () => {
  test('503 with Retry-After, not ready yet alive; afterwards the same submit is charged once', async () => {
    const proxy = await DatabaseProxy.before(api.db.url);
    const service = await Api.replica({ url: proxy.url });
    const wallet = await api.wallet();
    const at = (path: string, init?: RequestInit) => fetch(`${service.url}${path}`, init);
    const submit = () => {
      const body = JSON.stringify({ queue: null, price: 10 });
      return at(`/v1/wallets/${wallet}/jobs/j`, {
        method: 'PUT',
        body,
        headers: { 'content-type': 'application/json' },
      });
    };
    proxy.down();
    const refused = await submit();
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(await refused.json()).toMatchObject({ code: 'database_unavailable', status: 503 });
    expect((await at('/readyz')).status).toBe(503);
    expect((await at('/livez')).status).toBe(200);
    const metrics = await (await at('/metrics')).text();
    expect(metrics).toMatch(/^recoup_database_up 0$/m);
    expect((await api.call('wallets.balance', { wallet })).booked).toBe(100);
    proxy.up();
    expect((await submit()).status).toBe(201);
    expect((await submit()).status).toBe(200);
    expect((await api.call('wallets.balance', { wallet })).booked).toBe(90);
    await service.close();
    await proxy.close();
  });

  test('an answer that is lost after the commit: the repeat gets the same job, nothing twice', async () => {
    const proxy = await DatabaseProxy.before(api.db.url);
    const service = await Api.replica({ url: proxy.url });
    const wallet = await api.wallet();
    proxy.cutNext('job.submit', 'answer');
    const url = `${service.url}/v1/wallets/${wallet}/jobs/j`;
    const init = { method: 'PUT', body: '{"queue":null,"price":10}', headers: { 'content-type': 'application/json' } };
    const first = await fetch(url, init);
    expect([200, 201, 503]).toContain(first.status);
    expect(await (await fetch(url, init)).json()).toMatchObject({ outcome: 'duplicate', balance: 90 });
    expect((await api.call('wallets.balance', { wallet })).booked).toBe(90);
    await service.close();
    await proxy.close();
  });
});
