// The command line: every operation once, on a database and through a server; exit codes, maintenance.
import { errors } from 'recoup';
import Value from 'typebox/value';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { operations } from '../src/operations/operations.ts';
import { Api, type Input, type Json, operationOf } from './support/api.ts';
import { type Ran, cli as runCli } from './support/cli.ts';
import { j, story } from './support/story.ts';

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
