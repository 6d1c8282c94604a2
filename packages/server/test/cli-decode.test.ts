// `recoup decode`: one answer, several, stdin, rules; what is wrong is told by line and field; no database is started.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { CliProcess, cli } from './support/cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'recoup-decode-'));
afterAll(() => rmSync(folder, { recursive: true }));
const data = join(folder, 'data');
/** No database is named: one would be started here. */
const env = { RECOUP_DATA_DIR: data };
const file = (name: string, text: string | Buffer) => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
const decode = (...argv: string[]) => cli(['decode', ...argv], env);

const limited = {
  provider: 'openai',
  status: 429,
  headers: { 'Retry-After': '30' },
  body: { error: { code: 'rate_limit_exceeded', message: 'Slow down, please.' } },
  receivedAt: '2026-03-10T12:00:00Z',
};
const weekly = {
  provider: 'codex',
  status: 200,
  headers: { 'x-codex-primary-used-percent': '61', 'x-codex-primary-window-minutes': '10080' },
  receivedAt: '2026-03-10T12:00:00Z',
};

test('one answer as fields, with its snapshots and what was dropped', async () => {
  const { code, out } = await decode(file('one.json', JSON.stringify(limited, null, 2)));
  expect(code).toBe(0);
  expect(out).toMatch(/^class +rate_limited$/m);
  expect(out).toMatch(/^until +2026-03-10T12:00:30\.000Z$/m);
  expect(out).toMatch(/^message +Slow down, please\.$/m);
  const success = await decode(file('weekly.json', JSON.stringify(weekly)));
  expect(success.out).toMatch(/^class +success$/m);
  expect(success.out).toMatch(/^primary +weekly +61 % +false +all$/m);
  expect(existsSync(data)).toBe(false);
});

test('several as a table, or as JSON lines', async () => {
  const path = file('many.jsonl', `${JSON.stringify(limited)}\n\n${JSON.stringify(weekly)}\n`);
  const { out } = await decode(path);
  expect(out.trim().split('\n')).toHaveLength(3);
  const lines = (await decode(path, '--json')).out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.map((facts) => facts.class)).toEqual(['rate_limited', null]);
  expect(lines[0]).toMatchObject({ until: '2026-03-10T12:00:30.000Z', source: 'retry_after', dropped: [] });
  expect(
    (await decode(file('list.json', JSON.stringify([limited, weekly])), '--json')).out.trim().split('\n'),
  ).toHaveLength(2);
  expect((await decode(file('none.jsonl', '\n'))).out.trim()).toBe('(none)');
});

test('rules of a file come first, the provider may be an option, the cap may be another', async () => {
  const { provider: _, ...anybody } = limited;
  const path = file('anybody.json', JSON.stringify({ ...anybody, headers: { 'retry-after': '7200' } }));
  const rules = file(
    'rules.yaml',
    'rules:\n  - name: slow\n    message: {contains: slow down}\n    class: overloaded\n',
  );
  const { out } = await decode(
    path,
    '--provider',
    'openai',
    '--rules',
    rules,
    '--max-retry-after-ms',
    '7200000',
    '--json',
  );
  expect(JSON.parse(out)).toMatchObject({ class: 'overloaded', rule: 'slow', until: '2026-03-10T14:00:00.000Z' });
});

test('stdin, as a process of its own', async () => {
  const child = new CliProcess(['decode', '-', '--json'], env);
  child.child.stdin!.end(`${JSON.stringify(limited)}\n`);
  expect(await child.ended).toBe(0);
  expect(JSON.parse(child.out)).toMatchObject({ class: 'rate_limited' });
  expect(existsSync(data)).toBe(false);
});

test.each([
  ['not-json', '{"provider"', 'line 1: is not JSON'],
  ['line-2', `${JSON.stringify(limited)}\nx`, 'line 2: is not JSON'],
  ['no-object', '5', 'line 1: must be an object with provider, status'],
  ['unknown-field', '{"provider":"xai","state":1}', 'line 1, state: is not known; allowed are provider, status'],
  ['no-provider', '{"status":429}', 'line 1, provider: must be one of openai, codex'],
  ['status', '{"provider":"xai","status":"429"}', 'line 1, status: must be an integer from 100 to 599'],
  ['no-status', '{"provider":"xai","status":9999}', 'line 1, status: must be an integer from 100 to 599'],
  ['half-status', '{"provider":"xai","status":200.5}', 'line 1, status: must be an integer from 100 to 599'],
  ['headers', '{"provider":"xai","headers":"a: b"}', 'line 1, headers: must be an object of texts'],
  ['model', '{"provider":"xai","model":5}', 'line 1, model: must be a text'],
  ['instant', '{"provider":"xai","receivedAt":"yesterday"}', 'line 1, receivedAt: must be an instant such as'],
  ['instant-number', '{"provider":"xai","receivedAt":5}', 'line 1, receivedAt: must be an instant such as'],
  ['not-utf8', Buffer.from([0x7b, 0xff]), 'is not UTF-8'],
])('refused: %s', async (name, text, message) => {
  const { code, out, err } = await decode(file(name, text));
  expect([code, out]).toEqual([2, '']);
  expect(err).toContain(message);
});

test('a file that is not there, and rules that are wrong', async () => {
  const path = file('fine.json', JSON.stringify(limited));
  const missing = await decode(join(folder, 'nowhere'));
  expect([missing.code, missing.err]).toEqual([2, expect.stringMatching(/file: cannot be read: .*nowhere \(ENOENT\)/)]);
  const wrong = await decode(
    path,
    '--rules',
    file('wrong.yaml', 'rules:\n  - name: a\n    status: 429\n    class: bad\n'),
  );
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('rules[0].class: must be one of rate_limited')]);
  const broken = await decode(path, '--rules', file('broken.yaml', 'rules: [a'));
  expect([broken.code, broken.err]).toEqual([2, expect.stringContaining('--rules: is neither YAML nor JSON')]);
  const cap = await decode(path, '--max-retry-after-ms', '0');
  expect([cap.code, cap.err]).toEqual([2, expect.stringContaining('--max-retry-after-ms: must be an integer from 1')]);
});
