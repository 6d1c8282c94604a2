// Capacity: selection among 100,000 upstreams against among ten, a sweep over 100 due blocks among a million upstreams, a midnight of many windows.
import { open, type Recoup } from '../packages/recoup/src/index.ts';
import { type TestDatabase, testDatabase } from '../packages/recoup/src/testing.ts';
import { median } from './figures.ts';
import type { BenchServer } from './server.ts';

export interface UpstreamFigures {
  /** Selected and given back each second: of a pool of ten, and of one of `many`, of which nine of ten are out. */
  select_few: number;
  select_many: number;
  many: number;
  /** A pass of the sweeps that closes 100 due blocks, in ms: among a thousand upstreams, and among `most`. */
  sweep_few_ms: number;
  sweep_most_ms: number;
  most: number;
  /** Eight replicas sweep 1,000 windows that are due at one instant: resets, lost races, errors, and how long until all of them say that nothing is due. */
  midnight: { resets: number; duplicates: number; errors: number; ms: number };
}

/** Fewer than there are free upstreams in the small pool: what is measured is the choice, not the queue for it. */
const CALLERS = 4;
const DUE = 100;
const FEW = 1000;

/** One pool; of ten upstreams nine are out for an hour, by a block of their own, where `out`. Consistent, so that `verify` holds. */
const fill = (upstreams: number, out: boolean) => `
with made as (
  insert into recoup.upstreams (id, pool, provider, turn_at, registered_at, blocked_until)
  select 'u' || i, 'pool', 'provider', now() - interval '1 hour' + i * interval '1 millisecond', now() - interval '1 hour',
    case when ${out} and i % 10 > 0 then now() + interval '1 hour' end
  from generate_series(0, ${upstreams - 1}) i
  returning id, blocked_until),
out as (
  insert into recoup.blocks (subject_type, subject_id, kind, source, policy, opened_at, evidence_at, until)
  select 'upstream', id, 'rate_limited', 'backoff', 'auto', now(), now(), blocked_until from made where blocked_until is not null
  returning *)
insert into recoup.block_events (block_id, generation, type, at, until, step, evidence_at)
select id, generation, 'opened', opened_at, until, step, evidence_at from out`;

/** So many upstreams get a block that nobody has tried for a day: what a sweep ends. */
const comeDue = (count: number, of: number) => `
with due as (
  insert into recoup.blocks (subject_type, subject_id, kind, source, policy, opened_at, evidence_at, until)
  select 'upstream', 'u' || i * ${Math.floor(of / count)}, 'rate_limited', 'backoff', 'auto',
    now() - interval '30 hours', now() - interval '30 hours', now() - interval '25 hours'
  from generate_series(0, ${count - 1}) i
  returning *),
told as (
  insert into recoup.block_events (block_id, generation, type, at, until, step, evidence_at)
  select id, generation, 'opened', opened_at, until, step, evidence_at from due)
update recoup.upstreams u set blocked_until = d.until from due d where u.id = d.subject_id`;

async function filled(serverUrl: string, upstreams: number, out: boolean): Promise<TestDatabase & AsyncDisposable> {
  const db = await testDatabase(serverUrl);
  await db.query(fill(upstreams, out));
  await db.query('vacuum (analyze) recoup.upstreams, recoup.blocks');
  return db;
}

/** Callers that each select one and give it back, by turns in both, `seconds` each time; gives the rates. */
async function selection(handles: readonly Recoup[], seconds: number, rounds: number): Promise<number[]> {
  const rates = handles.map(() => [] as number[]);
  for (let round = 0; round < rounds + 1; round++) {
    for (const [index, recoup] of handles.entries()) {
      const until = performance.now() + seconds * 1000;
      let times = 0;
      const caller = async () => {
        while (performance.now() < until) {
          const { outcome, lease } = await recoup.upstreams.select({ pool: 'pool' });
          // Others held what was free just then.
          if (outcome === 'none') continue;
          await recoup.upstreams.release(lease!);
          times += 1;
        }
      };
      await Promise.all(Array.from({ length: CALLERS }, caller));
      // The first ones warm up.
      if (round > 0) rates[index]!.push(times / seconds);
    }
  }
  return rates.map(median);
}

