// The demo as a program: what it prints, what it refuses, and that nothing of it outlives it. Runs what is in dist.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { type Judgement, judge } from '../src/demo/judge.ts';
import { runs, until } from './embedded/processes.ts';

const program = fileURLToPath(new URL('../dist/demo/main.js', import.meta.url));
const bundled = fileURLToPath(new URL('../data/azure-llm-inference-2023-code.csv', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'recoup-test-demo-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

class Demo {
  readonly process: ChildProcess;
  out = '';
  err = '';
  readonly #exit: Promise<unknown[]>;

  constructor(...args: string[]) {
    this.process = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    this.process.stdout!.setEncoding('utf8').on('data', (text: string) => {
      this.out += text;
    });
    this.process.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.err += text;
    });
    this.#exit = once(this.process, 'close');
  }

  async code(): Promise<number | null> {
    await this.#exit;
    return this.process.exitCode;
  }

  /** Its processes, PostgreSQL and the watchdog among them. */
  children(): number[] {
    const all = execFileSync('ps', ['-eo', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n');
    const pairs = all.map((line) => line.trim().split(/\s+/).map(Number));
    return pairs.filter(([, parent]) => parent === this.process.pid).map(([pid]) => pid!);
  }

  /** Where its database lies. */
  folder(): string {
    return /database in (\S+?)\/data/.exec(this.out)![1]!;
  }

  /** Waits until the workers are at it. */
  async replaying(): Promise<void> {
    await until(() => /Recoup {3} +\d+\/\d/.test(this.out));
  }
}

function trace(...lines: string[]): string {
  const path = join(folder, `${Math.random()}.csv`);
  writeFileSync(path, lines.join('\r\n'));
  return path;
}

test('books are judged by what was done, whoever wrote them', () => {
  const jobs = ['a', 'b'].map((id) => ({ id, wallet: 'w', price: 10, ms: 1, atMs: 0 }));
  // Of two jobs only the first was done, twice.
  const truth = new Map([
    ['a', 2],
    ['b', 0],
  ]);
  const right: Judgement = { creditsWrong: 0, lost: 0, free: 0, paidTwice: 0, paidForNothing: 0 };
  const cases: [balance: number, taken: [a: number, b: number], ended: string[], wrong: Partial<Judgement>][] = [
    [90, [10, 0], ['a', 'b'], {}],
    [100, [0, 0], ['a', 'b'], { creditsWrong: 10, free: 1 }],
    [80, [20, 0], ['a', 'b'], { creditsWrong: 10, paidTwice: 1 }],
    [80, [10, 10], ['a', 'b'], { creditsWrong: 10, paidForNothing: 1 }],
    [80, [10, 10], ['a'], { creditsWrong: 10, lost: 1 }],
    [103, [10, 0], ['a', 'b'], { creditsWrong: 13 }],
  ];
  for (const [balance, [a, b], ended, wrong] of cases) {
    const taken = new Map([
      ['a', a],
      ['b', b],
    ]);
    const books = { balances: new Map([['w', balance]]), taken, ended: new Set(ended) };
    expect(judge(jobs, new Map([['w', 100]]), books, truth)).toEqual({ ...right, ...wrong });
  }
});

test('300 requests: one JSON object, and it adds up', { timeout: 240_000 }, async () => {
  const demo = new Demo('--headless', '--json', '--jobs', '300', '--seed', '5');
  expect(await demo.code(), demo.err).toBe(0);
  expect(demo.out.trim().split('\n')).toHaveLength(1);
  const said = JSON.parse(demo.out);
  expect(said).toMatchObject({ jobs: 300, verify: 'ok', credits_wrong: 0 });
  expect(said.succeeded + said.dead).toBe(300);
  // What was given back and stays given back is exactly what is dead.
  expect(said.refunded).toBe(said.reclaimed + said.dead);
  expect(said.reclaimed).toBeGreaterThan(0);
  expect(said.duplicates_ignored).toBeGreaterThan(0);
  expect(said.sum_of_entries).toBe(said.sum_of_balances);
  expect(said.naive_credits_wrong).toBeGreaterThan(0);
  // Every account did its part, and what its provider said of one is what kept it out.
  const reports: { upstream: string; requests: number; refused: number; outages: { kind: string }[] }[] = said.accounts;
  expect(reports).toHaveLength(5);
  for (const { requests, refused, outages } of reports) {
    expect(requests).toBeGreaterThan(0);
    if (refused > 0) expect(outages).not.toEqual([]);
  }
  const revoked = reports.find(({ upstream }) => upstream === 'anthropic-1')!;
  expect(revoked.outages.map(({ kind }) => kind)).toContain('auth_revoked');
  expect(demo.err.trim().split('\n').at(-1)).toMatch(/^demo ok: 300 jobs, /);
});

test('another trace: plain lines, the story first, the verdict last, and nothing is left', {
  timeout: 240_000,
}, async () => {
  const lines = readFileSync(bundled, 'utf8').split('\r\n').slice(0, 41);
  const demo = new Demo('--headless', '--speed', '1000', '--trace', trace(...lines));
  await demo.replaying();
  const children = demo.children();
  expect(children.length).toBeGreaterThanOrEqual(4);
  expect(await demo.code(), demo.err).toBe(0);
  expect(demo.err).toBe('');
  const story = [...demo.out.matchAll(/ s {3}(\w+) +(\S+) +(\d+) {3}/g)].map(([, ...cells]) => cells.join(' '));
  const rest = ['charge −40 60', 'refund +40 100', 'reclaim −40 60', 'duplicate – 60'];
  expect(story).toEqual(['grant +100 100', ...rest]);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: no colours where nobody sees them
  expect(demo.out).not.toMatch(/\x1b/);
  expect(demo.out.trim().split('\n').at(-1)).toMatch(/^demo ok: 40 jobs, .* credits wrong 0 /);
  expect(children.filter(runs)).toEqual([]);
  expect(existsSync(demo.folder())).toBe(false);
});

test('told to stay it serves what it filled, with requests that work as they are printed, until Ctrl-C', {
  timeout: 240_000,
}, async () => {
  // Taken, so that it has to find another port.
  const blocker = createServer().listen(0, '127.0.0.1');
  await once(blocker, 'listening');
  const { port } = blocker.address() as AddressInfo;
  const demo = new Demo('--serve', '--speed', '1000', '--jobs', '60', '--port', `${port}`);
  await until(() => /Everything goes with Ctrl-C/.test(demo.out) || demo.process.exitCode !== null);
  expect(demo.out, demo.err).toMatch(/demo ok: 60 jobs/);
  expect(demo.out).toContain(`port ${port} is taken`);
  const children = demo.children();
  const commands = [...demo.out.matchAll(/^ {3}(curl .*)$/gm)].map(([, command]) => command!);
  expect(commands).toHaveLength(4);
  const answers = commands.map((command) => execFileSync('sh', ['-c', `${command} --silent`], { encoding: 'utf8' }));
  const entries = answers[0]!
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(entries.at(-1)).toMatchObject({ seq: entries.length, balance: expect.any(Number) });
  const types = JSON.parse(answers[1]!).entries.map(({ type }: { type: string }) => type);
  expect(types).toEqual(['charge', 'refund', 'reclaim']);
  const happened = JSON.parse(answers[2]!).events.map(({ type }: { type: string }) => type);
  expect(happened).toEqual(expect.arrayContaining(['registered', 'opened']));
  expect(JSON.parse(answers[3]!)).toMatchObject({ outcome: 'charged', job: { id: 'my-first', state: 'queued' } });
  demo.process.kill('SIGINT');
  expect(await demo.code(), demo.err).toBe(0);
  expect(demo.err).toBe('');
  expect(demo.out.trim().split('\n').at(-1)).toMatch(/^Stopped; processes, database and folder are gone/);
  expect(children.filter(runs)).toEqual([]);
  expect(existsSync(demo.folder())).toBe(false);
  blocker.close();
});

test('recoup demo is the same with the same options', { timeout: 240_000 }, async () => {
  const main = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
  const run = (...args: string[]) =>
    execFileSync(process.execPath, [main, 'demo', ...args], { encoding: 'utf8', stdio: 'pipe' });
  expect(JSON.parse(run('--json', '--jobs', '40', '--speed', '1000'))).toMatchObject({ jobs: 40, verify: 'ok' });
  expect(() => run('--jobs', '0')).toThrow(/--jobs: must be an integer/);
});

test('Ctrl-C ends its processes, its database and its folder', { timeout: 120_000 }, async () => {
  const demo = new Demo('--headless');
  await demo.replaying();
  const children = demo.children();
  // The upstream, the workers, PostgreSQL, its watchdog.
  expect(children.length).toBeGreaterThanOrEqual(5);
  demo.process.kill('SIGINT');
  expect(await demo.code()).toBe(130);
  expect(children.filter(runs)).toEqual([]);
  expect(existsSync(demo.folder())).toBe(false);
  expect(demo.out).not.toMatch(/demo (ok|failed)/);
  expect(demo.err).toBe('');
});

test('killed itself it leaves nothing running either', { timeout: 120_000 }, async () => {
  const demo = new Demo('--headless');
  await demo.replaying();
  const children = demo.children();
  demo.process.kill('SIGKILL');
  await until(() => !children.some(runs) && !existsSync(demo.folder()));
});

test('wrong options are refused before anything starts', async () => {
  const wrong: [args: string[], says: RegExp][] = [
    [['--fast'], /Unknown option '--fast'/],
    [['now'], /Unexpected argument 'now'/],
    [['--jobs'], /--jobs/],
    [['--jobs', '0'], /--jobs: must be an integer from 1 to \d+; got "0"/],
    [['--jobs', '1.5'], /--jobs: must be an integer/],
    [['--jobs', '9000'], /--jobs: the trace has 8819 requests; got 9000/],
    [['--seed', 'x'], /--seed: must be an integer from 0 to 4294967295; got "x"/],
    [['--serve'], /--serve: goes neither with --headless nor with --json/],
    [['--speed', '0'], /--speed: must be a number/],
    [['--port', '99999'], /--port: must be an integer from 0 to 65535; got "99999"/],
    [['--trace', join(folder, 'none.csv')], /none\.csv cannot be read \(ENOENT\)/],
  ];
  for (const [args, says] of wrong) {
    const demo = new Demo('--json', ...args);
    expect(await demo.code(), args.join(' ')).toBe(2);
    expect(demo.err).toMatch(says);
    expect(demo.out).toBe('');
  }
});

test('a wrong trace is refused by line and rule', async () => {
  const columns = 'TIMESTAMP,ContextTokens,GeneratedTokens';
  const right = '2023-11-16 18:17:03.9799600,4808,10';
  const wrong: [lines: string[], says: RegExp][] = [
    [[''], /line 1: must name the columns: TIMESTAMP,ContextTokens,GeneratedTokens; got ""/],
    [[right], /line 1: must name the columns/],
    [[columns, ''], /line 2: there must be at least one request/],
    [[columns, right, '2023-11-16 18:17:04,1'], /line 3: must have 3 fields; got "2023-11-16 18:17:04,1"/],
    [[columns, right, '2023-11-16 18:17:03,1,1'], /line 3: TIMESTAMP must not be earlier than that of the line before/],
    [[columns, '2023-02-30 18:17:03,1,1'], /line 2: TIMESTAMP must be an instant like/],
    [
      [columns, right, right, right.replace('10', '-1')],
      /line 4: GeneratedTokens must be an integer from 0 to \d+; got "-1"/,
    ],
    [[columns, right.replace('4808', '1e3')], /line 2: ContextTokens must be an integer from 0 to \d+; got "1e3"/],
  ];
  for (const [lines, says] of wrong) {
    const demo = new Demo('--headless', '--trace', trace(...lines));
    expect(await demo.code(), lines.join('|')).toBe(2);
    expect(demo.err).toMatch(says);
    expect(demo.out).toBe('');
  }
});

test('--help says what there is', async () => {
  const demo = new Demo('--help');
  expect(await demo.code()).toBe(0);
  for (const option of ['--jobs', '--seed', '--speed', '--trace', '--serve', '--headless', '--json']) {
    expect(demo.out).toContain(option);
  }
});
