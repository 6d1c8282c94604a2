// Operations on upstreams, the accounts at providers: register, change; what there are, why one is out, since when.
import { Refusal, UPSTREAM_STATUSES } from 'recoup';
import Type from 'typebox';
import { type Operation, operation } from '../operation.ts';
import * as s from '../schemas.ts';
import * as c from './schemas.ts';

const who = { actor: c.actor, reason: c.reason };

export const upstreams: readonly Operation[] = [
  operation({
    name: 'upstreams.list',
    summary: 'Upstreams by their ids, each with every check that fails, page by page',
    description:
      'With `usable` a page looks at 2,000 upstreams at most: it may be short, or empty, and go on. Only a `cursor` of null is the end.',
    scopes: ['viewer', 'support', 'operator'],
    method: 'GET',
    path: '/v1/upstreams',
    params: s.none,
    query: s.fields({
      pool: s.optional(c.pool),
      provider: s.optional(s.id('Only those at this provider.')),
      quotaGroup: s.optional(s.id('Only those of this group.')),
      status: s.optional(s.oneOf(UPSTREAM_STATUSES)),
      usable: s.optional(s.flag('Only those that may be used now, or only those that may not.')),
      cursor: s.optional(s.id('Where to go on: the `cursor` of the page before, an upstream.')),
      limit: s.limit,
    }),
    body: null,
    output: s.fields({ upstreams: Type.Array(c.Upstream), cursor: s.nextCursor }, { title: 'UpstreamPage' }),
    errors: [],
    run: ({ recoup }, input) => recoup.upstreams.list(input),
  }),
  operation({
    name: 'upstreams.register',
    summary: 'Make an upstream known, or set what is given of one that is',
    description:
      'What is left out stays, or takes its default. Pool and provider never change: another pool or provider is a `conflict`.',
    scopes: ['operator'],
    method: 'PUT',
    path: '/v1/upstreams/{upstream}',
    params: c.upstreamKey,
    query: s.none,
    body: s.fields({ pool: c.pool, provider: s.id('Whose account it is: `openai`, `fal` …'), ...c.settings, ...who }),
    output: s.fields({ outcome: s.outcome('upstream.register') }, { title: 'Registered' }),
    created: 'registered',
    errors: ['conflict', 'upstream_busy'],
    run: ({ recoup }, input) => recoup.upstreams.register(input),
  }),
  operation({
    name: 'upstreams.change',
    summary: 'Switch an upstream on or off, drain or retire it; change its settings',
    scopes: ['operator'],
    method: 'PATCH',
    path: '/v1/upstreams/{upstream}',
    params: c.upstreamKey,
    query: s.none,
    body: s.fields({
      status: s.optional(
        s.oneOf(UPSTREAM_STATUSES, '`draining`: nothing new, what is under way goes on. `retired`: for ever.'),
      ),
      ...c.settings,
      ...who,
    }),
    output: s.fields({ outcome: s.oneOf(['changed', 'duplicate']) }),
    errors: ['no_upstream', 'upstream_retired', 'upstream_busy'],
    run: ({ recoup }, { upstream, ...change }) => recoup.upstreams.change(upstream, change),
  }),
  operation({
    name: 'upstreams.replaceCredential',
    summary:
      'Another credential, or another secret behind the same reference: what was blocked because of the old one is open again',
    description:
      'Failures of requests with the old one change nothing any more. `duplicate`: that reference, and nothing was blocked.',
    scopes: ['operator'],
    method: 'POST',
    path: '/v1/upstreams/{upstream}/credential',
    params: c.upstreamKey,
    query: s.none,
    body: s.fields({ credentialRef: c.settings.credentialRef, ...who }),
    output: s.fields(
      {
        outcome: s.outcome('upstream.replaceCredential'),
        closed: Type.Integer({ description: 'How many blocks it closed.' }),
      },
      { title: 'CredentialReplaced' },
    ),
    errors: ['no_upstream', 'upstream_retired', 'upstream_busy'],
    run: ({ recoup }, { upstream, ...input }) => recoup.upstreams.replaceCredential(upstream, input),
  }),
  operation({
    name: 'upstreams.explain',
    summary: 'Why an upstream may or may not be used now: every check that fails, and when it is expected back',
    scopes: ['viewer', 'support', 'operator'],
    method: 'GET',
    path: '/v1/upstreams/{upstream}/explain',
    params: c.upstreamKey,
    query: s.fields(c.use),
    body: null,
    output: c.Upstream,
    errors: ['no_upstream'],
    run: async ({ recoup }, input) => {
      const [found] = await recoup.upstreams.explain(input);
      if (!found) throw new Refusal('no_upstream', undefined, { upstream: input.upstream });
      return found;
    },
  }),
  operation({
    name: 'upstreams.history',
    summary:
      'Who changed an upstream, who blocked it and who freed it, when, on what evidence; newest first, page by page',
    description: 'Blocks of its group, provider and route are in it.',
    scopes: ['viewer', 'support', 'operator'],
    method: 'GET',
    path: '/v1/upstreams/{upstream}/history',
    params: c.upstreamKey,
    query: s.fields({
      cursor: s.cursor,
      limit: s.limit,
      oldestFirst: s.optional(s.flag('From the first one on.')),
    }),
    body: null,
    output: s.fields({ events: Type.Array(c.BlockEvent), cursor: s.nextCursor }, { title: 'HistoryPage' }),
    errors: ['no_upstream'],
    run: ({ recoup }, { upstream, ...options }) => recoup.upstreams.historyPage(upstream, options),
  }),
];
