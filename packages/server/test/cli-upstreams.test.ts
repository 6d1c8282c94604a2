// What the command line shows of upstreams, blocks and pools: for a person who was woken up.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { span, whenIs } from '../src/cli/views/words.ts';
import { Api, newId } from './support/api.ts';
import { cli } from './support/cli.ts';

let api: Api;
beforeAll(async () => {
  api = await Api.start();
});
afterAll(() => api.close());

const run = async (...argv: string[]): Promise<string> => {
  const { code, out, err } = await cli(argv, { RECOUP_SERVER: api.service.url });
  expect({ code, err }, argv.join(' ')).toEqual({ code: 0, err: '' });
  return out.trimEnd();
};
/** What changes from run to run taken out. */
const still = (text: string) =>
  text
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, '<at>')
    .replaceAll(/in \d+ (s|min|h|d)( \d+ (s|min|h))?/g, 'in <span>');
const columns = (text: string) => text.split('\n').map((line) => line.trim().split(/ {2,}/));

async function pool(count: number, ...more: string[]): Promise<[name: string, ...ids: string[]]> {
  const name = newId('pool');
  const ids = Array.from({ length: count }, (_, i) => `${name}-${i}`);
  for (const id of ids) await run('upstreams', 'register', id, '--pool', name, '--provider', `at-${id}`, ...more);
  return [name, ...ids];
}
const report = (upstream: string, block: object) =>
  run('upstreams', 'report', upstream, '--success', 'false', '--block', JSON.stringify(block));

test('explain says every reason, until when, and what to do', async () => {
  const [name, one] = await pool(1, '--max-concurrency', '1');
  expect(await run('upstreams', 'explain', one!)).toBe(
    `${one} (pool ${name}, provider at-${one}) is usable now. Slots out: 0 of 1.`,
  );
  await report(one!, {
    kind: 'rate_limited',
    policy: 'auto',
    source: 'retry_after',
    forMs: 1_800_000,
    reason: 'slow\u001b[2J',
  });
  const block = JSON.parse(await run('--json', 'blocks', 'list', '--kind', 'rate_limited')).blocks[0].block;
  expect(still(await run('upstreams', 'explain', one!))).toBe(
    [
      `${one} (pool ${name}, provider at-${one}) is out.`,
      'Expected back <at>, in <span> (an estimate).',
      '',
      `  1. upstream ${one}: rate_limited, until <at>, in <span>`,
      `     block ${block}, auto, known by retry_after`,
      '     said: slow\ufffd[2J',
    ].join('\n'),
  );
  await run('upstreams', 'block', one!, '--reason', 'unpaid', '--actor', 'ann');
  await run('upstreams', 'change', one!, '--status', 'draining');
  const all = await run('upstreams', 'explain', one!);
  expect(all).toContain('Not by time: a person has to act.');
  expect(all).toContain('  1. It is draining: nothing new, what is under way goes on.\n     do:   switch it on');
  expect(all).toContain(`  2. upstream ${one}: operator, a person has to act`);
  expect(all).toContain('     said: unpaid');
  expect(all).toContain('  3. ');
});

test('a trial that is out, and slots, are told', async () => {
  const [name, one] = await pool(1, '--max-concurrency', '1');
  await report(one!, { kind: 'overloaded', policy: 'auto', scope: 'model:big' });
  await api.db.query(`update recoup.blocks set until = recoup.clock() where subject_id = $1`, [one]);
  expect(await run('upstreams', 'select', name, '--model', 'big')).toMatch(/^outcome +selected$/m);
  const text = await run('upstreams', 'explain', one!, '--model', 'big');
  expect(text).toMatch(new RegExp(`1\\. upstream ${one} for model big: overloaded, over since .* ago`));
  expect(text).toContain('as many trials as it lets in are out');
  expect(text).toContain('2. All of its slots are out.');
  expect(columns(await run('pools', 'explain', name, '--model', 'big'))[1]!.at(-1)).toBe(
    'overloaded, being tried; no slot free',
  );
});

test('lists are tables, and say how to go on', async () => {
  const [name, one, two] = await pool(2, '--priority', '3');
  await run('upstreams', 'block', two!, '--reason', 'unpaid');
  const [head, first, second] = columns(await run('upstreams', 'list', '--pool', name));
  expect(head).toEqual(['upstream', 'pool', 'provider', 'usable', 'slots', 'back', 'why']);
  expect(first).toEqual([one, name, `at-${one}`, 'yes', '0']);
  expect(second).toEqual([two, name, `at-${two}`, 'no', '0', 'a person has to act', 'operator, a person has to act']);
  const page = await run('upstreams', 'list', '--pool', name, '--limit', '1');
  expect(page.split('\n').slice(-2)).toEqual(['', `more: --cursor ${one}`]);
  expect(await run('upstreams', 'list', '--pool', 'nobody')).toBe('(none)');
  const pools = columns(await run('pools'));
  expect(pools[0]!.slice(0, 2)).toEqual(['pool', 'usable']);
  expect(pools.find(([pool]) => pool === name)).toEqual([name, '1 of 2', '0']);
  expect(await run('pools', 'list')).toContain(name);
  expect(await run('pools', 'get', name)).toBe(`${name} is usable now.`);
  await run('upstreams', 'change', one!, '--status', 'off');
  expect(await run('pools', 'get', name)).toBe(`${name} is out: a person has to act.`);
});

