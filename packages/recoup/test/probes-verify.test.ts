// verify on probes: an answer that counts and what became of its block tell the same, or the probe is named.
import { expect } from 'vitest';
import { MINUTE, SECOND, soft } from './support/pools.ts';
import { probedPool } from './support/probing.ts';
import { booksAreRight, type Stage, staging } from './support/stage.ts';

const { onEvery } = staging();
const problems = async ({ recoup }: Stage) =>
  (await recoup.verify({ testClock: true })).problems.map(({ check, detail }) => `${check}: ${detail}`);

onEvery('a probe that was changed by hand is found', async (s) => {
  const { names, asker, hand } = await probedPool(s, 2);
  hand.said = ({ upstream }) => (upstream === names[0] ? 'yes' : 'no');
  for (const upstream of names) await s.recoup.upstreams.report({ upstream, success: false, block: soft });
  await s.db.advance(31 * SECOND);
  expect(await asker.probes.ask()).toMatchObject({ yes: 1, no: 1 });
  expect(await problems(s)).toEqual([]);
  const yes = `outcome = 'confirmed'`;
  const wrong: [change: string, back: string, found: RegExp][] = [
    [
      `set block_id = block_id + 1000 where ${yes}`,
      `set block_id = block_id - 1000 where ${yes}`,
      /was confirmed in generation 1, what followed is nothing$/,
    ],
    [
      `set generation = 0 where ${yes}`,
      `set generation = 1 where ${yes}`,
      /was confirmed in generation 0, what followed is opened$/,
    ],
    [
      `set id = id + 1000 where ${yes}`,
      `set id = id - 1000 where ${yes}`,
      /was confirmed in generation 1, what followed is trial, probe \d+: yes$/,
    ],
    [
      `set outcome = 'denied', result = 'no' where ${yes}`,
      `set outcome = 'confirmed', result = 'yes' where upstream_id = '${names[0]}'`,
      /was denied in generation 1, what followed is trial/,
    ],
  ];
  for (const [change, back, found] of wrong) {
    await s.db.query(`update recoup.probes ${change}`);
    expect(await problems(s)).toEqual([expect.stringMatching(/^probes\.events: probe \d+ of block \d+ /)]);
    expect((await problems(s))[0]).toMatch(found);
    await s.db.query(`update recoup.probes ${back}`);
    expect(await problems(s)).toEqual([]);
  }
  await s.db.advance(MINUTE);
});

onEvery('books', booksAreRight);
