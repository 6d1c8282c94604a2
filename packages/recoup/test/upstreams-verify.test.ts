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
  const guarded = ['block_events', 'upstream_events', 'inbox_notes'];
  const kept = ['upstreams', 'blocks', ...guarded];
  const trigger = async (state: string) => {
    for (const table of guarded)
      await client.query(`alter table recoup.${table} ${state} trigger ${table}_append_only`);
  };
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
  const { block: byHand } = await s.recoup.upstreams.block(manual, { reason: 'maintenance' });
  await s.recoup.upstreams.report({ upstream: manual, success: false, block: { kind: 'billing', policy: 'manual' } });
  await s.db.advance(SECOND);
  await s.recoup.upstreams.report({ upstream: manual, success: true });
  await s.recoup.upstreams.change(open, { weight: 2, actor: 'ann' });
  const item = `block:${byHand}`;
  for (const note of ['one', 'two', 'three']) await s.recoup.inbox.note(item, { actor: 'ann', note });
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
    [
      `update recoup.upstreams set weight = 3 where id = '${open}'`,
      /^upstreams\.events: .* is set to .*"weight": 3.* says .*"weight": 2/,
    ],
    [
      `update recoup.upstreams set events = 3 where id = '${open}'`,
      /^upstreams\.events: .* counts 3 events and has 2, up to 2/,
    ],
    [
      `delete from recoup.upstream_events where upstream_id = '${open}' and number = 1`,
      /^upstreams\.events: .* counts 2 events and has 1/,
    ],
    [
      `delete from recoup.upstream_events where upstream_id = '${ended}'`,
      /^upstreams\.events: .* counts 1 events and has 0/,
    ],
    [
      `update recoup.upstream_events set number = 7 where upstream_id = '${open}' and number = 2`,
      /^upstreams\.events: .*up to 7/,
    ],
    [
      `update recoup.upstream_events set type = 'changed' where upstream_id = '${ended}'`,
      /^upstreams\.events: .*not registered/,
    ],
    [
      `update recoup.upstream_events set type = 'registered' where upstream_id = '${open}'`,
      /^upstreams\.events: .*registered by/,
    ],
    [
      `update recoup.upstream_events set settings = settings || '{"status": "off"}' where upstream_id = '${ended}'`,
      /^upstreams\.events: .*is set to/,
    ],
    [
      `insert into recoup.upstream_events select 'nobody', number, type, at, settings from recoup.upstream_events where upstream_id = '${ended}'`,
      /^upstreams\.events: upstream nobody has events and is not there/,
    ],
    [
      `update recoup.blocks set contradicted_at = opened_at - interval '1 s' where contradicted_at is not null`,
      /^blocks\.contradicted: block \d+ opened at/,
    ],
    [`delete from recoup.inbox_notes where number = 2`, /^inbox\.notes: block:\d+ has 2 notes, 1 to 3/],
    [`delete from recoup.inbox_notes where number = 1`, /^inbox\.notes: block:\d+ has 2 notes, 2 to 3/],
    [
      `update recoup.inbox_notes set at = at - interval '1 s' where number = 2`,
      /^inbox\.notes: .*older than the one before/,
    ],
    [
      `update recoup.inbox_notes set item = 'block:${first.block}'`,
      /^inbox\.notes: .*about no block that a person ends/,
    ],
  ];
  for (const [sql, found] of wrong)
    expect([sql, await tampered(s, sql)]).toEqual([sql, [expect.stringMatching(found)]]);
});