test('history reads as a log: who, what, why, newest first', async () => {
  const [, one] = await pool(1);
  await report(one!, { kind: 'rate_limited', policy: 'auto', source: 'retry_after', forMs: 60_000, reason: '429' });
  await report(one!, { kind: 'rate_limited', policy: 'auto', source: 'retry_after', forMs: 120_000 });
  await api.db.query(`update recoup.blocks set until = recoup.clock() where subject_id = $1`, [one]);
  await run('upstreams', 'report', one!, '--success', 'true');
  const { block } = JSON.parse(
    await run('--json', 'blocks', 'list', '--kind', 'rate_limited', '--limit', '1000'),
  ).blocks.at(-1);
  expect(
    columns(await run('blocks', 'list', '--kind', 'rate_limited'))
      .at(-1)!
      .slice(-1),
  ).toEqual(['429']);
  await run('upstreams', 'free', String(block), '--reason', 'enough', '--actor', 'bob');
  const [head, ...rows] = columns(still(await run('upstreams', 'history', one!)));
  expect(head).toEqual(['at', 'ago', 'block', 'on', 'what', 'by', 'said']);
  expect(rows.map(([, , number, on, what, ...rest]) => [number, on, what, ...rest])).toEqual([
    [String(block), `upstream ${one}`, 'closed (operator)', 'bob', 'enough'],
    [String(block), `upstream ${one}`, 'a trial succeeded, it lets in more'],
    [String(block), `upstream ${one}`, 'longer: until <at>'],
    [String(block), `upstream ${one}`, 'opened: rate_limited, auto until <at>', '429'],
    [`upstream ${one}`, expect.stringMatching(/^registered: .*status on/), undefined],
  ]);
});

test('a slot limit and a quota group are taken back to none, and the history says so', async () => {
  const [, one] = await pool(1, '--max-concurrency', '1', '--quota-group', 'g');
  await run('upstreams', 'change', one!, '--max-concurrency', 'null');
  expect(await run('upstreams', 'history', one!)).toMatch(/changed: .*quotaGroup g, .*maxConcurrency none/);
  await run('upstreams', 'change', one!, '--quota-group', 'null', '--weight', '2');
  expect(await run('upstreams', 'history', one!)).toMatch(
    /changed: .*weight 2, .*quotaGroup none, .*maxConcurrency none/,
  );
  expect(await run('upstreams', 'explain', one!)).toMatch(/Slots out: 0\.$/);
  expect(await run('upstreams', 'change', one!, '--max-concurrency', 'null')).toContain('duplicate');
});

test('limits are read at a glance, and explain says which one is used up', async () => {
  const [name, one] = await pool(1);
  const kind = ['--kind', 'daily', '--zone', 'UTC', '--start-hour', '9'];
  await run('limits', 'set', `${name}-day`, '--upstream', one!, '--unit', 'tokens', '--amount', '8', ...kind);
  await run('upstreams', 'report', one!, '--success', 'true', '--key-value', 'k', '--use', '{"tokens":8}');
  const [head, row] = columns(still(await run('limits', 'list', '--upstream', one!)));
  expect(head).toEqual(['limit', 'on', 'used', '%', 'window', 'next']);
  const window = 'daily at 09:00 UTC';
  expect(row).toEqual([
    `${name}-day`,
    `upstream ${one}`,
    '8 of 8 tokens',
    '100 %',
    window,
    'used up until <at>, in <span>',
  ]);
  expect(still(await run('upstreams', 'explain', one!))).toContain(
    `  1. upstream ${one}: limit ${name}-day is used up, 8 of 8 tokens, until <at>, in <span>`,
  );
  await run('limits', 'reset', `${name}-day`, '--actor', 'ann', '--reason', 'paid');
  const [, newest] = columns(still(await run('limits', 'windows', `${name}-day`)));
  expect(newest).toEqual(['<at>', '<at>, in <span>', '0', 'reset', 'ann', 'paid']);
});

test('the inbox says what is out, what it costs, whose it is and how to end it', async () => {
  const [name, one] = await pool(1);
  const { block } = JSON.parse(await run('--json', 'upstreams', 'block', one!, '--reason', 'unpaid'));
  await run('inbox', 'take', `block:${block}`, '--actor', 'ann', '--note', 'asked');
  const text = await run('inbox', 'list', '--pool', name);
  expect(still(text).replace(/for .*$/m, 'for <span>')).toBe(
    [
      `block:${block}  upstream ${one}: operator, for <span>`,
      '  said:   unpaid',
      `  costs:  pool ${name}: 0 of 1 usable`,
      '  owner:  ann',
      '  note:   <at> ann took it: asked',
      `  do:     recoup upstreams free ${block}`,
    ].join('\n'),
  );
  expect(await run('inbox')).toContain(`block:${block}`);
  expect(await run('inbox', 'list', '--pool', 'nobody')).toBe('Nothing needs a person.');
});

test.each([
  [0, '0 s'],
  [59_400, '59 s'],
  [60_000, '1 min'],
  [3_725_000, '1 h 2 min'],
  [90_000_000, '1 d 1 h'],
  [86_400_000 + 5_000, '1 d'],
  [-5000, '5 s'],
])('%d ms is said as %s', (ms, said) => {
  expect(span(ms)).toBe(said);
});

test('an instant is said with how far away it is', () => {
  const now = Date.parse('2026-01-31T12:00:00Z');
  expect(whenIs('2026-01-31T12:04:00.123Z', now)).toBe('2026-01-31T12:04:00Z, in 4 min');
  expect(whenIs(new Date(now - 1000), now)).toBe('2026-01-31T11:59:59Z, 1 s ago');
});
