// Operations on the feed: pull it page by page, or have it streamed with resume.
import { setTimeout as sleep } from 'node:timers/promises';
import { ENTRY_TYPES } from 'recoup';
import Type from 'typebox';
import { type Context, type Operation, operation, type StreamEvent } from './operation.ts';
import * as s from './schemas.ts';

const EntryEvent = s.fields(
  {
    kind: s.oneOf(['entry']),
    wallet: Type.String(),
    seq: Type.Integer(),
    type: s.oneOf(ENTRY_TYPES),
    amount: Type.Integer(),
    balance: Type.Integer({ description: 'The running balance right after this entry.' }),
    job: s.orNull(Type.String()),
    key: s.orNull(Type.String()),
    reason: s.orNull(Type.String()),
    actor: s.orNull(Type.String()),
    at: s.instant(),
  },
  { title: 'EntryEvent', description: 'Money moved.' },
);
const orNullText = s.orNull(Type.String());
const LedgerEntry = s.fields(
  {
    wallet: Type.String(),
    customer: Type.String(),
    unit: Type.String(),
    seq: Type.Integer(),
    type: s.oneOf(ENTRY_TYPES),
    amount: Type.Integer(),
    balance: Type.Integer({ description: 'The running balance of the wallet right after this entry.' }),
    job: orNullText,
    key: orNullText,
    reason: orNullText,
    actor: orNullText,
    createdAt: s.instant('In UTC, with microseconds.'),
  },
  { title: 'LedgerEntry' },
);
const AttemptEvent = s.fields(
  {
    kind: s.oneOf(['attempt']),
    wallet: Type.String(),
    job: Type.String(),
    attempt: Type.Integer(),
    endedAs: s.Attempt.properties.endedAs,
    verdict: s.Attempt.properties.verdict,
    jobState: Type.String(),
    at: s.instant(),
  },
  { title: 'AttemptEvent', description: 'An attempt ended.' },
);
const Event = Type.Union([EntryEvent, AttemptEvent]);
const ended = Type.Boolean({ description: 'True: nothing more is there now; the cursor stays good for what comes.' });
const POLL_MS = 500;

/** Every event with its cursor, from a cursor on, and then what comes. */
async function* stream({ recoup, signal }: Context, from: string | null): AsyncGenerator<StreamEvent> {
  let cursor = from;
  while (!signal.aborted) {
    const page = await recoup.feed.readEach(cursor, 500);
    for (const { event, cursor: behind } of page) {
      yield { id: behind, event: event.kind, data: event };
      cursor = behind;
    }
    // The feed has no bell: what is final is known by reading.
    if (page.length === 0) {
      yield { event: 'idle', data: null };
      await sleep(POLL_MS, undefined, { signal }).catch(() => {});
    }
  }
}

export const feed: readonly Operation[] = [
  operation({
    name: 'feed.read',
    summary: 'The events behind a cursor: entries and ends of attempts, in one order',
    description:
      'Keep `cursor` and give it back next time; `ended` means that nothing new is final yet. Refused as `epoch_changed` after a restore or a failover: go on with the `cursor` of the refusal, null is from the beginning.',
    scopes: ['app', 'viewer', 'operator'],
    method: 'GET',
    path: '/v1/feed',
    params: s.none,
    query: s.fields({ cursor: s.cursor, limit: s.optional(s.count('At most this many; 500 unless set.', 1, 5000)) }),
    body: null,
    output: s.fields({ events: Type.Array(Event), cursor: s.nextCursor, ended }),
    errors: ['epoch_changed', 'epoch_needed'],
    run: async ({ recoup }, { cursor, limit }) => {
      const page = await recoup.feed.read(cursor ?? null, limit ?? 500);
      return { ...page, ended: page.events.length === 0 };
    },
  }),
  operation({
    name: 'feed.entries',
    summary: 'The ledger for other books: entries with customer and unit, page by page',
    description:
      'Without `wallet` and `customer` in the order of the feed, complete like it: keep the cursor for the next export. With one of them wallet by wallet. A page can be empty before `ended` is true.',
    scopes: ['app', 'viewer', 'support', 'operator'],
    method: 'GET',
    path: '/v1/entries',
    params: s.none,
    query: s.fields({
      wallet: s.optional(s.wallet),
      customer: s.optional(s.id('Only wallets of this customer.')),
      from: s.optional(s.instant('RFC 3339. Entries of this instant or later.')),
      to: s.optional(s.instant('RFC 3339. Entries before this instant.')),
      cursor: s.cursor,
      limit: s.optional(s.count('Looks at this many; 1,000 unless set.', 1, 5000)),
    }),
    body: null,
    output: s.fields(
      {
        entries: Type.Array(LedgerEntry),
        cursor: s.nextCursor,
        ended,
      },
      { title: 'LedgerPage' },
    ),
    errors: ['epoch_changed', 'epoch_needed'],
    run: ({ recoup }, { from, to, cursor, limit, ...filter }) => {
      const period = {
        ...(from === undefined ? {} : { from: new Date(from) }),
        ...(to === undefined ? {} : { to: new Date(to) }),
      };
      return recoup.feed.entries(
        { ...filter, ...period },
        { cursor: cursor ?? null, ...(limit === undefined ? {} : { limit }) },
      );
    },
  }),
  operation({
    name: 'feed.stream',
    summary: 'The feed as server-sent events; goes on behind Last-Event-ID',
    scopes: ['app', 'viewer', 'operator'],
    method: 'GET',
    path: '/v1/feed/stream',
    params: s.none,
    query: s.fields({ cursor: s.cursor }),
    body: null,
    output: Event,
    stream: 'sse',
    errors: ['epoch_changed', 'epoch_needed'],
    run: (context, { cursor }) => stream(context, lastEventId(context) ?? cursor ?? null),
  }),
];

function lastEventId({ raw }: Context): string | undefined {
  const given = raw?.headers['last-event-id'];
  return typeof given === 'string' && given !== '' ? given : undefined;
}
