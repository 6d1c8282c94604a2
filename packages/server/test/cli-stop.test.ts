// Commands that work in batches when SIGTERM or Ctrl-C comes: the batch at work ends, and it is said how far they came.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { run } from '../src/cli/program.ts';
import { Stop } from '../src/cli/stop.ts';
import { Api, newId } from './support/api.ts';
import { CliProcess, cli } from './support/cli.ts';

let api: Api;
let folder: string;
beforeAll(async () => {
  api = await Api.start();
  folder = await mkdtemp(join(tmpdir(), 'recoup-stop-'));
});
afterAll(async () => {
  expect((await api.service.recoup.verify()).problems).toEqual([]);
  await api.close();
  await rm(folder, { recursive: true });
});
const env = () => ({ DATABASE_URL: api.db.url });

/** Runs a command to which a signal comes at its first line that fits. */
async function stopped(argv: readonly string[], at: RegExp, given: NodeJS.ProcessEnv) {
  const stop = new Stop();
  let told = '';
  const err = (line: string) => {
    told += `${line}\n`;
    if (at.test(line) && !stop.asked.aborted) stop.ask('SIGTERM');
  };
  const code = await run(argv, { env: given, output: { out: (text) => err(text), err }, stop });
  return { code, told };
}

test('SIGTERM lets the batch at work end, says how far it came, and the same command does the rest', async () => {
  const path = join(folder, 'many.csv');
  const rows = Array.from({ length: 30_000 }, (_, n) => `stops-${n},c,${(n % 9) + 1}`);
  await writeFile(path, `wallet,customer,balance\n${rows.join('\n')}\n`);
  const importing = new CliProcess(['import', 'balances', path], env());
  const there = async () =>
    Number((await api.db.query(`select count(*)::int as n from recoup.entries where wallet_id like 'stops-%'`))[0]!.n);
  await Promise.race([
    importing.ended,
    (async () => {
      while ((await there()) === 0);
    })(),
  ]);
  importing.child.kill('SIGTERM');
  expect(await importing.ended, importing.err).toBe(143);
  const booked = await there();
  expect(booked).toBeLessThan(30_000);
  expect(booked % 1000).toBe(0);
  expect(importing.err).toContain(`Stopped after ${booked.toLocaleString('en-US')} of 30,000 wallets`);
  const rest = JSON.parse((await cli(['--json', 'import', 'balances', path], env())).out);
  expect(rest).toMatchObject({ duplicates: booked, granted: 30_000 - booked, refused: 0 });
});

/** So many jobs that cost nothing, in a wallet of their own. */
async function jobs(count: number, queue: string | null): Promise<string> {
  const { recoup } = api.service;
  const wallet = newId('bulk');
  await recoup.wallets.open({ wallet, customer: 'c' });
  for (let from = 0; from < count; from += 1000) {
    const items = Array.from({ length: Math.min(1000, count - from) }, (_, n) => ({
      wallet,
      job: `j${from + n}`,
      queue,
      price: 0,
    }));
    await recoup.jobs.submitMany(items);
  }
  return wallet;
}

test.each(['a database', 'a server'])(
  'a redrive through %s ends its step, and says how many were looked at',
  async (through) => {
    const { recoup } = api.service;
    const queue = newId('dead');
    await jobs(3000, queue);
    for (let left = 3000; left > 0; ) {
      const leased = await recoup.jobs.lease({ queue, count: 500 });
      await recoup.jobs.failMany(
        leased.map(({ job }) => ({ wallet: job.wallet, job: job.id, attempt: job.attempt, retryable: false })),
      );
      left -= leased.length;
    }
    const given = through === 'a server' ? { RECOUP_SERVER: api.service.url } : env();
    const argv = ['dead-letters', 'redrive-all', '--queue', queue, '--confirm', '3000'];
    const { code, told } = await stopped(argv, /"done":[1-9]\d*,.*"ended":false/, given);
    expect({ code, told }).toMatchObject({
      code: 143,
      told: expect.stringMatching(/Stopped: \d+ of 3000 were looked at/),
    });
    const looked = Number(/Stopped: (\d+) of/.exec(told)![1]);
    expect(looked).toBeGreaterThan(0);
    // A server learns that nobody listens any more while its step is at work, and ends it: the count falls until then.
    const rest = async () => {
      const { count } = await recoup.jobs.deadLetters.preview({ queue });
      expect(count).toBeLessThanOrEqual(3000 - looked);
      return (await cli(['dead-letters', 'redrive-all', '--queue', queue, '--confirm', `${count}`], given)).code;
    };
    await expect.poll(rest, { timeout: 60_000 }).toBe(0);
    expect((await recoup.jobs.deadLetters.preview({ queue })).count).toBe(0);
  },
);

test('a prune ends between two batches, and the same command goes on', async () => {
  const wallet = await jobs(50, null);
  const { recoup } = api.service;
  await recoup.jobs.succeedMany(Array.from({ length: 50 }, (_, n) => ({ wallet, job: `j${n}` })));
  const stop = new Stop();
  stop.gently();
  stop.ask('SIGTERM');
  let told = '';
  const err = (text: string) => {
    told += text;
  };
  const output = { out: () => {}, err };
  expect(await run(['prune', '--older-than', '0s', '--batch', '10'], { env: env(), output, stop })).toBe(143);
  expect(told).toContain('Stopped: 0 jobs were pruned');
  expect(
    JSON.parse((await cli(['--json', 'prune', '--older-than', '0s', '--batch', '10'], env())).out).pruned,
  ).toBeGreaterThanOrEqual(50);
});
