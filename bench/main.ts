// npm run bench: what a job's life costs, as ratios in one run on one server with full durability. Prints a table or --json.
import { parseArgs } from 'node:util';
import { open, type Recoup } from '../packages/recoup/src/index.ts';
import { type TestDatabase, testDatabase } from '../packages/recoup/src/testing.ts';
import { fillWallet, floor } from './floors.ts';
import { http } from './http.ts';
import { drain, openWallets, type Shape, submitAll } from './lives.ts';
import { serverCpu, startServer } from './server.ts';
import { submitWithoutMoney } from './without-money.ts';

const { values: options } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
if (options.help) {
  console.log('npm run bench -- [--quick] [--rounds N] [--json]');
  process.exit(0);
}

const JOBS = options.quick ? 5_000 : 20_000;
const WALLETS = 10_000;
const ROUNDS = Number(options.rounds ?? (options.quick ? 1 : 5));
const say = (line: string) => console.error(line);

interface Figure {
  perSecond: number;
  serverCpuUs: number | null;
}
const figures = new Map<string, Figure[]>();
const sizes: Record<string, number>[] = [];

const median = (numbers: number[]) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
const rate = (name: string) => median((figures.get(name) ?? []).map((figure) => figure.perSecond));

const server = await startServer();
say(`PostgreSQL ${server.version}, default settings, fsync on; ${JOBS} jobs, ${ROUNDS} round(s)`);

async function timed(name: string, jobs: number, work: () => Promise<void>): Promise<void> {
  const cpu = serverCpu(server.pid);
  const started = performance.now();
  await work();
  const ms = performance.now() - started;
  const cpuAfter = serverCpu(server.pid);
  const figure = {
    perSecond: (jobs / ms) * 1000,
    serverCpuUs: cpu === null || cpuAfter === null ? null : ((cpuAfter - cpu) * 1000) / jobs,
  };
  figures.set(name, [...(figures.get(name) ?? []), figure]);
  say(`  ${name.padEnd(28)} ${Math.round(figure.perSecond).toString().padStart(7)} jobs/s`);
}

async function round(index: number): Promise<void> {
  say(`round ${index + 1}`);
  await using db = await testDatabase(server.url);
  await using recoup: Recoup = await open({ connection: db.url, sweep: false });
  await openWallets(recoup, WALLETS);
  const shape = (queue: string, wallets = WALLETS): Shape => ({ jobs: JOBS, wallets, queue });
  const life = async (of: Shape) => {
    await submitAll(recoup, of);
    await drain(recoup, of, 'succeed');
  };
  // Connections that have planned their statements: a plan of two pages takes milliseconds, once per connection.
  await life({ ...shape('warm'), jobs: 2000 });
  const same = await floor(db.url, shape('floor'), 'same');
  const naked = await floor(db.url, shape('floor'), 'naked');
  const steps: (() => Promise<void>)[] = [
    () => timed('floor, same tables', JOBS, same),
    () => timed('floor, naked tables', JOBS, naked),
    () => timed('money life', JOBS, () => life(shape('many'))),
    () =>
      timed('life without money', JOBS, async () => {
        await submitWithoutMoney(db.url, shape('none'));
        await drain(recoup, shape('none'), 'succeed');
      }),
    () => timed('money life, one wallet', JOBS, () => life(shape('one', 1))),
    async () => {
      await recoup.queues.configure('recover', { backoffBaseMs: 0, backoffMaxMs: 0 });
      await timed('refund and recover', JOBS, async () => {
        await submitAll(recoup, shape('recover'));
        await drain(recoup, shape('recover'), 'fail');
        await drain(recoup, shape('recover'), 'succeed');
      });
    },
  ];
  // Each round starts elsewhere, so that nothing always runs first or on the fullest tables.
  for (let i = 0; i < steps.length; i++) await steps[(i + index) % steps.length]!();
  sizes.push(await bytesPerJob(db));
  const verified = await recoup.verify();
  // The life without money leaves jobs without a charge, and nothing else may be wrong.
  const wrong = verified.problems.filter((problem) => problem.detail !== 'a job without a charge');
  if (wrong.length > 0) throw new Error(`verify: ${JSON.stringify(wrong[0])}`);
}

