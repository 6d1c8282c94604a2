// The receivers of docs/webhooks.md as they stand there, on a delivery that a real sender signed.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { ALERT_KINDS, EVENT_KINDS } from 'recoup';
import { type TestDatabase, testDatabase } from 'recoup/testing';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { Api } from './support/api.ts';
import { type Received, Receiver } from './support/receiver.ts';

const page = readFileSync(resolve(import.meta.dirname, '../../../docs/webhooks.md'), 'utf8');
const block = (language: string) => new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'm').exec(page)![1]!;
const folder = mkdtempSync(join(tmpdir(), 'webhooks-page-'));
let receiver: Receiver;
let db: TestDatabase;
let api: Api;
let received: Received;
const secrets: string[] = [];

beforeAll(async () => {
  receiver = await Receiver.start();
  db = await testDatabase(inject('servers')[0]!.url);
  const open = { connection: db.url, sweep: true, pollMs: 20 };
  api = Api.over(await Api.replica(db, { webhooksToPrivate: true, open }));
}, 60_000);
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await api.close();
  await db.drop();
  await receiver.close();
});

/** What a receiver makes of it: the type of the event, or why not. */
type Verify = (received: Received, secret: string) => Promise<string>;

const inTypeScript: Verify = async ({ headers, body }, secret) => {
  const { verify } = await import(join(folder, 'receiver.ts'));
  try {
    return verify(headers, body, secret).type;
  } catch (error) {
    return (error as Error).message;
  }
};
const inPython: Verify = async ({ headers, body }, secret) => {
  const asked = JSON.stringify({ headers, body, secret });
  const { stdout } = await promisify(execFile)(process.env.PYTHON ?? 'python3', [join(folder, 'receiver.py'), asked]);
  return stdout.trim();
};
const PYTHON_MAIN = `
import sys
asked = json.loads(sys.argv[1])
try:
    print(verify(asked["headers"], asked["body"].encode(), asked["secret"])["type"])
except ValueError as error:
    print(error)
`;

describe.each([
  ['TypeScript', inTypeScript],
  ['Python', inPython],
] as const)('the receiver in %s', (_, verify) => {
  beforeAll(async () => {
    writeFileSync(join(folder, 'receiver.ts'), block('ts'));
    writeFileSync(join(folder, 'receiver.py'), block('python') + PYTHON_MAIN);
    if (received) return;
    const input = { endpoint: 'e', url: receiver.url, kinds: ['job.dead'], status: 'off' };
    secrets.push((await api.call('webhookEndpoints.register', input)).secret);
    secrets.push((await api.call('webhookEndpoints.rotate', { endpoint: 'e' })).secret);
    await api.call('webhookEndpoints.test', { endpoint: 'e' });
    await api.call('webhookEndpoints.change', { endpoint: 'e', status: 'on' });
    while (receiver.received.length === 0) await new Promise((done) => setTimeout(done, 20));
    received = receiver.received[0]!;
  });

  test('takes what we signed, with the secret of now and that of before', async () => {
    for (const secret of secrets) expect(await verify(received, secret)).toBe('endpoint.test');
  });

  test('refuses another body, another id, another secret and what is old', async () => {
    const [secret] = secrets as [string];
    const other = { ...received, headers: { ...received.headers, 'webhook-id': 'msg_other' } };
    const old = { ...received, headers: { ...received.headers, 'webhook-timestamp': '1700000000' } };
    expect(await verify({ ...received, body: `${received.body} ` }, secret)).toBe('not signed with this secret');
    expect(await verify(other, secret)).toBe('not signed with this secret');
    expect(await verify(received, `whsec_${'A'.repeat(32)}`)).toBe('not signed with this secret');
    expect(await verify(old, secret)).toBe('too old, or the clock is wrong');
  });
});

test('the page names every kind of event and of alert', () => {
  expect([...EVENT_KINDS, ...ALERT_KINDS].filter((kind) => !page.includes(`\`${kind}\``))).toEqual([]);
});
