// Every transition of upstreams, blocks and the inbox as one call that can be made again.
import type { Case } from './every-transition.ts';
import { poolOf, soft } from './pools.ts';
import { newId, type Stage } from './stage.ts';

const upstream = async (s: Stage) => (await poolOf(s, 1)).names[0]!;
const selected = async (s: Stage) => (await s.recoup.upstreams.select({ pool: (await poolOf(s, 1)).pool })).lease!;
const failure = (of: string) => ({ upstream: of, success: false, elapsedMs: 60_000, block: soft });
const revoked = { kind: 'auth_revoked', policy: 'manual' } as const;
/** An open item of the inbox. */
const item = async (s: Stage) => {
  const { block } = await s.recoup.upstreams.report({ upstream: await upstream(s), success: false, block: revoked });
  return `block:${block}`;
};

export const CAPACITY_CASES: Readonly<Record<string, Case>> = {
  'upstream.register': {
    make: async () => {
      const register = { upstream: newId('upstream'), pool: newId('pool'), provider: 'x' };
      return ({ upstreams }) => upstreams.register(register);
    },
    first: 'registered',
    again: 'duplicate',
  },
  'upstream.replaceCredential': {
    make: async (s) => {
      const of = await upstream(s);
      await s.recoup.upstreams.report({ upstream: of, success: false, block: revoked });
      return ({ upstreams }) => upstreams.replaceCredential(of, { credentialRef: 'vault/new', actor: 'ann' });
    },
    first: 'replaced',
    again: 'duplicate',
  },
  'upstream.select': {
    make: async (s) => {
      const select = { pool: (await poolOf(s, 2)).pool, lease: newId('lease'), sticky: 'conversation' };
      return ({ upstreams }) => upstreams.select(select);
    },
    first: 'selected',
    again: 'selected',
  },
  'upstream.extend': {
    make: async (s) => {
      const lease = await selected(s);
      return ({ upstreams }) => upstreams.extend(lease, 90_000);
    },
    first: 'extended',
    again: 'extended',
  },
  'upstream.release': {
    make: async (s) => {
      const lease = await selected(s);
      return ({ upstreams }) => upstreams.release(lease);
    },
    first: 'released',
    again: 'duplicate',
  },
  'upstream.report': {
    make: async (s) => {
      const of = await upstream(s);
      return ({ upstreams }) => upstreams.report(failure(of));
    },
    first: 'blocked',
    again: 'duplicate',
  },
  'snapshot.note': {
    make: async (s) => {
      const of = await upstream(s);
      const block = { kind: 'quota_exhausted_upstream', policy: 'snapshot', forMs: 60_000 } as const;
      await s.recoup.upstreams.report({ ...failure(of), block });
      const observedAt = new Date();
      return ({ upstreams }) =>
        upstreams.note({ upstream: of, snapshots: [{ name: 'primary', used: 0.5 }], observedAt, elapsedMs: 0 });
    },
    first: 'noted',
    again: 'duplicate',
  },
  'block.close': {
    make: async (s) => {
      const { block } = await s.recoup.upstreams.report(failure(await upstream(s)));
      return ({ upstreams }) => upstreams.free(block!, { actor: 'ann' });
    },
    first: 'closed',
    again: 'duplicate',
  },
  'inbox.take': {
    make: async (s) => {
      const of = await item(s);
      return ({ inbox }) => inbox.take(of, { actor: 'ann' });
    },
    first: 'taken',
    again: 'duplicate',
  },
  'inbox.snooze': {
    make: async (s) => {
      const of = await item(s);
      const until = new Date(Date.now() + 3_600_000);
      return ({ inbox }) => inbox.snooze(of, { actor: 'ann', until });
    },
    first: 'snoozed',
    again: 'duplicate',
  },
  'inbox.note': {
    make: async (s) => {
      const of = await item(s);
      return ({ inbox }) => inbox.note(of, { actor: 'ann', note: 'asked the provider', key: 'ticket 7' });
    },
    first: 'noted',
    again: 'duplicate',
  },
};
