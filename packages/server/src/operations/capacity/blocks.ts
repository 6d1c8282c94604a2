// Operations of people on blocks: which are open, take an upstream out by hand, end a block.
import { BLOCK_POLICIES, BLOCK_SUBJECTS } from 'recoup';
import Type from 'typebox';
import { type Operation, operation } from '../operation.ts';
import * as s from '../schemas.ts';
import * as c from './schemas.ts';

export const blocks: readonly Operation[] = [
  operation({
    name: 'blocks.list',
    summary: 'Blocks that are open, oldest first, page by page',
    scopes: ['viewer', 'support', 'operator'],
    method: 'GET',
    path: '/v1/blocks',
    params: s.none,
    query: s.fields({
      policy: s.optional(s.oneOf(BLOCK_POLICIES, '`manual`: those that wait for a person.')),
      kind: s.optional(s.id('Only of this class of trouble.')),
      subject: s.optional(s.oneOf(BLOCK_SUBJECTS, 'Only those on such subjects.')),
      cursor: s.optional(s.amount('Where to go on: the `cursor` of the page before.', 1)),
      limit: s.limit,
    }),
    body: null,
    output: s.fields({ blocks: Type.Array(c.Block), cursor: s.orNull(Type.Integer()) }, { title: 'BlockPage' }),
    errors: [],
    run: ({ recoup }, input) => recoup.upstreams.blocks(input),
  }),
  operation({
    name: 'upstreams.block',
    summary: 'Take an upstream out by hand, until it is freed by hand',
    scopes: ['operator'],
    method: 'POST',
    path: '/v1/upstreams/{upstream}/block',
    params: c.upstreamKey,
    query: s.none,
    body: s.fields({
      reason: s.report('Why, for people.'),
      actor: c.actor,
    }),
    output: s.fields({
      outcome: s.oneOf(['blocked', 'duplicate']),
      block: Type.Integer({ description: 'Free it by this number.' }),
    }),
    errors: ['no_upstream', 'upstream_busy'],
    run: async ({ recoup }, { upstream, ...why }) => {
      const { outcome, block } = await recoup.upstreams.block(upstream, why);
      return { outcome, block };
    },
  }),
  operation({
    name: 'upstreams.free',
    summary: 'End a block, with who and why',
    description:
      'With the `generation` that was seen, what changed since stays (`duplicate`). A manual block ends only as `operator` or `credential`.',
    scopes: ['operator'],
    method: 'POST',
    path: '/v1/blocks/{block}/free',
    params: s.fields({ block: c.block }),
    query: s.none,
    body: s.fields({
      as: s.optional(
        s.oneOf(['operator', 'credential', 'probe', 'snapshot'], 'On what evidence; `operator` unless set.'),
      ),
      generation: s.optional(s.count('The generation of the block that was seen.', 1, 2_147_483_647)),
      reason: s.optional(s.report('Why, for people.')),
      actor: c.actor,
    }),
    output: s.fields({ outcome: s.outcome('block.close') }),
    errors: ['no_block', 'manual_block', 'upstream_busy'],
    run: ({ recoup }, { block, ...how }) => recoup.upstreams.free(block, how),
  }),
];
