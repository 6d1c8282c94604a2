// Probes on many replicas: one asks, the others do not; answers that come late, or about a block that has changed, change nothing.
import { expect } from 'vitest';
import { tally, times } from './support/look.ts';
import { failing, HOUR, MINUTE, SECOND, soft, types, use } from './support/pools.ts';
import { probedPool } from './support/probing.ts';
import { booksAreRight, type Stage, staging } from './support/stage.ts';

const { onEvery, onFirst } = staging();

const fails = (s: Stage, upstream: string, block: object = soft) =>
  s.recoup.upstreams.report({ upstream, success: false, block: block as typeof soft });

/** A promise and what settles it. */
function gate<T>() {
  let open!: (value: T) => void;
  const passed = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { passed, open };
}

const until = async (holds: () => boolean | Promise<boolean>) => {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 5));
};

onEvery(
  'five replicas see one due block: one probe, and 50 selections at once meanwhile and after get none and one',
  async (s) => {
    const { pool, names, asked, hand, replica } = await probedPool(s, 1);
    const replicas = await Promise.all(times(5, replica));
    const { passed, open } = gate<'yes'>();
    hand.said = () => passed;
    await fails(s, names[0]!);
    await s.db.advance(30 * SECOND);
    const rounds = replicas.map((one) => one.probes.ask());
    await until(() => asked.length > 0);
    const meanwhile = await Promise.all(times(50, (i) => use(s, pool, replicas[i % 5])));
    expect(tally(meanwhile.map(({ outcome }) => outcome))).toEqual({ none: 50 });
    open('yes');
    expect((await Promise.all(rounds)).map((round) => round.asked).sort()).toEqual([0, 0, 0, 0, 1]);
    const after = await Promise.all(times(50, (i) => use(s, pool, replicas[i % 5])));
    expect(tally(after.map(({ outcome }) => outcome))).toEqual({ selected: 1, none: 49 });
    expect(asked).toHaveLength(1);
  },
);

onEvery('five replicas and forty due blocks, again and again: each is asked once a time', async (s) => {
  const { names, asked, hand, replica } = await probedPool(s, 40);
  const replicas = await Promise.all(times(5, replica));
  hand.said = 'no';
  await Promise.all(names.map((name) => fails(s, name)));
  for (const [round, wait] of [31, 61, 121].entries()) {
    await s.db.advance(wait * SECOND);
    await Promise.all(replicas.map((one) => one.probes.ask()));
    expect(tally(asked.map(({ upstream }) => upstream))).toEqual(
      Object.fromEntries(names.map((name) => [name, round + 1])),
    );
  }
});

onEvery('who asks and dies is followed by another; his late answer is kept, and changes nothing', async (s) => {
  const { names, asked, hand, asker, replica } = await probedPool(s, 1, { graceMs: 60_000, timeoutMs: 30_000 });
  const { passed, open } = gate<'yes'>();
  hand.said = () => passed;
  await fails(s, names[0]!);
  await s.db.advance(30 * SECOND);
  const late = asker.probes.ask();
  await until(() => asked.length === 1);
  const other = await replica();
  expect(await other.probes.ask()).toMatchObject({ asked: 0 });
  await s.db.advance(36 * SECOND);
  hand.said = 'no';
  expect(await other.probes.ask()).toMatchObject({ asked: 1, no: 1 });
  const before = await s.recoup.upstreams.history(names[0]!);
  open('yes');
  expect(await late).toMatchObject({ asked: 1, yes: 0, ignored: 1 });
  expect(await s.recoup.upstreams.history(names[0]!)).toEqual(before);
  expect(await failing(s, names[0]!)).toEqual(['blocked']);
  const { probes } = await s.recoup.probes.list({ upstream: names[0]! });
  expect(probes.map(({ outcome, result }) => [outcome, result])).toEqual([
    ['denied', 'no'],
    ['lapsed', 'yes'],
  ]);
});

