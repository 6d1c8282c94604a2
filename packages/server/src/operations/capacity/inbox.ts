// Operations on the inbox: what needs a person, who cares, until when it is put off.
import { InvalidInput } from 'recoup';
import Type from 'typebox';
import { type Operation, operation } from '../operation.ts';
import * as s from '../schemas.ts';

const maybeText = s.orNull(Type.String());
const itemKey = s.fields({ item: s.id('The item, as the list names it: `block:12`.') });
const actor = Type.String({ minLength: 1, maxLength: 200, description: 'Who says so.' });
const remark = Type.String({ minLength: 1, maxLength: 2000, description: 'A remark, for whoever looks next.' });
const note = s.optional(remark);

const InboxItem = s.fields(
  {
    item: Type.String(),
    since: s.instant(),
    subject: Type.String({ description: 'What is out: `upstream:…`, `provider:…`.' }),
    scope: Type.String({ description: 'Empty: everything; else `model:…`, `capability:…`.' }),
    kind: Type.String(),
    reason: maybeText,
    nextStep: s.orNull(Type.String({ description: 'What a person can do.' })),
    block: Type.Integer({ description: 'Free it by this number, when it is done.' }),
    generation: Type.Integer({ description: 'Give it back when you free the block: what changed since stays.' }),
    contradictedAt: s.orNull(
      s.instant('Since when a success or a read-out speaks against it: look whether it is still so.'),
    ),
    owner: s.orNull(Type.String({ description: 'Who took it last.' })),
    snoozedUntil: s.orNull(s.instant()),
    pools: Type.Array(
      s.fields({
        pool: Type.String(),
        usable: Type.Integer({ description: 'Upstreams of it that are usable now, in this scope.' }),
        all: Type.Integer({ description: 'Of so many.' }),
      }),
      { description: 'What it costs.' },
    ),
    notes: Type.Array(
      s.fields({
        number: Type.Integer(),
        type: s.oneOf(['taken', 'snoozed', 'noted']),
        at: s.instant(),
        actor: Type.String(),
        until: s.orNull(s.instant()),
        note: maybeText,
      }),
      { description: 'Oldest first.' },
    ),
  },
  { title: 'InboxItem' },
);

export const inbox: readonly Operation[] = [
  operation({
    name: 'inbox.list',
    summary: 'What needs a person now, oldest first, page by page',
    description: 'An item is there for as long as what it is about: it goes when that is over, by whatever way.',
    scopes: ['viewer', 'support', 'operator'],
    method: 'GET',
    path: '/v1/inbox',
    params: s.none,
    query: s.fields({
      pool: s.optional(s.id('Only what concerns this pool.')),
      owner: s.optional(s.text('Only what this person took.', 200)),
      unowned: s.optional(s.flag('Only what nobody took; not beside `owner`.')),
      snoozed: s.optional(s.flag('Those that are put off, instead of those that are not.')),
      cursor: s.optional(s.id('Where to go on: the `cursor` of the page before, an item.')),
      limit: s.limit,
    }),
    body: null,
    output: s.fields({ items: Type.Array(InboxItem), cursor: s.nextCursor }, { title: 'InboxPage' }),
    errors: [],
    run: async ({ recoup }, { cursor, unowned, limit = 100, ...filter }) => {
      if (unowned && filter.owner !== undefined) throw new InvalidInput('unowned', 'give owner or unowned, not both');
      const items = await recoup.inbox.list({
        ...filter,
        limit,
        ...(unowned ? { owner: null } : {}),
        ...(cursor === undefined ? {} : { after: cursor }),
      });
      return { items, cursor: items.length === limit ? items.at(-1)!.item : null };
    },
  }),
  operation({
    name: 'inbox.take',
    summary: 'Say that you care about an item',
    description: '`held`: somebody else does, the `owner`, and stays; with `force` it is yours.',
    scopes: ['operator'],
    method: 'POST',
    path: '/v1/inbox/{item}/take',
    params: itemKey,
    query: s.none,
    body: s.fields({ actor, force: s.optional(s.flag('Take it from whoever has it.')), note }),
    output: s.fields({ outcome: s.outcome('inbox.take'), owner: maybeText }, { title: 'Taken' }),
    errors: ['no_item'],
    run: ({ recoup }, { item, ...input }) => recoup.inbox.take(item, input),
  }),
  operation({
    name: 'inbox.snooze',
    summary: 'Put an item off until then, or show it again',
    description: 'It comes back earlier where something speaks against it. Without `until` and `forMs` it is `woken`.',
    scopes: ['operator'],
    method: 'POST',
    path: '/v1/inbox/{item}/snooze',
    params: itemKey,
    query: s.none,
    body: s.fields({
      actor,
      until: s.optional(s.instant('RFC 3339. Until when; not beside `forMs`.')),
      forMs: s.optional(s.durationMs('For how long.', 1)),
      note,
    }),
    output: s.fields({ outcome: s.outcome('inbox.snooze') }),
    errors: ['no_item'],
    run: ({ recoup }, { item, until, ...input }) =>
      recoup.inbox.snooze(item, { ...input, ...(until === undefined ? {} : { until: new Date(until) }) }),
  }),
  operation({
    name: 'inbox.note',
    summary: 'Leave a remark on an item',
    description: 'With a `key` of yours it is there once, however often it is said.',
    scopes: ['operator'],
    method: 'POST',
    path: '/v1/inbox/{item}/note',
    params: itemKey,
    query: s.none,
    body: s.fields({ actor, note: remark, key: s.optional(s.id('A key of yours.')) }),
    output: s.fields(
      { outcome: s.outcome('inbox.note'), number: s.orNull(Type.Integer({ description: 'Which of its notes.' })) },
      { title: 'Remarked' },
    ),
    errors: ['no_item'],
    run: ({ recoup }, { item, ...input }) => recoup.inbox.note(item, input),
  }),
];
