// Races of every pair of calls about one upstream in each of its states; `npm run races` does them with more callers.
import { readFileSync } from 'node:fs';
import { expect, inject, test } from 'vitest';
import { applyCapacity } from '../../packages/recoup/model/capacity/model.ts';
import { emptyCapacity } from '../../packages/recoup/model/capacity/world.ts';
import type { CapacityCall } from '../../packages/recoup/simulation/capacity/commands.ts';
import { CapacityArena, capacityRaces, digestOf, explains } from './capacity.ts';

const CALLERS = 10;
const all = capacityRaces();

test('the page says how many races of capacity there are', () => {
  const page = readFileSync(new URL('../../docs/proof.md', import.meta.url), 'utf8');
  expect(page).toContain(`${all.length} races of capacity`);
});

const servers = inject('servers');
for (const server of servers) {
  test(`many callers about one upstream at once: an order of them explains every answer and where it ends [${server.name}]`, async () => {
    const some = all.filter((_, index) => index % (server === servers[0] ? 3 : 12) === 0);
    await using arena = await CapacityArena.on(server.url, CALLERS);
    const unexplained: unknown[] = [];
    for (const race of some) {
      const wrong = await arena.race(race);
      if (wrong) unexplained.push(wrong);
    }
    expect(unexplained).toEqual([]);
  });
}

test('what cannot be is not explained: a second winner of the last slot, an answer that no order gives', () => {
  const register = { upstream: 'a', pool: 'p', provider: 'x', maxConcurrency: 1 };
  const { world } = applyCapacity(emptyCapacity(), { transition: 'upstream.register', input: register });
  const select: CapacityCall = {
    transition: 'upstream.select',
    input: { pool: 'p', lease: 'n0', leaseMs: 60_000, upstream: 'a' },
  };
  const { world: given } = applyCapacity(world, select);
  const explain = (answers: Record<string, number>, end = given) => explains(world, [select], [answers], digestOf(end));
  expect(explain({ selected: 1, none: 19 })).toBe(true);
  expect(explain({ selected: 2, none: 18 })).toBe(false);
  expect(explain({ none: 20 })).toBe(false);
  expect(explain({ selected: 1, none: 19 }, world)).toBe(false);
});
