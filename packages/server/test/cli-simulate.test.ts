// `recoup upstreams simulate`: the shipped day end to end against facts of the recording, rules, stdin, sweeps.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EXAMPLE } from '../src/cli/simulate.ts';
import type { Simulation } from '../src/simulate/simulation.ts';
import { CliProcess, cli } from './support/cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'recoup-simulate-'));
afterAll(() => rmSync(folder, { recursive: true }));
const data = join(folder, 'data');
/** No database is named, and none is to be used. */
const env = { RECOUP_DATA_DIR: data };
const file = (name: string, text: string) => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};
const simulate = (...argv: string[]) => cli(['upstreams', 'simulate', ...argv], env);
const simulation = async (...argv: string[]): Promise<Told> => {
  const { code, out, err } = await simulate(...argv, '--json');
  expect([code, err.includes('recoup:')]).toEqual([0, false]);
  return JSON.parse(out) as Told;
};

/** As JSON has it: instants are texts. */
type Text<T> = T extends Date ? string : T extends object ? { [Name in keyof T]: Text<T[Name]> } : T;
type Told = Text<Simulation>;
interface Line {
  at: string;
  upstream: string;
  status: number | null;
  elapsedMs: number;
}

const lines = readFileSync(EXAMPLE, 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Line);
const of = (upstream: string, status?: number | null) =>
  lines.filter((line) => line.upstream === upstream && (status === undefined || line.status === status));
const NAMES = ['claude-seat', 'claude-key', 'gpt-main', 'gemini-free', 'azure-eu'];
const ms = (from: string, to: string) => Date.parse(to) - Date.parse(from);

let day: Told;
const one = (upstream: string) => day.upstreams.find((it) => it.upstream === upstream)!;
const block = (subject: string, kind: string, source: string) =>
  day.blocks.find((it) => it.subject === subject && it.kind === kind && it.source === source)!;

beforeAll(async () => {
  day = await simulation('--example');
}, 60_000);

test('every answer of the day is counted where it belongs', () => {
  expect(day).toMatchObject({ answers: lines.length, from: lines[0]!.at, to: lines.at(-1)!.at, outOfOrder: 0 });
  expect(day.upstreams.map(({ upstream }) => upstream).sort()).toEqual([...NAMES].sort());
  for (const name of NAMES) {
    const succeeded = of(name, 200).length;
    const { length } = of(name);
    expect(one(name)).toMatchObject({ answers: length, succeeded, failed: length - succeeded });
  }
  const failed = lines.filter(({ status }) => status !== 200).length;
  expect(Object.values(day.classes).reduce((sum, count) => sum + count, 0)).toBe(failed);
  expect(day.classes).toMatchObject({
    auth_revoked: of('azure-eu', 401).length,
    overloaded: of('claude-key', 529).length + of('claude-seat', 529).length,
    cdn_or_proxy: of('gpt-main', 502).length,
    request_scoped: 1,
    server_error: 1,
  });
  expect(one('gpt-main').ofTheRequest).toBe(1);
  expect(day.duplicates).toBe(day.upstreams.reduce((sum, { duplicates }) => sum + duplicates, 0));
});

test('a timeline has no gap, and its lengths are those of the figures', () => {
  for (const { timeline, outMs, partlyOutMs, halfOpenMs } of day.upstreams) {
    expect([timeline[0]!.from, timeline.at(-1)!.to]).toEqual([day.from, day.to]);
    for (const [index, span] of timeline.slice(1).entries()) {
      expect(span.from).toBe(timeline[index]!.to);
      expect(span.state).not.toBe(timeline[index]!.state);
    }
    const length = (state: string) =>
      timeline.filter((span) => span.state === state).reduce((sum, span) => sum + ms(span.from, span.to), 0);
    expect([length('out'), length('partly_out'), length('half_open')]).toEqual([outMs, partlyOutMs, halfOpenMs]);
  }
});