/** What a job of a money life leaves on disk, with its indexes, by table. The round's tables hold only such jobs and a few more. */
async function bytesPerJob(db: TestDatabase): Promise<Record<string, number>> {
  const [row] = await db.query(`
    select pg_total_relation_size('recoup.jobs') / (select count(*) from recoup.jobs) as jobs,
      pg_total_relation_size('recoup.entries') / (select count(*) from recoup.entries) as entries,
      pg_total_relation_size('recoup.attempts') / (select count(*) from recoup.attempts) as attempts`);
  return Object.fromEntries(Object.entries(row!).map(([table, bytes]) => [table, Number(bytes)]));
}

/** Balance of a wallet with a million entries against one with ten, and verify over all of them. */
async function balances(): Promise<{ ratio: number; verifyMs: number; entries: number }> {
  const entries = options.quick ? 100_000 : 1_000_000;
  await using db = await testDatabase(server.url);
  await using recoup = await open({ connection: db.url, sweep: false });
  await fillWallet(db.url, 'ten', 10);
  await fillWallet(db.url, 'million', entries);
  const times = { ten: [] as number[], million: [] as number[] };
  for (let i = 0; i < 6000; i++) {
    const wallet = i % 2 === 0 ? 'ten' : 'million';
    const started = performance.now();
    await recoup.wallets.balance(wallet);
    // The first ones warm up.
    if (i >= 2000) times[wallet].push(performance.now() - started);
  }
  const [ten, million] = [median(times.ten), median(times.million)];
  const verified = await recoup.verify();
  if (!verified.ok) throw new Error(`verify: ${JSON.stringify(verified.problems[0])}`);
  say(
    `  balance: ${ten.toFixed(3)} ms with 10 entries, ${million.toFixed(3)} ms with ${entries}; verify ${verified.ms} ms`,
  );
  return { ratio: million / ten, verifyMs: verified.ms, entries };
}

try {
  for (let index = 0; index < ROUNDS; index++) await round(index);
  const balance = await balances();
  const service = await http(server.url, options.quick, say);
  const money = rate('money life');
  const ratios = {
    money_life_vs_floor: money / rate('floor, same tables'),
    money_life_vs_naked_floor: money / rate('floor, naked tables'),
    without_money_vs_with: rate('life without money') / money,
    one_wallet_vs_many: rate('money life, one wallet') / money,
    refund_recover_vs_money_life: rate('refund and recover') / money,
    balance_1m_vs_10: balance.ratio,
    http_vs_bare: service.per_second / service.bare_per_second,
  };
  const summary = [...figures].map(([name, all]) => ({
    name,
    jobs_per_second: Math.round(median(all.map((figure) => figure.perSecond))),
    lowest: Math.round(Math.min(...all.map((figure) => figure.perSecond))),
    highest: Math.round(Math.max(...all.map((figure) => figure.perSecond))),
    server_cpu_us_per_job: Math.round(median(all.map((figure) => figure.serverCpuUs ?? Number.NaN))),
  }));
  if (options.json)
    console.log(
      JSON.stringify({
        jobs: JOBS,
        rounds: ROUNDS,
        figures: summary,
        verify_ms: balance.verifyMs,
        verify_entries: balance.entries,
        bytes_per_row: sizes.at(-1),
        http: service,
        ratios,
      }),
    );
  else {
    console.table(Object.fromEntries(summary.map(({ name, ...rest }) => [name, rest])));
    console.log('bytes per row on disk, indexes included:', sizes.at(-1));
    console.log('through HTTP:', service);
    console.table(
      Object.fromEntries(Object.entries(ratios).map(([name, ratio]) => [name, { ratio: Number(ratio.toFixed(2)) }])),
    );
  }
} finally {
  await server.stop();
}
