// Random histories from a seed, with cut connections and crashes, beside the model; and statements with one hole each: found, and shortened.
import { afterAll, expect, test } from 'vitest';
import { BothWorlds } from '../simulation/both-worlds.ts';
import type { Command } from '../simulation/commands.ts';
import { jobsIn } from '../simulation/kinds.ts';
import { replay, simulate, type Violation, violationInWords } from '../simulation/simulate.ts';
import { Tally } from '../simulation/tally.ts';
import { transitions } from '../src/outcomes.ts';
import { testDatabase } from '../src/testing.ts';
import { servers } from './support/stage.ts';

const SEEDS = [1, 2, 3];
const STEPS = 1000;
/** Another one each time: what fails prints it, and fails again with it. */
const ANY_SEED = Math.floor(Math.random() * 4_294_967_296);
const total = new Tally();

async function run(url: string, options: Parameters<typeof simulate>[1], rewrite?: (text: string) => string) {
  await using db = await testDatabase(url);
  const both = await BothWorlds.open(db, rewrite ? { rewrite } : {});
  try {
    const violation = await simulate(jobsIn(both), options);
    total.add(both.tally);
    return { violation, fails: violation && (await replay(jobsIn(both), violation.history)) };
  } finally {
    await both.close();
  }
}

for (const { name, url } of servers) {
  for (const seed of name === servers[0]!.name ? [...SEEDS, ANY_SEED] : [SEEDS.at(-1)!, ANY_SEED]) {
    const what = seed === ANY_SEED ? 'a seed that nobody knows' : `seed ${seed}`;
    test(`${what}: the model and the database stay one world, whatever is cut, lost, repeated and late [${name}]`, async () => {
      const { violation } = await run(url, { seed, steps: STEPS });
      if (violation) throw new Error(violationInWords(violation));
    });
  }
}

/** What these few thousand steps need not meet: a held wallet's time is never over here. */
const RARE = ['wallet_busy', 'balance_limit', 'pruned', 'conflict', 'closed', 'no_job', 'release_limit', 'invalid'];

test('the traffic meets every transition and every outcome, and every kind of fault', () => {
  const missed = Object.entries(transitions).flatMap(([transition, { outcomes, refusals }]) =>
    [...outcomes, ...refusals]
      .filter((answer) => !RARE.includes(answer) && !total.operations[transition]?.[answer])
      // The sweep names only what it saw a moment ago.
      .filter((answer) => transition !== 'job.lapse' || ['retrying', 'dead', 'refunded'].includes(answer))
      .map((answer) => `${transition} ${answer}`),
  );
  expect(missed).toEqual([]);
  const { crashes, cutBefore, cutInCommit, lostAnswers, duplicates, delayed, clockJumps, waited, between } = total;
  for (const count of [
    crashes,
    cutBefore,
    cutInCommit,
    lostAnswers,
    duplicates,
    delayed,
    clockJumps,
    waited,
    between,
  ]) {
    expect(count).toBeGreaterThan(0);
  }
});

/** A piece of a statement, and what a careless hand would have written. */
const HOLES: Readonly<Record<string, readonly [good: string, bad: string]>> = {
  'a failure refunds what is refunded': [
    `refunded_at is null and (refund_on = 'failure' or kills)`,
    `(refund_on = 'failure' or kills)`,
  ],
  'a failure does not look at the attempt': ['(n = attempt or queue is null)', 'true'],
  'a lapse does not look at the clock': ['coalesce(lease_until, deadline_at) <= now', 'true'],
  'a late success does not take the refund back': [
    `case when reclaims then 'reclaim' end as type1`,
    'null::text as type1',
  ],
  'a submit does not look at the balance': [
    'refused is null and total <= available as wins',
    'refused is null as wins',
  ],
  'a lease does not wait for its time': ['and not_before <= recoup.clock()', ''],
  'a release has no cap': ['and releases < q.max_releases and not', 'and not'],
  'a wallet is read without its lock': [
    'from recoup.wallets where id = i.wallet_id for no key update',
    'from recoup.wallets where id = i.wallet_id --',
  ],
};

/** Where another one than the first meets the hole early: a short history is shortened soon. */
const SEED_OF: Readonly<Record<string, number>> = {
  'a failure refunds what is refunded': 3,
  'a failure does not look at the attempt': 7,
  'a lapse does not look at the clock': 6,
  'a release has no cap': 7,
};

const found = new Map<string, Violation<Command>>();

test.each(Object.entries(HOLES))('a hole is found and its history shortened: %s', async (name, [good, bad]) => {
  const rewrite = (text: string) => text.replaceAll(good, bad);
  const { violation, fails } = await run(
    servers[0]!.url,
    { seed: SEED_OF[name] ?? 1, steps: 20_000, shrinks: 300 },
    rewrite,
  );
  expect(violation?.problem).toBeDefined();
  found.set(name, violation!);
  expect(violation!.history.length).toBeLessThanOrEqual(12);
  expect(fails).toBe(violation!.shrunkTo);
});

test('without the hole none of those histories fails', async () => {
  await using db = await testDatabase(servers[0]!.url);
  const both = await BothWorlds.open(db);
  try {
    for (const [name, { history }] of found)
      expect([name, await replay(jobsIn(both), history)]).toEqual([name, undefined]);
    expect(found.size).toBe(Object.keys(HOLES).length);
  } finally {
    await both.close();
  }
});

afterAll(() => found.clear());
