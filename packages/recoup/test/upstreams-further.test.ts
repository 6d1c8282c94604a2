// Looking further: behind so many that are in use, what an upstream shares with others keeps it out exactly where it does among the first.
import { expect } from 'vitest';
import { decodeAnswer } from '../src/db/database.ts';
import { render } from '../src/db/statement.ts';
import type { BlockFacts } from '../src/index.ts';
import { selectFurther } from '../src/upstreams/select.ts';
import { times } from './support/look.ts';
import { HOUR, SECOND } from './support/pools.ts';
import { newId, type Stage, staging } from './support/stage.ts';

const { onEvery } = staging();

/** So many are looked at one by one before what all share is worked out once. */
const FIRST = 50;

interface Last {
  pool: string;
  upstream: string;
  provider: string;
  quotaGroup: string;
  route: string;
}

/** A pool whose upstreams are all in use. */
async function crowd(s: Stage): Promise<string> {
  const pool = newId('pool');
  const register = (upstream: string) =>
    s.recoup.upstreams.register({ upstream, pool, provider: pool, maxConcurrency: 1 });
  await Promise.all(times(FIRST, (i) => register(`${pool}/${i}`)));
  for (let i = 0; i < FIRST; i++) await s.recoup.upstreams.select({ pool });
  return pool;
}

/** One behind them all, that has a provider, a group and a route of its own. */
async function behind(s: Stage, pool: string): Promise<Last> {
  const shared = { provider: newId('provider'), quotaGroup: newId('group'), route: newId('route') };
  const last = { pool, upstream: newId('last'), ...shared };
  await s.recoup.upstreams.register({ upstream: last.upstream, pool, ...shared });
  await s.db.query(`update recoup.upstreams set turn_at = recoup.clock() + interval '1 hour' where id = $1`, [
    last.upstream,
  ]);
  return last;
}

async function further(s: Stage, pool: string): Promise<string[]> {
  const input = [{ pool, model: 'm', lease_id: newId('lease'), lease_ms: HOUR }];
  const rows = await s.db.query(render(selectFurther, 'patient', 'recoup').text, [JSON.stringify(input)]);
  return decodeAnswer<{ outcome: string }>(rows, selectFurther.name).map(({ outcome }) => outcome);
}

const fails = (s: Stage, { upstream }: { upstream: string }, block: Partial<BlockFacts>) =>
  s.recoup.upstreams.report({
    ...{ upstream, success: false, key: newId('key') },
    block: { kind: 'rate_limited', policy: 'auto', source: 'backoff', forMs: HOUR, ...block },
  });
const daily = { unit: 'requests', amount: 1, kind: 'daily', zone: 'UTC' } as const;
const limit = (s: Stage, of: object) => s.recoup.upstreams.limits.set({ limit: newId('limit'), ...daily, ...of });
const used = (s: Stage, { upstream }: { upstream: string }, more: object = {}) =>
  s.recoup.upstreams.report({ upstream, success: true, key: newId('key'), ...more });
/** Another upstream with these, whose failure is the one of what it shares. */
async function other(s: Stage, of: object): Promise<{ upstream: string }> {
  const upstream = newId('up');
  await s.recoup.upstreams.register({ upstream, pool: newId('pool'), provider: newId('provider'), ...of });
  return { upstream };
}

type Cases = Readonly<Record<string, (s: Stage, last: Last) => Promise<unknown>>>;

const SHUT: Cases = {
  'a block of its provider': (s, last) => fails(s, last, { subject: 'provider' }),
  'a block of its group': (s, last) => fails(s, last, { subject: 'quota_group' }),
  'a block of its route': (s, last) => fails(s, last, { subject: 'route' }),
  'a block of its provider for that model': (s, last) => fails(s, last, { subject: 'provider', scope: 'model:m' }),
  'a limit of its provider that is used up': async (s, last) => {
    await limit(s, { provider: last.provider });
    await used(s, last);
  },
  'a limit of its group that is used up, for that model': async (s, last) => {
    await limit(s, { quotaGroup: last.quotaGroup, scope: 'model:m' });
    await used(s, last, { model: 'm' });
  },
};

const OPEN: Cases = {
  nothing: async () => {},
  'a block that is over': async (s, last) => {
    const { block } = await fails(s, last, { subject: 'provider' });
    await s.recoup.upstreams.free(block!);
  },
  'a block of another model': (s, last) => fails(s, last, { subject: 'provider', scope: 'model:n' }),
  'a block of a group that is named as its provider': async (s, last) =>
    fails(s, await other(s, { quotaGroup: last.provider }), { subject: 'quota_group' }),
  'a block of a provider that is named as its group': async (s, last) =>
    fails(s, await other(s, { provider: last.quotaGroup }), { subject: 'provider' }),
  'a block of a group that is named as its route': async (s, last) =>
    fails(s, await other(s, { quotaGroup: last.route }), { subject: 'quota_group' }),
  'a block whose time is up, with no trial out': async (s, last) => {
    await fails(s, last, { subject: 'provider', forMs: SECOND });
    await s.db.advance(2 * SECOND);
  },
  'a limit with room': async (s, last) => {
    await limit(s, { provider: last.provider, amount: 2 });
    await used(s, last);
  },
  'a limit of another model': async (s, last) => {
    await limit(s, { provider: last.provider, scope: 'model:n' });
    await used(s, last, { model: 'n' });
  },
  'a limit that has ended': async (s, last) => {
    const name = newId('limit');
    await limit(s, { limit: name, provider: last.provider });
    await used(s, last);
    await s.recoup.upstreams.limits.end(name);
  },
  'a limit of a group that is named as its provider': async (s, last) => {
    await limit(s, { quotaGroup: last.provider });
    await used(s, await other(s, { quotaGroup: last.provider }));
  },
};

const CASES = [
  ...Object.entries(SHUT).map((one) => [...one, 'none'] as const),
  ...Object.entries(OPEN).map((one) => [...one, 'selected'] as const),
];

onEvery('one behind fifty is found where nothing that it shares is shut, and is not where something is', async (s) => {
  await s.stopClock();
  const pool = await crowd(s);
  for (const [name, make, outcome] of CASES) {
    const last = await behind(s, pool);
    await make(s, last);
    expect([name, await further(s, pool)]).toEqual([name, [outcome]]);
    await s.recoup.upstreams.change(last.upstream, { status: 'off' });
  }
});