async function sweep(db: TestDatabase, recoup: Recoup, upstreams: number, rounds: number): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < rounds + 2; round++) {
    await db.query(comeDue(DUE, upstreams));
    const started = performance.now();
    await recoup.sweep();
    if (round > 1) times.push(performance.now() - started);
    const [left] = await db.query('select count(*)::int as n from recoup.blocks where closed_at is null');
    if (left!.n !== 0) throw new Error(`${left!.n} due blocks are left after a sweep`);
  }
  return median(times);
}

const REPLICAS = 8;
const WINDOWS = 1000;

async function midnight(serverUrl: string): Promise<UpstreamFigures['midnight']> {
  await using db = await filled(serverUrl, WINDOWS, false);
  await db.setClock('2030-01-01T12:00:00Z');
  const told = { rolled: 0, duplicate: 0, error: 0 };
  const onTransition = (transition: string, outcome: string) => {
    if (transition !== 'window.roll') return;
    if (outcome === 'rolled' || outcome === 'duplicate') told[outcome] += 1;
    else told.error += 1;
  };
  const onError = () => {
    told.error += 1;
  };
  const replicas: Recoup[] = [];
  try {
    for (let i = 0; i < REPLICAS; i++)
      replicas.push(await open({ connection: db.url, sweep: false, maxConnections: 4, onTransition, onError }));
    const [first] = replicas;
    const names = Array.from({ length: WINDOWS }, (_, i) => `u${i}`);
    await Promise.all(
      names.map(async (upstream) => {
        const limit = { limit: upstream, upstream, unit: 'requests', amount: 100, kind: 'daily', zone: 'UTC' } as const;
        await first!.upstreams.limits.set(limit);
        await first!.upstreams.report({ upstream, success: true, key: 'one', use: { requests: 1 } });
      }),
    );
    await db.setClock('2030-01-02T00:00:00Z');
    const started = performance.now();
    await Promise.all(replicas.map((replica) => replica.sweep()));
    const ms = performance.now() - started;
    return { resets: told.rolled, duplicates: told.duplicate, errors: told.error, ms: Math.round(ms) };
  } finally {
    for (const replica of replicas) await replica.close();
  }
}

export async function upstreams(
  { url: serverUrl }: BenchServer,
  quick: boolean,
  say: (line: string) => void,
): Promise<UpstreamFigures> {
  const [many, most] = quick ? [10_000, 50_000] : [100_000, 1_000_000];
  const rates = await (async () => {
    await using few = await filled(serverUrl, 10, false);
    await using lots = await filled(serverUrl, many, true);
    await using ofFew = await open({ connection: few.url, sweep: false });
    await using ofMany = await open({ connection: lots.url, sweep: false });
    return await selection([ofFew, ofMany], quick ? 0.5 : 2, quick ? 1 : 5);
  })();
  const [select_few, select_many] = rates.map(Math.round) as [number, number];
  say(`  select and give back: ${select_few}/s of ten upstreams, ${select_many}/s of ${many}, nine of ten out`);
  const times: number[] = [];
  for (const upstreams of [FEW, most]) {
    await using db = await filled(serverUrl, upstreams, false);
    await using recoup = await open({ connection: db.url, sweep: false });
    times.push(await sweep(db, recoup, upstreams, quick ? 3 : 15));
  }
  const [sweep_few_ms, sweep_most_ms] = times as [number, number];
  say(
    `  a sweep of ${DUE} due blocks: ${sweep_few_ms.toFixed(1)} ms among ${FEW} upstreams, ${sweep_most_ms.toFixed(1)} ms among ${most}`,
  );
  const due = await midnight(serverUrl);
  say(
    `  ${REPLICAS} replicas, ${WINDOWS} windows due at one instant: ${due.resets} resets, ${due.duplicates} lost races, ${due.errors} errors, ${due.ms} ms`,
  );
  return { select_few, select_many, many, sweep_few_ms, sweep_most_ms, most, midnight: due };
}
