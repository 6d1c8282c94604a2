// Operations on limits: how much of a unit a subject may use in a window; what is used of it; a window that a person ends.
import { LIMIT_KINDS, type LimitSubject, Refusal, type SetLimit } from 'recoup';
import Type from 'typebox';
import { type Operation, operation } from '../operation.ts';
import * as s from '../schemas.ts';
import * as c from './schemas.ts';

const limitKey = s.fields({ limit: s.id('The id of the limit, yours.') });
/** Whose limit it is: one of these. */
const subject = {
  upstream: s.optional(s.id('Of this upstream.')),
  quotaGroup: s.optional(s.id('Of this quota group.')),
  provider: s.optional(s.id('Of this provider.')),
  route: s.optional(s.id('Of this route.')),
};

const Limit = s.fields(
  {
    limit: Type.String(),
    subject: Type.String({ description: 'Whose it is: `upstream:…`, `quota_group:…`, `provider:…`, `route:…`.' }),
    scope: Type.String({ description: 'Empty: everything; else `model:…`, `capability:…`.' }),
    unit: Type.String(),
    amount: Type.Integer({ description: 'What may be used in a window.' }),
    used: Type.Integer({ description: 'What is used in the window now.' }),
    kind: s.oneOf(LIMIT_KINDS),
    zone: s.orNull(Type.String()),
    startHour: s.orNull(Type.Integer()),
    weekday: s.orNull(Type.Integer()),
    day: s.orNull(Type.Integer()),
    lengthMs: s.orNull(Type.Integer()),
    windowStart: s.orNull(s.instant('Of the window now; null: none began, it is over, or it rolls.')),
    windowEnd: s.orNull(s.instant()),
    until: s.orNull(s.instant('Of one that is used up: when there is room again.')),
    endedAt: s.orNull(s.instant('Not null: it does not count any more.')),
  },
  { title: 'Limit' },
);

const LimitWindow = s.fields(
  {
    start: s.instant(),
    end: s.instant(),
    used: Type.Integer(),
    begunBy: s.oneOf(['use', 'roll', 'reset'], 'A use, the sweep, or a person.'),
    actor: s.orNull(Type.String()),
    reason: s.orNull(Type.String()),
  },
  { title: 'LimitWindow' },
);

export const limits: readonly Operation[] = [
  operation({
    name: 'limits.list',
    summary: 'The limits that concern a subject, with what is used of them now',
    description:
      'Name one subject. Of an upstream: also those of its group, provider and route. Limits that ended are in it, with `endedAt`.',
    scopes: ['viewer', 'support', 'operator'],
    method: 'GET',
    path: '/v1/limits',
    params: s.none,
    query: s.fields(subject),
    body: null,
    output: s.fields({ limits: Type.Array(Limit) }, { title: 'Limits' }),
    errors: [],
    run: async ({ recoup }, of) => ({ limits: await recoup.upstreams.limits.list(of as LimitSubject) }),
  }),
  operation({
    name: 'limits.get',
    summary: 'One limit, with what is used of it now and when there is room again',
    scopes: ['viewer', 'support', 'operator'],
    method: 'GET',
    path: '/v1/limits/{limit}',
    params: limitKey,
    query: s.none,
    body: null,
    output: Limit,
    errors: ['no_limit'],
    run: async ({ recoup }, { limit }) => {
      const [found] = await recoup.upstreams.limits.list({ limit });
      if (!found) throw new Refusal('no_limit', undefined, { limit });
      return found;
    },
  }),
  operation({
    name: 'limits.set',
    summary: 'Set how much may be used in a window',
    description:
      'A new amount counts at once; a new kind, zone or hour when the window ends that it is in. Subject, scope and unit never change: others are a `conflict`.',
    scopes: ['operator'],
    method: 'PUT',
    path: '/v1/limits/{limit}',
    params: limitKey,
    query: s.none,
    body: s.fields({
      ...subject,
      scope: s.optional(s.text('Only a model or a capability: `model:…`, `capability:…`.', 200)),
      unit: s.id('What is counted: `requests` are by themselves, anything else as reports say.'),
      amount: s.amount('What may be used in a window.', 1),
      kind: s.oneOf(LIMIT_KINDS, 'By the calendar, from the first use on, or the last so many ms (`rolling`).'),
      zone: s.optional(s.id('Of the calendar: an IANA time zone.')),
      startHour: s.optional(s.count('Of the calendar: the hour at which a window begins; 0 unless set.', 0, 23)),
      weekday: s.optional(s.count('Of `weekly`: 0 (Sunday) to 6.', 0, 6)),
      day: s.optional(s.count('Of `monthly`; where a month has no such day, its last.', 1, 31)),
      lengthMs: s.optional(s.durationMs('Of `first_use` (from a minute) and `rolling` (from a second).', 1000)),
    }),
    output: s.fields({ outcome: s.outcome('limit.set') }),
    created: 'set',
    errors: ['no_upstream', 'conflict', 'upstream_busy'],
    run: ({ recoup }, input) => recoup.upstreams.limits.set(input as SetLimit),
  }),
  operation({
    name: 'limits.end',
    summary: 'A limit does not count any more, until it is set again; its windows stay',
    scopes: ['operator'],
    method: 'POST',
    path: '/v1/limits/{limit}/end',
    params: limitKey,
    query: s.none,
    body: s.none,
    output: s.fields({ outcome: s.outcome('limit.end') }),
    errors: ['no_limit', 'upstream_busy'],
    run: ({ recoup }, { limit }) => recoup.upstreams.limits.end(limit),
  }),
  operation({
    name: 'limits.reset',
    summary: 'End the window of a limit now: nothing is used, and it goes on to the same end',
    description:
      'With the start of the `window` that was seen a repeat does it once: `duplicate` says that it is another one, or that nothing is used.',
    scopes: ['operator'],
    method: 'POST',
    path: '/v1/limits/{limit}/reset',
    params: limitKey,
    query: s.none,
    body: s.fields({
      window: s.optional(s.instant('RFC 3339. The `windowStart` that was seen.')),
      actor: c.actor,
      reason: c.reason,
    }),
    output: s.fields({ outcome: s.outcome('window.reset') }),
    errors: ['no_limit', 'upstream_busy'],
    run: ({ recoup }, { limit, window, ...who }) =>
      recoup.upstreams.limits.reset(limit, { ...who, ...(window === undefined ? {} : { window: new Date(window) }) }),
  }),
  operation({
    name: 'limits.windows',
    summary: 'The last windows of a limit, newest first: what was used in each, and who reset it',
    scopes: ['viewer', 'support', 'operator'],
    method: 'GET',
    path: '/v1/limits/{limit}/windows',
    params: limitKey,
    query: s.fields({ count: s.optional(s.count('How many; 100 unless set.', 1, 1000)) }),
    body: null,
    output: s.fields({ windows: Type.Array(LimitWindow) }, { title: 'LimitWindows' }),
    errors: ['no_limit'],
    run: async ({ recoup }, { limit, ...options }) => {
      const windows = await recoup.upstreams.limits.windows(limit, options);
      if (windows.length === 0 && (await recoup.upstreams.limits.list({ limit })).length === 0)
        throw new Refusal('no_limit', undefined, { limit });
      return { windows };
    },
  }),
];