test('five hours that are used up: out from the first refusal to the announced reset, one block of it, the rest said nothing new', () => {
  const refused = of('claude-seat', 429);
  const reset = '2026-03-10T13:00:00.000Z';
  const found = block('upstream:claude-seat', 'quota_exhausted_upstream', 'reset_announced');
  expect(found).toMatchObject({ policy: 'snapshot', openedAt: refused[0]!.at, until: reset, closedAs: 'snapshot' });
  expect(found.outMs).toBe(ms(refused[0]!.at, reset));
  // The first success behind it says that its window is not used up any more.
  expect(found.closedAt).toBe(of('claude-seat', 200).find(({ at }) => at > reset)!.at);
  // Its Retry-After of hours is no order to wait.
  expect(one('claude-seat').implausible).toBeGreaterThanOrEqual(
    refused.filter(({ at }) => ms(at, reset) > 3_600_000).length,
  );
});

test('a quota of the day ends at midnight in California, for the model of the project', () => {
  const refused = of('gemini-free', 429);
  const found = block('quota_group:project-7', 'quota_exhausted_upstream', 'reset_announced');
  expect(found).toMatchObject({
    scope: 'model:gemini-2.5-pro',
    openedAt: refused[0]!.at,
    until: '2026-03-10T07:00:00.000Z',
    upstreams: ['gemini-free'],
    closedAs: 'success',
  });
  expect(one('gemini-free')).toMatchObject({ outMs: 0, atEnd: 'usable' });
});

test('limits of a minute, an order to wait of seconds', () => {
  expect(block('upstream:azure-eu', 'rate_limited', 'retry_after')).toMatchObject({ outMs: 7000, policy: 'auto' });
  expect(block('upstream:gpt-main', 'rate_limited', 'retry_after')).toMatchObject({
    scope: 'model:gpt-4o',
    outMs: 41_724,
  });
  expect(day.blocks.filter(({ kind }) => kind === 'rate_limited').every(({ closedAs }) => closedAs === 'success')).toBe(
    true,
  );
});

test('a revoked key stays out and needs a person; what is sent there all the same fails', () => {
  const refused = of('azure-eu', 401);
  expect(block('upstream:azure-eu', 'auth_revoked', 'operator')).toMatchObject({
    openedAt: refused[0]!.at,
    until: null,
    closedAt: null,
    outMs: ms(refused[0]!.at, day.to),
  });
  expect(one('azure-eu').atEnd).toBe('out');
  const began = ({ at, elapsedMs }: Line) => Date.parse(at) - elapsedMs;
  const late = refused.filter((line) => began(line) > Date.parse(refused[0]!.at)).length;
  expect(one('azure-eu').whileOut).toEqual({ failed: late, succeeded: 0 });
  expect(day.needsPerson).toHaveLength(1);
  expect(day.needsPerson[0]).toMatchObject({
    subject: 'upstream:azure-eu',
    kind: 'auth_revoked',
    since: refused[0]!.at,
  });
  expect(day.needsPerson[0]!.nextStep).toMatch(/key/);
});

test('an overload is of both upstreams of the provider, a page of a CDN is of the way there', () => {
  const first = lines.find(({ status }) => status === 529)!;
  expect(block('provider:anthropic', 'overloaded', 'backoff')).toMatchObject({
    openedAt: first.at,
    upstreams: ['claude-seat', 'claude-key'],
    closedAs: 'success',
  });
  expect(block('route:egress-eu', 'cdn_or_proxy', 'backoff')).toMatchObject({
    openedAt: of('gpt-main', 502)[0]!.at,
    upstreams: ['gpt-main'],
    closedAs: 'success',
  });
});

test('a second run, of stdin with its lines turned round, gives the same', async () => {
  const backwards = readFileSync(EXAMPLE, 'utf8').trim().split('\n').reverse();
  // Whose an upstream is says the line that names it first.
  const accounts = new Map(
    day.upstreams.map(({ upstream, provider, pool, quotaGroup, route }) => [
      upstream,
      { provider, pool, quotaGroup, route },
    ]),
  );
  const text = backwards.map((line) => {
    const given = JSON.parse(line) as Line;
    return JSON.stringify({ ...given, ...accounts.get(given.upstream) });
  });
  const child = new CliProcess(['upstreams', 'simulate', '-', '--json'], env);
  child.child.stdin!.end(text.join('\n'));
  expect(await child.ended).toBe(0);
  const again = JSON.parse(child.out) as Told;
  expect(child.err).toMatch(/\d+ lines stood behind a later one/);
  const sorted = (told: Told) => ({
    ...told,
    outOfOrder: 0,
    upstreams: [...told.upstreams].sort((a, b) => (a.upstream < b.upstream ? -1 : 1)),
    blocks: told.blocks.map((it) => ({ ...it, upstreams: [...it.upstreams].sort() })),
  });
  expect(again.outOfOrder).toBe(lines.length - 1);
  expect(sorted(again)).toEqual(sorted(day));
  expect(existsSync(data)).toBe(false);
});

