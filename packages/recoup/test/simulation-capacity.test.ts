// Random histories of upstreams, blocks and leases beside the model, with cut connections and crashes; and statements with one hole each: found.
import { afterAll, expect, test } from 'vitest';
import { capacityModel } from '../model/capacity/model.ts';
import { BothCapacities } from '../simulation/capacity/both.ts';
import type { CapacityCommand } from '../simulation/capacity/commands.ts';
import { capacityIn } from '../simulation/kinds.ts';
import { replay, type SimulateOptions, simulate, type Violation, violationInWords } from '../simulation/simulate.ts';
import { Tally } from '../simulation/tally.ts';
import { capacityTransitions } from '../src/outcomes.ts';
import { testDatabase } from '../src/testing.ts';
import { servers } from './support/stage.ts';

/** Two ordinary worlds and a crowded one. */
const SEEDS = [1, 2, 3];
const STEPS = 1000;
/** Another one each time: what fails prints it, and fails again with it. */
const ANY_SEED = Math.floor(Math.random() * 4_294_967_296);
const total = new Tally();

/** Calls that overlap meet each other in one order or in another: what fails need not fail each time. */
async function failsAgain(once: () => Promise<string | undefined>): Promise<string | undefined> {
  for (let run = 0; run < 5; run++) {
    const problem = await once();
    if (problem) return problem;
  }
  return undefined;
}

async function run(url: string, options: SimulateOptions, rewrite?: (text: string) => string) {
  await using db = await testDatabase(url);
  const both = await BothCapacities.open(db, rewrite ? { rewrite } : {});
  const kind = capacityIn(both);
  try {
    const violation = await simulate(kind, options);
    total.add(both.tally);
    return { violation, fails: violation && (await failsAgain(() => replay(kind, violation.history))) };
  } finally {
    await both.close();
  }
}

for (const { name, url } of servers) {
  for (const seed of name === servers[0]!.name ? [...SEEDS, ANY_SEED] : [SEEDS.at(-1)!, ANY_SEED]) {
    const what = seed === ANY_SEED ? 'a seed that nobody knows' : `seed ${seed}`;
    test(`${what}: capacity is the same in the model and in the database, whatever is cut, lost and late [${name}]`, async () => {
      const { violation } = await run(url, { seed, steps: STEPS });
      if (violation) throw new Error(violationInWords(violation));
    });
  }
}

/** What these few thousand steps need not meet: a held row's time is never over here. */
const RARE = ['upstream_busy', 'upstream_retired', 'no_block'];

test('the traffic of capacity meets every transition and every outcome, and every kind of fault', () => {
  const modeled = Object.entries(capacityTransitions).filter(([transition]) => transition in capacityModel);
  const missed = modeled.flatMap(([transition, { outcomes, refusals }]) =>
    [...outcomes, ...refusals]
      .filter((answer) => !RARE.includes(answer) && !total.operations[transition]?.[answer])
      // The sweep names only what it saw a moment ago.
      .filter((answer) => transition !== 'block.lapse' || answer === 'closed')
      .map((answer) => `${transition} ${answer}`),
  );
  expect(missed).toEqual([]);
  const { crashes, cutBefore, cutInCommit, lostAnswers, duplicates, delayed, clockJumps, waited, between } = total;
  const faults = [crashes, cutBefore, cutInCommit, lostAnswers, duplicates, delayed, clockJumps, waited, between];
  for (const count of faults) expect(count).toBeGreaterThan(0);
});

/** A piece of a statement, and what a careless hand would have written. */
const HOLES: Readonly<Record<string, readonly [good: string, bad: string]>> = {
  'a selection does not count slots': ['(c.max_concurrency is null or', '(true or'],
  'uses of other models count as trials': ['and b.scope = any (l.scopes)', 'and true'],
  'older news opens a block again': ['and c.closed_at > j.began', 'and false'],
  'a half-open block lets everybody in': [">= b.trials then 'trial' end", ">= 1000 then 'trial' end"],
  'a success does not look at when its request began': ['limit 1) < h.began', 'limit 1) is not null'],
  'a failure that was under way counts': ['when began <= b_opened_at or', 'when false or'],
  'a repeat is taken for a request of now': ["when reported then 'duplicate'", "when false then 'duplicate'"],
  'a report keeps its slot': ['where l.id = any (array(select lease_id from over))', 'where false'],
  'two failures are the provider’s': ['when failing >= 3 and', 'when failing >= 2 and'],
};

/** Where another one than the first meets the hole early: a short history is shortened soon. */
const SEED_OF: Readonly<Record<string, number>> = {
  'uses of other models count as trials': 3,
  'older news opens a block again': 6,
  'a success does not look at when its request began': 5,
  'a failure that was under way counts': 4,
};

const found = new Map<string, Violation<CapacityCommand>>();

test.each(Object.entries(HOLES))('a hole is found and its history shortened: %s', async (name, [good, bad]) => {
  const rewrite = (text: string) => text.replaceAll(good, bad);
  const { violation, fails } = await run(
    servers[0]!.url,
    { seed: SEED_OF[name] ?? 1, steps: 4000, shrinks: 100 },
    rewrite,
  );
  expect(violation?.problem).toBeDefined();
  found.set(name, violation!);
  expect(violation!.history.length).toBeLessThanOrEqual(40);
  expect(fails).toBeDefined();
});

test('without the hole none of those histories of capacity fails', async () => {
  await using db = await testDatabase(servers[0]!.url);
  const both = await BothCapacities.open(db);
  try {
    for (const [name, { history }] of found)
      expect([name, await replay(capacityIn(both), history)]).toEqual([name, undefined]);
    expect(found.size).toBe(Object.keys(HOLES).length);
  } finally {
    await both.close();
  }
});

afterAll(() => found.clear());
