// The command line: every operation once, on a database and through a server; exit codes, maintenance.
import { createHash } from 'node:crypto';
import { errors } from 'recoup';
import Value from 'typebox/value';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { operations } from '../src/operations/operations.ts';
import { Api, type Input, type Json, operationOf } from './support/api.ts';
import { type Ran, cli as runCli } from './support/cli.ts';

let api: Api;
let key: string;
beforeAll(async () => {
  api = await Api.start({ requireKeys: true });
  key = (await api.service.keys.create({ name: 'cli', scopes: ['admin'] })).secret;
});
afterAll(async () => {
  await api.close();
});

const cli = (argv: readonly string[], env: NodeJS.ProcessEnv = { DATABASE_URL: api.db.url }): Promise<Ran> =>
  runCli(argv, env);
const kebab = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** An operation and its input as somebody would type it. */
function argvOf(name: string, input: Input): string[] {
  const { params } = operationOf(name);
  const rest = Object.entries(input).filter(([field]) => !(field in params.properties));
  const flags = rest.flatMap(([field, value]) => [
    // `--key` is the key for the server.
    field === 'key' ? '--key-value' : `--${kebab(field)}`,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
  return [
    ...name.split('.').map(kebab),
    ...flags,
    '--',
    ...Object.keys(params.properties).map((field) => String(input[field])),
  ];
}

/** The id says which event it is of, and which endpoint is told. */
const TEST_OF_THE_ENDPOINT = `msg_${createHash('sha256').update('a/b ä\u001f["endpoint.test", "k"]').digest('hex').slice(0, 40)}`;

const j = { wallet: 'a/b ä', job: 'j' };
const at = { ...j, attempt: 1 };
/** One after the other, each may rest on those before it. */
const story: [string, Input][] = [
  ['wallets.open', { wallet: j.wallet, customer: 'c' }],
  ['wallets.change', { wallet: j.wallet, overdraftLimit: 10 }],
  ['wallets.grant', { wallet: j.wallet, key: '-k', amount: 100, note: 'two words' }],
  ['wallets.grantMany', { items: [{ wallet: j.wallet, key: 'k2', amount: 5 }] }],
  ['wallets.adjust', { wallet: j.wallet, key: 'k3', amount: -5, actor: 'ann' }],
  ['wallets.openMany', { items: [{ wallet: 'w2', customer: 'c' }] }],
  ['wallets.adjustMany', { items: [{ wallet: 'w2', key: 'k', amount: -1 }] }],
  ['wallets.balances', { wallets: [j.wallet, 'w2'] }],
  ['wallets.list', { customer: 'c', limit: 1 }],
  ['wallets.remainders', { customer: 'c' }],
  ['wallets.balance', { wallet: j.wallet }],
  ['wallets.balance', { wallet: j.wallet, at: '2001-01-01T00:00:00Z' }],
  ['wallets.entries', { wallet: j.wallet, newestFirst: true, limit: 2 }],
  ['wallets.replay', { wallet: j.wallet }],
  ['jobs.submit', { ...j, queue: 'q', price: 10, payload: { a: 1 }, labels: { x: 'y' } }],
  ['jobs.submitMany', { items: [{ wallet: j.wallet, job: 'k', queue: null, price: 1, upstreamRef: 'ref' }] }],
  ['jobs.submit', { wallet: j.wallet, job: 'l', queue: null, price: 1 }],
  ['jobs.byUpstreamRef', { upstreamRef: 'ref' }],
  ['upstreamRefs.fail', { upstreamRef: 'ref', reason: 'no' }],
  ['upstreamRefs.succeed', { upstreamRef: 'ref', result: 'done' }],
  ['queues.configure', { queue: 'q', maxFailures: 1, paused: false }],
  ['queues.get', { queue: 'q' }],
  ['queues.lease', { queue: 'q', requestId: 'r', waitMs: 1000 }],
  ['callbacks.sign', { ...at, provider: 'runpod' }],
  ['jobs.extend', at],
  ['jobs.release', { ...at, delayMs: 0 }],
  ['queues.lease', { queue: 'q' }],
  ['jobs.handOver', { ...j, attempt: 2, deadlineMs: 60_000 }],
  ['jobs.fail', { ...j, attempt: 2, retryable: false, verdict: 'definitive', reason: 'x' }],
  ['deadLetters.list', { wallet: j.wallet }],
  ['deadLetters.preview', { queue: 'q' }],
  ['deadLetters.redriveAll', { queue: 'q', confirm: 1 }],
  ['queues.lease', { queue: 'q' }],
  ['jobs.failMany', { items: [{ ...j, attempt: 3, retryable: false }] }],
  ['deadLetters.redrive', j],
  ['queues.lease', { queue: 'q' }],
  ['jobs.fail', { ...j, attempt: 4, retryable: false }],
  ['deadLetters.discard', j],
  ['jobs.succeed', { ...j, result: { url: 'x' } }],
  ['jobs.settle', { ...j, finalPrice: 7 }],
  ['jobs.succeedMany', { items: [j] }],
  ['jobs.cancel', { wallet: j.wallet, job: 'l', keep: 1 }],
  ['jobs.get', j],
  ['jobs.list', { wallet: j.wallet, state: 'succeeded' }],
  ['jobs.attempts', j],
  ['jobs.entries', j],
  ['queues.list', {}],
  ['upstreams.register', { upstream: 'a/b ä', pool: 'p', provider: 'acme', maxConcurrency: 2 }],
  ['upstreams.change', { upstream: 'a/b ä', status: 'on', weight: 3 }],
  ['upstreams.select', { pool: 'p', lease: 'l', holder: 'me' }],
  ['upstreams.extend', { lease: 'l', leaseMs: 1000 }],
  ['upstreams.report', { upstream: 'a/b ä', lease: 'l', success: false, block: { kind: 'billing', policy: 'manual' } }],
  ['upstreams.release', { lease: 'l' }],
  ['upstreams.block', { upstream: 'a/b ä', reason: 'by hand', actor: 'ann' }],
  ['upstreams.free', { block: 1, as: 'credential', generation: 1 }],
  ['blocks.list', { policy: 'manual' }],
  ['upstreams.list', { pool: 'p', usable: false }],
  ['upstreams.explain', { upstream: 'a/b ä' }],
  ['upstreams.note', { upstream: 'a/b ä', snapshots: [{ name: 'week', used: 0.5 }] }],
  ['upstreams.snapshots', { upstream: 'a/b ä' }],
  ['inbox.list', { unowned: true }],
  ['inbox.take', { item: 'block:2', actor: 'ann', force: true }],
  ['inbox.snooze', { item: 'block:2', actor: 'ann', forMs: 60_000 }],
  ['inbox.note', { item: 'block:2', actor: 'ann', note: 'asked them', key: 'k' }],
  ['upstreams.replaceCredential', { upstream: 'a/b ä', credentialRef: 'vault/new', actor: 'ann' }],
  ['limits.set', { limit: 'day', upstream: 'a/b ä', unit: 'tokens', amount: 10, kind: 'daily', zone: 'UTC' }],
  ['upstreams.report', { upstream: 'a/b ä', answer: { status: 200 }, use: { tokens: 4 }, key: 'u' }],
  ['limits.list', { upstream: 'a/b ä' }],
  ['limits.get', { limit: 'day' }],
  ['limits.reset', { limit: 'day', actor: 'ann', reason: 'paid' }],
  ['limits.windows', { limit: 'day' }],
  ['limits.end', { limit: 'day' }],
  ['estimates.report', {}],
  ['upstreams.history', { upstream: 'a/b ä', oldestFirst: true }],
  ['queues.configure', { queue: 'joined', pool: 'p', maxUpstreamErrors: 1 }],
  ['upstreams.register', { upstream: 'c/d', pool: 'p', provider: 'c' }],
  ['jobs.submit', { wallet: j.wallet, job: 'm', queue: 'joined', price: 0 }],
  ['queues.lease', { queue: 'joined', model: 'large' }],
  ['jobs.report', { wallet: j.wallet, job: 'm', attempt: 1, answer: { status: 200 }, use: { tokens: 3 } }],
  ['pools.list', {}],
  ['pools.get', { pool: 'p', model: 'm' }],
  ['pools.explain', { pool: 'p' }],
  ['webhookEndpoints.register', { endpoint: 'a/b ä', url: 'https://receiver.invalid/', kinds: ['job.dead'] }],
  ['webhookEndpoints.change', { endpoint: 'a/b ä', kinds: ['wallet.low', 'job.dead'], lowBalance: 5 }],
  ['webhookEndpoints.rotate', { endpoint: 'a/b ä', keepMs: 1000 }],
  ['webhookEndpoints.test', { endpoint: 'a/b ä', key: 'k' }],
  ['webhookEndpoints.list', {}],
  ['webhookEndpoints.get', { endpoint: 'a/b ä' }],
  ['webhookDeliveries.list', { endpoint: 'a/b ä', state: 'pending', limit: 1 }],
  ['webhookDeliveries.get', { delivery: TEST_OF_THE_ENDPOINT }],
  ['webhookEndpoints.replay', { endpoint: 'a/b ä', dead: true, since: '2030-01-01T00:00:00Z' }],
  ['webhookEndpoints.remove', { endpoint: 'a/b ä' }],
  ['plans.set', { plan: 'pro', credits: 100, every: 'month', zone: 'Europe/Berlin', expires: true }],
  ['plans.list', { limit: 1 }],
  ['subscriptions.start', { subscription: 'a/b ä', customer: 'c', wallet: j.wallet, plan: 'pro', pendingMs: 60_000 }],
  ['subscriptions.pay', { subscription: 'a/b ä', key: 'in_1' }],
  ['subscriptions.change', { subscription: 'a/b ä', plan: 'pro', from: 'now' }],
  ['subscriptions.cancel', { subscription: 'a/b ä', at: 'period', actor: 'ann' }],
  ['subscriptions.get', { subscription: 'a/b ä' }],
  ['subscriptions.history', { subscription: 'a/b ä' }],
  ['subscriptions.list', { customer: 'c', status: 'active' }],
  ['subscriptions.strays', { limit: 1 }],
  ['payments.tell', { payment: 'stripe:a/b ä', purchase: { wallet: j.wallet, credits: 5 }, amount: 50, paid: true }],
  ['payments.tell', { payment: 'stripe:a/b ä', also: 'stripe:c', refunded: 50 }],
  ['payments.list', { open: false, limit: 1 }],
  ['payments.missing', { payments: ['stripe:c', 'stripe:d'] }],
  ['alerts.list', { recovered: true, limit: 1 }],
  ['feed.read', { limit: 5 }],
  ['feed.entries', { customer: 'c', limit: 2 }],
  ['jobs.prune', { olderThanMs: 86_400_000, state: 'canceled', dryRun: true }],
  ['keys.create', { name: 'n', scopes: ['viewer'], customer: 'c' }],
  ['keys.list', {}],
  ['system.verify', { limit: 3 }],
  ['epochs.open', { reason: 'a restore', actor: 'ann', since: '2030-01-01T00:00:00Z' }],
  ['epochs.list', {}],
  ['system.info', {}],
];

describe.each(['a database', 'a server'])('through %s', (kind) => {
  let other: Api;
  let env: NodeJS.ProcessEnv;
  beforeAll(async () => {
    other = await Api.start({ requireKeys: true });
    const { secret } = await other.service.keys.create({ name: 'cli', scopes: ['admin'] });
    env =
      kind === 'a server' ? { RECOUP_SERVER: other.service.url, RECOUP_KEY: secret } : { DATABASE_URL: other.db.url };
  });
  afterAll(async () => {
    expect((await other.service.recoup.verify()).problems).toEqual([]);
    await other.close();
  });
  const called = new Set<string>();

  test('every operation, as JSON that its schema knows and as text for people', async () => {
    for (const [name, input] of story) {
      const { code, out, err } = await cli(['--json', ...argvOf(name, input)], env);
      expect({ code, err }, `${name} ${out}`).toMatchObject({ code: 0 });
      for (const line of out.trim().split('\n')) {
        expect([...Value.Errors(operationOf(name).output, JSON.parse(line))], name).toEqual([]);
      }
      called.add(name);
    }
    const made = JSON.parse(
      (await cli(['--json', 'keys', 'create', '--name', 'x', '--scopes', 'app,worker'], env)).out,
    );
    expect(made.key.scopes).toEqual(['app', 'worker']);
    expect((await cli(['--json', 'keys', 'revoke', made.key.prefix], env)).out).toContain('"revoked"');
    called.add('keys.revoke');
    const balance = await cli(['wallets', 'balance', j.wallet], env);
    expect(balance.out).toMatch(/^booked +191$/m);
    const entries = await cli(['wallets', 'entries', j.wallet], env);
    expect(entries.out).toMatch(/^wallet +seq +type +amount +balance/m);
    const left = operations.filter(
      ({ name, scopes, stream }) => !called.has(name) && scopes !== 'signature' && stream !== 'sse',
    );
    expect(left.map(({ name }) => name)).toEqual([]);
  });

  test.each([
    [['wallets', 'balance', 'nobody'], 'no_wallet'],
    [['wallets', 'grant', 'nobody', 'k', '--amount', '0'], 'invalid'],
    [['wallets', 'grant', 'nobody', 'k', '--amount', '0.5'], 'invalid'],
    [['wallets', 'grant', 'nobody', 'k', '--amount', 'much'], 'invalid'],
    [['wallets', 'grant', 'nobody', 'k'], 'invalid'],
    [['keys', 'create', '--name', 'x', '--scopes', 'root'], 'invalid'],
    [['keys', 'revoke', 'nobody'], 'no_key'],
    [['jobs', 'submit', j.wallet, 'dear', '--queue', 'null', '--price', '9999'], 'insufficient_credits'],
    [['dead-letters', 'redrive-all', '--confirm', '77'], 'count_changed'],
  ] as const)('%j exits as %s says', async (argv, code) => {
    const { code: exit, out, err } = await cli(argv, env);
    expect({ exit, out }, err).toEqual({ exit: errors[code].exit, out: '' });
    expect(err).toContain(`(${code})`);
    const json = await cli(['--json', ...argv], env);
    expect(JSON.parse(json.err.trim().split('\n').at(-1)!).code).toBe(code);
  });
});

test('a command, option or choice that is not there exits 2', async () => {
  for (const argv of [
    ['fly'],
    ['wallets', 'fly'],
    ['wallets', 'balance'],
    ['wallets', 'balance', 'w', '--when', 'x'],
    ['jobs', 'fail', 'w', 'j', '--verdict', 'maybe'],
  ]) {
    expect((await cli(argv)).code, argv.join(' ')).toBe(2);
  }
  expect(await cli(['--help'])).toMatchObject({ code: 0, err: '' });
  expect((await cli(['--version'])).out).toMatch(/^\d+\.\d+\.\d+/);
});

test('only JSON is read from a file; a file that cannot be read is named', async () => {
  expect(await cli(['wallets', 'open', '@ann', '--customer', '-'])).toMatchObject({ code: 0 });
  expect(JSON.parse((await cli(['--json', 'wallets', 'balance', '@ann'])).out)).toMatchObject({
    wallet: '@ann',
    customer: '-',
  });
  for (const path of ['/nowhere', '/etc']) {
    const { code, err } = await cli(['--json', 'jobs', 'succeed', '@ann', 'j', '--result', `@${path}`]);
    expect(code).toBe(errors.invalid.exit);
    expect(JSON.parse(err)).toMatchObject({ code: 'invalid', field: 'result' });
  }
});

test('migrate, verify, doctor, openapi; what does not add up exits 8', async () => {
  expect(JSON.parse((await cli(['--json', 'migrate'])).out)).toMatchObject({ applied: [] });
  expect((await cli(['migrate', '--schema', 'another'])).out).toContain('0001_money_and_work');
  expect((await cli(['wallets', 'balance', 'w', '--schema', 'unheard_of'])).code).toBe(errors.schema_missing.exit);
  const doctor = await cli(['--json', 'doctor']);
  expect(doctor.code).toBe(0);
  expect(JSON.parse(doctor.out).every((one: Json) => one.state !== 'wrong')).toBe(true);
  expect(await cli(['doctor', '--schema', 'unheard_of'])).toMatchObject({ code: 8 });
  for (const command of ['verify', 'doctor', 'migrate', 'start']) {
    const refused = await cli([command, '--server', 'http://127.0.0.1:1']);
    expect([command, refused.code, refused.err]).toEqual([command, 2, expect.stringContaining('cannot be used here')]);
  }
  expect(JSON.parse((await cli(['openapi'])).out).openapi).toMatch(/^3\.1/);
  const broken = await Api.start();
  const wallet = await broken.wallet();
  const ok = await cli(['verify'], { DATABASE_URL: broken.db.url });
  expect(ok).toMatchObject({ code: 0 });
  expect(ok.err).toContain('entries.sequence');
  await broken.db.query('update recoup.wallets set balance = balance + 1');
  const wrong = await cli(['--json', 'verify'], { DATABASE_URL: broken.db.url });
  expect(wrong.code).toBe(errors.unhealthy.exit);
  expect(JSON.parse(wrong.out).problems[0]).toMatchObject({ wallet, check: 'wallets.last_entry' });
  await broken.close();
});

test.each([
  ['port', '99999'],
  ['verifyEveryMs', '0'],
  ['stopDelayMs', '99999999999'],
  ['logLevel', 'loud'],
  ['publicUrl', 'nonsense'],
  ['maxConnections', '1'],
])('a setting that cannot be is refused before anything starts: %s %s', async (field, value) => {
  const { code, err } = await cli(['--json', 'start', `--${kebab(field)}`, value]);
  expect(code).toBe(errors.invalid.exit);
  expect(JSON.parse(err)).toMatchObject({ code: 'invalid', field });
});

test('a dry run of a redrive says what it would do', async () => {
  const { out, code } = await cli(['--json', 'dead-letters', 'redrive-all', '--queue', 'q', '--dry-run']);
  expect({ code, ...JSON.parse(out) }).toMatchObject({ code: 0, count: 0, mayReclaim: 0 });
});

test('a database or a server that is not there exits 7', async () => {
  expect(await cli(['queues', 'list'], { DATABASE_URL: 'postgres://127.0.0.1:1/none' })).toMatchObject({ code: 7 });
  expect(await cli(['queues', 'list', '--server', 'http://127.0.0.1:1'])).toMatchObject({ code: 7 });
  expect(await cli(['queues', 'list', '--server', api.service.url])).toMatchObject({ code: errors.unauthorized.exit });
  expect(await cli(['queues', 'list', '--server', api.service.url, '--key', key])).toMatchObject({ code: 0 });
});
