// Operations on queues: configure, the settings in force, what waits.
import Type from 'typebox';
import { type Operation, operation } from './operation.ts';
import * as s from './schemas.ts';

const settings = {
  refundOn: s.oneOf(['failure', 'final'], 'When the price of a failed job goes back.'),
  backoffBaseMs: s.durationMs('Back-off before the second run.'),
  backoffMaxMs: s.durationMs('The longest back-off.'),
  retryAfterMaxMs: s.durationMs('The longest that a Retry-After may postpone the next run.'),
  maxFailures: s.count('After this many failures a job is a dead letter.', 1, 1_000_000),
  maxReleases: s.count('How often a job may be given back unfinished.', 0, 1_000_000),
  leaseMs: s.durationMs('The length of a lease.', 100, 86_400_000),
  paused: s.flag('Nothing is leased; what runs goes on.'),
  pool: s.orNull(
    s.id('The pool whose upstreams its jobs run on: each is leased together with one, or not at all; null: none.'),
  ),
  maxUpstreamErrors: s.count(
    'How often a job may go back to its place for trouble of its upstream that it may have caused (5xx, no answer); then that is a failure.',
    0,
    1_000_000,
  ),
};
const Settings = s.fields(settings, { title: 'QueueSettings' });

export const queues: readonly Operation[] = [
  operation({
    name: 'queues.list',
    summary: 'What waits in each queue',
    description: 'Reads every job that has not ended: for people, not for loops.',
    scopes: ['viewer', 'support', 'operator'],
    method: 'GET',
    path: '/v1/queues',
    params: s.none,
    query: s.none,
    body: null,
    output: s.fields({
      queues: Type.Array(
        s.fields(
          {
            queue: Type.String(),
            ready: Type.Integer(),
            later: Type.Integer(),
            running: Type.Integer(),
            waiting: Type.Integer(),
            dead: Type.Integer(),
            oldestReadyMs: s.orNull(Type.Integer()),
          },
          { title: 'QueueDepth' },
        ),
      ),
    }),
    errors: [],
    run: async ({ recoup }) => ({ queues: await recoup.queues.list() }),
  }),
  operation({
    name: 'queues.get',
    summary: 'The settings in force for a queue: its own, or those of `*`',
    scopes: ['app', 'worker', 'viewer', 'support', 'operator'],
    method: 'GET',
    path: '/v1/queues/{queue}',
    params: s.fields({ queue: s.queue }),
    query: s.none,
    body: null,
    output: Settings,
    errors: [],
    run: ({ recoup }, { queue }) => recoup.queues.get(queue),
  }),
  operation({
    name: 'queues.configure',
    summary: 'Set what is given and leave the rest; `*` is for all queues without their own settings',
    scopes: ['operator'],
    method: 'PATCH',
    path: '/v1/queues/{queue}',
    params: s.fields({ queue: s.queue }),
    query: s.none,
    body: Type.Partial(s.fields(settings), { additionalProperties: false }),
    output: Settings,
    errors: [],
    run: ({ recoup }, { queue, ...changes }) => recoup.queues.configure(queue, changes),
  }),
];