onEvery('an answer about a block that has changed meanwhile, or was closed, changes nothing', async (s) => {
  const { names, asked, hand, asker } = await probedPool(s, 2);
  const { passed, open } = gate<'yes' | 'no'>();
  hand.said = ({ upstream }) => (upstream === names[0] ? passed : passed.then(() => 'no' as const));
  for (const name of names) await fails(s, name);
  await s.db.advance(30 * SECOND);
  const round = asker.probes.ask();
  await until(() => asked.length === 2);
  await s.db.advance(1000);
  expect(await fails(s, names[0]!)).toMatchObject({ outcome: 'reopened' });
  const [block] = (await s.recoup.upstreams.blocks({ limit: 1000 })).blocks.filter(({ subject }) =>
    subject.endsWith(names[1]!),
  );
  await s.recoup.upstreams.free(block!.block, { actor: 'ann' });
  open('yes');
  expect(await round).toMatchObject({ asked: 2, ignored: 2 });
  expect(await failing(s, names[0]!)).toEqual(['blocked']);
  expect(await failing(s, names[1]!)).toEqual([]);
  expect(await types(s, names[1]!)).toEqual(['opened', 'closed']);
});

onEvery('a re-check of 60 asks a few at once, and what could not be asked stays out', async (s) => {
  const { pool, names, hand, asked } = await probedPool(s, 60);
  let now = 0;
  let most = 0;
  hand.said = async ({ upstream }) => {
    most = Math.max(most, ++now);
    await new Promise((resolve) => setTimeout(resolve, 5));
    now -= 1;
    const n = names.indexOf(upstream);
    if (n % 3 === 0) throw new Error('not reached');
    return n % 3 === 1 ? 'yes' : 'no';
  };
  const loop = await s.replica({ probers: { [pool]: hand.said }, sweep: true, probesAtOnce: 4, pollMs: 50 });
  for (const name of names)
    await fails(s, name, { kind: 'quota_exhausted_upstream', policy: 'snapshot', forMs: 5 * HOUR });
  const seen: number[] = [];
  const progress = await loop.probes.recheck({
    pool,
    confirm: 60,
    actor: 'ann',
    onProgress: ({ open }) => seen.push(open),
  });
  expect(progress).toEqual({ of: 60, open: 0, yes: 20, no: 20, unavailable: 20, moved: 0 });
  expect(most).toBeLessThanOrEqual(4);
  expect(seen.at(-1)).toBe(0);
  expect(asked).toEqual([]);
  const states = await Promise.all(names.map(async (name) => (await failing(s, name)).length === 0));
  expect(states).toEqual(names.map((_, n) => n % 3 === 1));
  await loop.close();
});

onFirst('the loop asks by itself when a block is due, also one that opens elsewhere while it sleeps', async (s) => {
  const { pool, names, hand } = await probedPool(s, 1);
  const loop = await s.replica({ probers: { [pool]: () => 'yes' as const }, sweep: true, pollMs: 600_000 });
  hand.said = 'yes';
  // Its first look is over, and it listens.
  await until(async () => (await s.db.query(`select from pg_stat_activity where query like 'listen %'`)).length > 0);
  await fails(s, names[0]!, { kind: 'rate_limited', policy: 'auto', source: 'retry_after', forMs: 200 });
  // The database's clock stands: the loop sleeps by it for as long as is left, then it is due.
  await s.db.advance(200);
  await until(async () => (await use(s, pool)).outcome === 'selected');
  expect(await types(s, names[0]!)).toEqual(['opened', 'trial']);
  await loop.close();
});

onEvery('a transaction that holds the block stalls no claim of the others', async (s) => {
  const { names, asker } = await probedPool(s, 2);
  for (const name of names) await fails(s, name);
  const client = await s.client();
  await client.query('begin');
  await client.query(`select from recoup.blocks where subject_id = $1 for update`, [names[0]]);
  await s.db.advance(30 * SECOND);
  expect(await asker.probes.ask()).toMatchObject({ asked: 1, yes: 1 });
  await client.query('rollback');
  expect(await asker.probes.ask()).toMatchObject({ asked: 1, yes: 1 });
  await s.db.advance(10 * MINUTE);
});

onEvery('books', booksAreRight);
