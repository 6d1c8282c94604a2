// The end of a block: what it holds, whom it concerns, what the upstream's row says then; slots given back or kept, two in one statement.
import { expect } from 'vitest';
import type { BlockFacts } from '../src/index.ts';
import { closeBlock } from '../src/upstreams/close.ts';
import { extendUpstream, releaseUpstream } from '../src/upstreams/release.ts';
import { asked, behind, outcomes } from './support/asked.ts';
import { HOUR, MINUTE, ms, poolOf, SECOND, soft, use } from './support/pools.ts';
import { booksAreRight, newId, type Stage, staging } from './support/stage.ts';

const { onEvery } = staging();
const told: BlockFacts = { ...soft, source: 'retry_after', forMs: 50 * MINUTE };

const block = async (s: Stage, upstream: string, facts: BlockFacts) =>
  (await s.recoup.upstreams.report({ upstream, success: false, block: facts })).block!;
/** Until when the upstream's row says that it is out, in milliseconds from now; null: it is not. */
async function out(s: Stage, upstream: string): Promise<number | null> {
  const [row] = await s.db.query(
    `select (extract(epoch from blocked_until - recoup.clock()) * 1000)::bigint::text as ms from recoup.upstreams where id = $1`,
    [upstream],
  );
  return row!.ms === null ? null : Number(row!.ms);
}

onEvery(
  'it is out as long as its own open blocks of everything; those of others, of a model and those that ended are none',
  async (s) => {
    const { pool, names } = await poolOf(s, 2);
    const [one, other] = names as [string, string];
    // An upstream of the provider's name, whose blocks are not the provider's.
    await s.recoup.upstreams.register({ upstream: pool, pool: newId('pool'), provider: newId('provider') });
    await s.stopClock();
    await block(s, other, told);
    await block(s, one, { ...told, subject: 'provider' });
    await block(s, one, { ...told, scope: 'model:m' });
    await s.recoup.upstreams.free(await block(s, one, { ...told, kind: 'overloaded' }));
    expect(await out(s, one)).toBeNull();
    const [long, short] = [await block(s, one, told), await block(s, one, soft)];
    expect(await out(s, one)).toBe(50 * MINUTE);
    await s.recoup.upstreams.free(long);
    expect(await out(s, one)).toBe(30 * SECOND);
    await s.recoup.upstreams.free(short);
    expect(await out(s, one)).toBeNull();
    await s.recoup.upstreams.free(await block(s, pool, soft));
    expect(await out(s, pool)).toBeNull();
  },
);

onEvery('the end of a block leaves every row as it is but those that it concerns', async (s) => {
  const { names } = await poolOf(s, 3);
  const [one, other] = names as [string, string];
  const rows = () => s.db.query('select u::text from recoup.upstreams u where id = any ($1) order by id', [names]);
  const [own, scoped] = [await block(s, one, soft), await block(s, one, { ...soft, scope: 'model:m' })];
  const before = await rows();
  await s.recoup.upstreams.free(scoped);
  expect(await rows()).toEqual(before);
  await s.recoup.upstreams.free(own);
  const after = await rows();
  expect(after.map((row, i) => row.u === before[i]!.u)).toEqual([false, true, true]);
  expect(await out(s, other)).toBeNull();
});

onEvery(
  'the end of a block of a provider writes nothing of an upstream of the same name; of none there is no end',
  async (s) => {
    const { pool, names } = await poolOf(s, 1);
    await s.recoup.upstreams.register({ upstream: pool, pool: newId('pool'), provider: newId('provider') });
    const id = await block(s, names[0]!, { ...soft, subject: 'provider' });
    const rows = () => s.db.query('select u::text from recoup.upstreams u order by id');
    const before = await rows();
    expect(await s.recoup.upstreams.free(id)).toEqual({ outcome: 'closed' });
    expect(await rows()).toEqual(before);
    expect(outcomes(await asked(s, closeBlock, { block_id: 1_000_000_000, closed_as: 'operator' }))).toEqual([
      'no_block',
    ]);
  },
);

onEvery(
  'of two blocks that are to end in one statement, one that has changed behind its snapshot is looked at again',
  async (s) => {
    const ids = [];
    for (const _ of [1, 2]) ids.push(await block(s, (await poolOf(s, 1)).names[0]!, { ...soft, subject: 'provider' }));
    const [one, other] = ids as [number, number];
    const inputs = [one, other].map((block_id) => ({ block_id, closed_as: 'operator' }));
    const newer = `update recoup.blocks set reason = 'newer' where id = ${other}`;
    expect(await behind(s, closeBlock, inputs, newer)).toEqual(['closed', 'again']);
    expect(await s.recoup.upstreams.free(other)).toEqual({ outcome: 'closed' });
  },
);

onEvery(
  'a slot that is given back twice in one statement is given back once; each is kept for its own time',
  async (s) => {
    const { pool } = await poolOf(s, 1);
    const [one, other] = [(await use(s, pool)).lease!, (await use(s, pool)).lease!];
    await s.stopClock();
    const now = (await s.db.now()).getTime();
    const kept = await asked(
      s,
      extendUpstream,
      { lease_id: one, lease_ms: 10 * MINUTE },
      { lease_id: other, lease_ms: HOUR },
    );
    expect(kept.map(({ lease_until }) => ms(new Date(lease_until!)) - now)).toEqual([10 * MINUTE, HOUR]);
    const given = await asked(s, releaseUpstream, { lease_id: one }, { lease_id: one }, { lease_id: 'none' });
    expect(outcomes(given)).toEqual(['released', 'duplicate', 'duplicate']);
    expect(await s.recoup.upstreams.release(other)).toEqual({ outcome: 'released' });
  },
);

onEvery('a slot whose time is up is kept by nobody: it may be another’s since', async (s) => {
  const { pool } = await poolOf(s, 1, { maxConcurrency: 1 });
  await s.stopClock();
  const { lease } = await s.recoup.upstreams.select({ pool, leaseMs: MINUTE });
  await s.db.advance(MINUTE);
  expect(await s.recoup.upstreams.extend(lease!, HOUR)).toMatchObject({ outcome: 'stale' });
  expect(await use(s, pool)).toMatchObject({ outcome: 'selected' });
});

onEvery('after all of it the books are right', booksAreRight);
