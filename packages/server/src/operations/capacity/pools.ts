// Operations on pools: in figures, whether one can be used now and when it is back, why its upstreams are out.
import Type from 'typebox';
import { type Operation, operation } from '../operation.ts';
import * as s from '../schemas.ts';
import * as c from './schemas.ts';

export const pools: readonly Operation[] = [
  operation({
    name: 'pools.list',
    summary: 'Pools by their names: how many upstreams each has, how many are usable now, when it is back',
    description: 'Looks at every upstream that may be usable: for people, not for loops.',
    scopes: ['viewer', 'support', 'operator'],
    method: 'GET',
    path: '/v1/pools',
    params: s.none,
    query: s.fields({
      cursor: s.optional(s.id('Where to go on: the `cursor` of the page before, a pool.')),
      limit: s.limit,
    }),
    body: null,
    output: s.fields(
      {
        pools: Type.Array(
          s.fields(
            {
              pool: Type.String(),
              total: Type.Integer({ description: 'Upstreams that are not retired.' }),
              on: Type.Integer({ description: 'Of those, switched on.' }),
              usable: Type.Integer({ description: 'Of those, usable now.' }),
              slotsOut: Type.Integer(),
              expectedRecoveryAt: c.expectedRecoveryAt('Now where one is usable; null: every one needs a person.'),
            },
            { title: 'Pool' },
          ),
        ),
        cursor: s.nextCursor,
      },
      { title: 'PoolPage' },
    ),
    errors: [],
    run: ({ recoup }, input) => recoup.upstreams.pools(input),
  }),
  operation({
    name: 'pools.get',
    summary: 'Whether a pool can be used now, and when it is back',
    description:
      'A pool is there by its upstreams: one that has none cannot be used. `Retry-After` says when to ask again.',
    scopes: ['app', 'worker', 'viewer', 'support', 'operator'],
    method: 'GET',
    path: '/v1/pools/{pool}',
    params: c.poolKey,
    query: s.fields(c.use),
    body: null,
    output: s.fields(
      {
        pool: Type.String(),
        usable: s.flag('Whether one of its upstreams may be used now.'),
        retryAfterMs: s.orNull(
          Type.Integer({ description: 'When to ask again, at most 300,000; null: it is usable.' }),
        ),
        expectedRecoveryAt: c.expectedRecoveryAt('Now where it is usable; null: every upstream needs a person.'),
        estimate: c.estimate,
      },
      { title: 'PoolState' },
    ),
    retryAfter: true,
    errors: [],
    run: ({ recoup }, { pool, ...use }) => recoup.upstreams.pool(pool, use),
  }),
  operation({
    name: 'pools.explain',
    summary: 'The upstreams of a pool in the order of picking, each with every check that fails',
    scopes: ['viewer', 'support', 'operator'],
    method: 'GET',
    path: '/v1/pools/{pool}/explain',
    params: c.poolKey,
    query: s.fields({ ...c.use, limit: s.limit }),
    body: null,
    output: s.fields({ upstreams: Type.Array(c.Upstream) }),
    errors: [],
    run: async ({ recoup }, { limit = 100, ...of }) => ({
      upstreams: await recoup.upstreams.explain({ ...of, limit }),
    }),
  }),
];