test('with rules of a file it comes out otherwise, and says by which', async () => {
  const rules = file(
    'rules.yaml',
    'rules:\n  - name: overload-is-its-own\n    provider: anthropic\n    status: 529\n    class: server_error\n',
  );
  const other = await simulation(EXAMPLE, '--rules', rules);
  const overloads = lines.filter(({ status }) => status === 529).length;
  expect(other.rules).toEqual({ 'overload-is-its-own': overloads });
  expect(day.rules).toEqual({});
  expect(other.blocks.some(({ subject }) => subject === 'provider:anthropic')).toBe(false);
  const opened = other.blocks
    .filter(({ kind, openedAt }) => kind === 'server_error' && openedAt < '2026-03-10T16')
    .map(({ subject }) => subject);
  expect(new Set(opened)).toEqual(new Set(['upstream:claude-seat', 'upstream:claude-key']));
});

test('for people: the lines of the timeline, every block, the summary, what to do', async () => {
  const { code, out } = await simulate('--example');
  expect(code).toBe(0);
  expect(out).toMatch(/^332 answers of 5 upstreams, 2026-03-10T00:05:37Z to 2026-03-10T23:43:48Z/);
  for (const name of NAMES) expect(out).toMatch(new RegExp(`^${name} +[█▓░·]{60,}$`, 'm'));
  expect(out).toMatch(/^azure-eu .*█{15,}$/m);
  expect(out).toContain('09:41:20Z to 13:00:00Z  out, 3 h 18 min');
  const rows = out.split('\n').filter((line) => /^\d+ +(upstream|provider|route|quota group) /.test(line));
  expect(rows).toHaveLength(day.blocks.length);
  expect(out).toMatch(/^Sent while out: \d+ requests/m);
  expect(out).toMatch(/upstream azure-eu: auth_revoked, for 6 h 38 min\n +said: .*\n +do: +Check that key/);
});

test('the page about upstreams shows what it prints', async () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/upstreams.md'), 'utf8');
  const shown = page.split('recoup upstreams simulate --example\n```\n\n```\n')[1]!.split('\n```')[0]!.split('\n');
  const printed = new Set((await simulate('--example')).out.split('\n'));
  expect(shown.length).toBeGreaterThan(20);
  expect(shown.filter((line) => line !== '…' && !printed.has(line))).toEqual([]);
});

const failure = (at: string, more: object = {}) =>
  JSON.stringify({ at, upstream: 'a', provider: 'openai', status: 500, ...more });

test('a block that nobody tried is ended by the sweep a day after its time, to the instant', async () => {
  const told = await simulation(
    file('gap.jsonl', `${failure('2026-01-01T00:00:00Z')}\n${failure('2026-01-09T00:00:00Z')}\n`),
  );
  expect(told.blocks.map(({ closedAs, closedAt }) => [closedAs, closedAt])).toEqual([
    ['time', '2026-01-02T00:00:30.001Z'],
    [null, null],
  ]);
  expect(told.upstreams[0]).toMatchObject({ outMs: 30_000, halfOpenMs: 86_400_001, atEnd: 'out' });
});

test('one answer has no length, and is drawn all the same', async () => {
  const { code, out } = await simulate(file('one.jsonl', failure('2026-01-01T00:00:00Z')));
  expect(code).toBe(0);
  expect(out).toMatch(/^a +·+█$/m);
  expect(out).toMatch(/Nothing needs a person at the end\.$/m);
});
