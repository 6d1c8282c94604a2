// Races of every pair of transitions that leave the same state, a round each; `npm run races` does thousands with more callers.
import { readFileSync } from 'node:fs';
import { expect, inject, test } from 'vitest';
import { type Action, apply } from '../../packages/recoup/model/model.ts';
import { emptyWorld, type World } from '../../packages/recoup/model/world.ts';
import { JOB_STATES, transitions } from '../../packages/recoup/src/outcomes.ts';
import { Arena } from './arena.ts';
import { explained } from './explain.ts';
import { pairsOf, type Race, races, SETTINGS, take } from './pairs.ts';
import { digest } from './world-digest.ts';

const CALLERS = 20;
const all = races();

test('every transition of the table and every state of a job is in some race', () => {
  const racing = new Set(all.flatMap(({ calls }) => calls.map(({ transition }) => transition)));
  expect([...racing].sort()).toEqual(Object.keys(transitions).sort());
  const states = new Set(all.map(({ state }) => state.split(/[ ,]/)[0]));
  for (const state of JOB_STATES) expect(states).toContain(state);
});

test('each pair of transitions stands once in front, for each state that both leave', () => {
  const front = all.slice(0, pairsOf(all));
  expect(pairsOf(front)).toBe(front.length);
});

test('the page says how many there are', () => {
  const page = readFileSync(new URL('../../docs/proof.md', import.meta.url), 'utf8');
  expect(page).toContain(`${pairsOf(all)} pairs of transitions`);
  expect(page).toContain(`${all.length.toLocaleString('en')} races`);
  expect(page).toContain(`npm run races -- --rounds ${all.length}`);
  expect(page).toContain(`with ${CALLERS} callers each way`);
});

const servers = inject('servers');
for (const server of servers) {
  test(`every pair at once: an order of the calls explains every answer and where it ends [${server.name}]`, async () => {
    const front = all.slice(0, pairsOf(all));
    // One server sees all of them, the others a sample that is spread over the states.
    const some = front.filter((_, index) => server === servers[0] || index % 5 === 0);
    const unexplained: unknown[] = [];
    await using arena = await Arena.on(server.url, CALLERS);
    for (const race of some) {
      const wrong = await arena.race(race);
      if (wrong) unexplained.push(wrong);
    }
    expect(unexplained).toEqual([]);
    expect(await arena.problems()).toEqual([]);
  });
}

/** A job that runs, and two calls that leave that state. */
function running(names: readonly [Action['transition'], Action['transition']]): { race: Race; world: World } {
  const race = all.find(
    ({ state, calls }) =>
      state.startsWith('running,attempt 1') && calls.every(({ transition }, i) => transition === names[i]),
  )!;
  return { race, world: race.path.reduce(take, emptyWorld({ queues: { '*': SETTINGS } })) };
}

test('what cannot be is not explained: a second winner, an entry too many, an answer that no order gives', () => {
  const { race, world } = running(['job.fail', 'job.succeed']);
  const failed = apply(world, race.calls[0]).world;
  const both = digest(apply(failed, race.calls[1]).world);
  const explain = (fails: Record<string, number>, successes: Record<string, number>, end = both) =>
    explained(world, race.calls, [fails, successes], end);
  expect(explain({ retrying: 1, duplicate: 19 }, { reclaimed: 1, duplicate: 19 })).toBe(true);
  expect(explain({ retrying: 1, duplicate: 9, succeeded: 10 }, { reclaimed: 1, duplicate: 19 })).toBe(true);
  expect(explain({ retrying: 2, duplicate: 18 }, { reclaimed: 1, duplicate: 19 })).toBe(false);
  expect(explain({ retrying: 1, duplicate: 19 }, { reclaimed: 2, duplicate: 18 })).toBe(false);
  expect(explain({ retrying: 1, duplicate: 19 }, { succeeded: 1, duplicate: 19 })).toBe(false);
  expect(explain({ retrying: 1, duplicate: 19 }, { reclaimed: 1, canceled: 19 })).toBe(false);
  expect(explain({ retrying: 1, duplicate: 19 }, { reclaimed: 1, duplicate: 19 }, digest(failed))).toBe(false);
  const twice = { ...failed, entries: [...failed.entries, failed.entries.at(-1)!] };
  expect(explain({ retrying: 1, duplicate: 19 }, { duplicate: 20 }, digest(twice))).toBe(false);
});
