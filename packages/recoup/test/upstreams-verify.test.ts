// verify on upstreams: a row that was changed by hand is found and named.
import { expect } from 'vitest';
import { poolOf, SECOND, soft } from './support/pools.ts';
import { type Stage, staging } from './support/stage.ts';

const { onEvery } = staging();
const problems = async ({ recoup }: Stage) =>
  (await recoup.verify({ testClock: true })).problems.map(({ check, detail }) => `${check}: ${detail}`);

/** Changes a row past every guard and looks; puts it back. */
async function tampered(s: Stage, sql: string): Promise<string[]> {
  const client = await s.client();
  const kept = ['upstreams', 'blocks', 'block_events'];
  const trigger = (state: string) =>
    client.query(`alter table recoup.block_events ${state} trigger block_events_append_only`);
  await client.query('set session_replication_role = replica');
  for (const table of kept) await client.query(`create temporary table ${table} as table recoup.${table}`);
  await trigger('disable');
  await client.query(sql);
  await trigger('enable always');
  const found = await problems(s);
  await trigger('disable');
  for (const table of kept) {
    await client.query(`delete from recoup.${table}`);
    await client.query(`insert into recoup.${table} select * from pg_temp.${table}`);
  }
  await trigger('enable always');
  await client.end();
  expect(await problems(s)).toEqual([]);
  return found;
}

onEvery('what is changed by hand in upstreams, blocks and their events is found', async (s) => {
  const { names } = await poolOf(s, 3);
  const [open, ended, manual] = names as [string, string, string];
  const first = await s.recoup.upstreams.report({ upstream: open, success: false, block: soft });
  await s.db.advance(31 * SECOND);
  await s.recoup.upstreams.report({ upstream: open, success: false, block: soft });
  const { block } = await s.recoup.upstreams.report({ upstream: ended, success: false, block: soft });
  await s.recoup.upstreams.free(block!);
  await s.recoup.upstreams.block(manual, { reason: 'maintenance' });
  expect(await problems(s)).toEqual([]);

  const upstream = (id: string, value: string) =>
    `update recoup.upstreams set blocked_until = ${value} where id = '${id}'`;
  const event = (id: number | null, generation: number) => `where block_id = ${id} and generation = ${generation}`;
  const wrong: [sql: string, found: RegExp][] = [
    [upstream(open, 'null'), /^upstreams\.blocked_until: .*is out until nothing/],
    [upstream(open, `blocked_until - interval '1 ms'`), /^upstreams\.blocked_until: /],
    [upstream(ended, `now() + interval '1 day'`), /^upstreams\.blocked_until: .*its blocks say nothing/],
    [upstream(manual, 'now()'), /^upstreams\.blocked_until: .*its blocks say infinity/],
    [
      `update recoup.blocks set until = until + interval '1 s' where id = ${first.block}`,
      /^upstreams\.blocked_until: /,
    ],
    [
      `delete from recoup.block_events ${event(block, 2)}`,
      /^blocks\.events: block \d+ is in generation 2 and has 1 events/,
    ],
    [`delete from recoup.block_events where block_id = ${block}`, /^blocks\.events: block \d+ has no events/],
    [`delete from recoup.blocks where id = ${block}`, /^blocks\.events: block \d+ has events and is not there/],
    [`update recoup.block_events set generation = 7 ${event(first.block, 2)}`, /^blocks\.events: block \d+ .* 1 to 7/],
    [`update recoup.block_events set type = 'closed' ${event(first.block, 2)}`, /^blocks\.events: .*disagree/],
    [`update recoup.block_events set type = 'extended' ${event(block, 2)}`, /^blocks\.events: .*disagree/],
    [`update recoup.block_events set type = 'trial' ${event(first.block, 1)}`, /^blocks\.events: .*not opened/],
    [`update recoup.block_events set type = 'opened' ${event(first.block, 2)}`, /^blocks\.events: .*opened by/],
  ];
  for (const [sql, found] of wrong)
    expect([sql, await tampered(s, sql)]).toEqual([sql, [expect.stringMatching(found)]]);
});
