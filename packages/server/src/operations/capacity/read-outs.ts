// Operations on what providers say of their own windows: note it, read the latest.
import { Refusal } from 'recoup';
import Type from 'typebox';
import { type Operation, operation } from '../operation.ts';
import * as s from '../schemas.ts';
import { answer, answerOf } from './answers.ts';
import * as c from './schemas.ts';

const KINDS = ['short', 'daily', 'weekly', 'monthly', 'other', 'unknown'] as const;

const windowFields = s.fields({
  name: s.id('As the provider calls it.'),
  used: s.optional(s.orNull(Type.Number({ minimum: 0, maximum: 1000, description: 'Used part: 1 is all of it.' }))),
  resetsAt: s.optional(s.orNull(s.instant('RFC 3339.'))),
  exhausted: s.optional(s.flag('Used up; unless set, whether `used` is 1 or more.')),
  kind: s.optional(s.oneOf(KINDS)),
  lengthMs: s.optional(s.orNull(s.durationMs('How long the window is.', 1))),
  scope: s.optional(s.text('Only a model or a capability: `model:…`, `capability:…`; everything unless set.', 200)),
});

export const readOuts: readonly Operation[] = [
  operation({
    name: 'upstreams.note',
    summary: 'Say what a provider tells of its own windows, apart from a use',
    description:
      'Give `snapshots` or an `answer`. A window that is not used up ends a `snapshot` block of its scope; nothing goes back in time: `duplicate`, newer is known.',
    scopes: ['worker', 'operator'],
    method: 'POST',
    path: '/v1/upstreams/{upstream}/note',
    params: c.upstreamKey,
    query: s.none,
    body: s.fields({
      snapshots: s.optional(Type.Array(windowFields, { maxItems: 100, description: 'The windows.' })),
      answer: s.optional(answer),
      subject: s.optional(s.oneOf(['upstream', 'quota_group'], 'Whose quota it is; `upstream` unless set.')),
      startedAt: s.optional(s.instant('RFC 3339. When the request for it started.')),
      elapsedMs: s.optional(s.durationMs('How long ago the request started.')),
      observedAt: s.optional(s.instant('RFC 3339. When the `snapshots` were observed; now unless set.')),
      ...c.use,
      actor: c.actor,
    }),
    output: s.fields(
      {
        outcome: s.outcome('snapshot.note'),
        closed: Type.Integer({ description: 'How many blocks it closed.' }),
        dropped: Type.Array(c.Dropped),
      },
      { title: 'Noted' },
    ),
    errors: ['no_upstream', 'upstream_busy'],
    run: ({ recoup }, { startedAt, observedAt, snapshots, answer: given, ...rest }) =>
      recoup.upstreams.note({
        ...rest,
        ...(startedAt === undefined ? {} : { startedAt: new Date(startedAt) }),
        ...(observedAt === undefined ? {} : { observedAt: new Date(observedAt) }),
        ...(given === undefined ? {} : { answer: answerOf(given) }),
        ...(snapshots === undefined
          ? {}
          : {
              snapshots: snapshots.map(({ resetsAt, ...one }) => ({
                ...one,
                resetsAt: (resetsAt ?? null) === null ? null : new Date(resetsAt as string),
              })),
            }),
      }),
  }),
  operation({
    name: 'upstreams.snapshots',
    summary: 'The latest that is known of each window of an upstream at its provider',
    description: 'Its own, and those of its group.',
    scopes: ['viewer', 'support', 'operator'],
    method: 'GET',
    path: '/v1/upstreams/{upstream}/snapshots',
    params: c.upstreamKey,
    query: s.none,
    body: null,
    output: s.fields(
      {
        snapshots: Type.Array(
          s.fields(
            {
              subject: Type.String({ description: '`upstream:…` or `quota_group:…`.' }),
              scope: Type.String({ description: 'Empty: everything.' }),
              name: Type.String(),
              kind: s.oneOf(KINDS),
              lengthMs: s.orNull(Type.Integer()),
              used: s.orNull(Type.Number({ description: 'Used part: 1 is all of it.' })),
              exhausted: s.flag('Used up.'),
              resetsAt: s.orNull(s.instant('When the provider says that it begins anew.')),
              observedAt: s.instant(),
            },
            { title: 'KnownWindow' },
          ),
        ),
      },
      { title: 'Snapshots' },
    ),
    errors: ['no_upstream'],
    run: async ({ recoup }, { upstream }) => {
      const snapshots = await recoup.upstreams.snapshots(upstream);
      if (snapshots.length === 0 && (await recoup.upstreams.explain({ upstream })).length === 0)
        throw new Refusal('no_upstream', undefined, { upstream });
      return { snapshots };
    },
  }),
];
