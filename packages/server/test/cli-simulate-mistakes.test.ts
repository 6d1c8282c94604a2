// `recoup upstreams simulate`: what is not right is refused whole, by line and field; Ctrl-C leaves nothing.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { until } from '../../recoup/test/support/waiting.ts';
import { EXAMPLE } from '../src/cli/simulate.ts';
import { CliProcess, cli } from './support/cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'recoup-simulate-'));
afterAll(() => rmSync(folder, { recursive: true }));
const env = { RECOUP_DATA_DIR: join(folder, 'data') };
const file = (name: string, text: string | Buffer) => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
const simulate = (...argv: string[]) => cli(['upstreams', 'simulate', ...argv], env);
const failure = (at: string, more: object = {}) =>
  JSON.stringify({ at, upstream: 'a', provider: 'openai', status: 500, ...more });

const fine = failure('2026-01-01T00:00:00Z');
const bad = (more: object) => `${fine}\n${failure('2026-01-01T00:01:00Z', more)}`;

test.each([
  ['empty', '\n\n', 'file: holds no answers'],
  ['not-json', `${fine}\n{"at"`, 'line 2: is not JSON'],
  ['list', '[1]', 'line 1: must be an object with at, upstream'],
  ['unknown', bad({ state: 1 }), 'line 2, state: is not known; allowed are at, upstream'],
  ['no-at', '{"upstream":"a","provider":"openai","status":200}', 'line 1, at: must be an instant such as'],
  ['date-alone', failure('2026-01-01'), 'line 1, at: must be an instant such as'],
  ['thirtieth', failure('2026-02-30T00:00:00'), 'line 1, at: must be an instant such as'],
  ['old', failure('1066-10-14T00:00:00Z'), 'line 1, at: must be an instant of the years 1970 to 9990'],
  ['no-upstream', bad({ upstream: null }), 'line 2, upstream: is required'],
  ['upstream', bad({ upstream: '' }), 'line 2, upstream: must be 1 to 200 printable characters'],
  [
    'no-provider',
    bad({ upstream: 'b', provider: null }),
    'line 2, provider: is required where an upstream is first named: b',
  ],
  [
    'other-provider',
    bad({ provider: 'gemini' }),
    'line 2, provider: must be what the upstream began with, "openai" on line 1',
  ],
  ['other-pool', bad({ pool: 'p' }), 'line 2, pool: must be what the upstream began with, "recorded" on line 1'],
  ['other-route', bad({ route: 'r' }), 'line 2, route: must be what the upstream began with, none on line 1'],
  ['status', bad({ status: '500' }), 'line 2, status: must be an integer from 100 to 599'],
  ['no-status', bad({ status: null }), 'line 2, status: is required where there is neither body nor error'],
  ['headers', bad({ headers: ['a'] }), 'line 2, headers: must be an object of texts'],
  ['header', bad({ headers: { 'retry-after': 5 } }), 'line 2, headers.retry-after: must be a text or a list of texts'],
  ['model', bad({ model: 5 }), 'line 2, model: must be'],
  ['error', bad({ error: '' }), 'line 2, error: must be the code of a network failure'],
  ['elapsed', bad({ elapsedMs: 1.5 }), 'line 2, elapsedMs: must be an integer from 0'],
  ['not-utf8', Buffer.from([0x7b, 0xff]), 'is not UTF-8'],
])('refused whole, before anything runs: %s', async (name, text, message) => {
  const { code, out, err } = await simulate(file(`bad-${name}.jsonl`, text));
  expect([code, out]).toEqual([2, '']);
  expect(err).toContain(message);
  expect(err).not.toContain('PostgreSQL');
});

test('options that do not go together, and rules that are wrong', async () => {
  const refused = async (...argv: string[]) => {
    const { code, out, err } = await simulate(...argv);
    expect([code, out]).toEqual([2, '']);
    return err;
  };
  expect(await refused()).toContain('file: is required');
  expect(await refused('--example', EXAMPLE)).toContain('--example: is given instead of a file');
  expect(await refused(join(folder, 'nowhere'))).toContain('(ENOENT)');
  expect(await refused(EXAMPLE, '--rules', file('wrong.yaml', 'rules: 5'))).toContain('rules');
  expect(await refused(EXAMPLE, '--database-url', 'postgres://localhost/x')).toContain('it takes no settings');
});

test('Ctrl-C ends it where it is, and nothing stays', async () => {
  const many = Array.from({ length: 20_000 }, (_, index) =>
    failure(new Date(1_767_225_600_000 + index * 1000).toISOString()),
  );
  const child = new CliProcess(['upstreams', 'simulate', file('many.jsonl', many.join('\n'))], env);
  await child.says(/\d+ of 20,000 answers, at/);
  const place = /database in (\S+)\/data/.exec(child.err)![1]!;
  expect(existsSync(place)).toBe(true);
  child.child.kill('SIGINT');
  expect(await child.ended).toBe(130);
  expect(child.err).toMatch(/Stopped after [\d,]+ of 20,000 answers: nothing of it stays\./);
  expect(child.out).toBe('');
  await until(() => !existsSync(place));
});

test('Ctrl-C while it waits for stdin', async () => {
  // What is no setting is told when the command begins: it listens to signals by then.
  const child = new CliProcess(['upstreams', 'simulate', '-'], { ...env, RECOUP_NOTHING: '1' });
  await child.says(/RECOUP_NOTHING/);
  child.child.kill('SIGINT');
  expect(await child.ended).toBe(130);
});
