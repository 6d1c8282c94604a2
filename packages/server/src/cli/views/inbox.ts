// The inbox for a person: each item in a few lines, with what it costs, whose it is, what was remarked, and how to end it.
import type { InboxItem } from 'recoup';
import { more } from './tables.ts';
import { clean, clock, span, subjectOf, type Told, whenIs } from './words.ts';

type Item = Told<InboxItem>;

function said({ type, at, actor, until, note }: Item['notes'][number]): string {
  const did =
    type === 'taken'
      ? ' took it'
      : type === 'noted'
        ? ''
        : until === null
          ? ' shows it again'
          : ` put it off until ${clock(until)}`;
  return `${clock(at)} ${actor}${did}${note === null ? '' : `: ${note}`}`;
}

/** The command that ends it when the next step is done. */
const ends = ({ kind, subject, block }: Item) =>
  /^auth_(expired|revoked)$/.test(kind) && subject.startsWith('upstream:')
    ? `recoup upstreams replace-credential ${subject.slice('upstream:'.length)}`
    : `recoup upstreams free ${block}`;

/** A label and a text below an item. */
const line = (label: string, text: string) => `  ${label.padEnd(8)}${clean(text)}`;

function lines(one: Item): string[] {
  const { item, since, subject, scope, kind, reason, nextStep, contradictedAt, owner, snoozedUntil } = one;
  const ago = span(Date.now() - new Date(since).getTime());
  const costs = one.pools.map(({ pool, usable, all }) => `pool ${pool}: ${usable} of ${all} usable`).join(', ');
  return [
    clean(`${item}  ${subjectOf(subject, scope)}: ${kind}, for ${ago}`),
    ...(reason === null ? [] : [line('said:', reason)]),
    ...(costs === '' ? [] : [line('costs:', costs)]),
    line('owner:', owner ?? 'nobody'),
    ...(snoozedUntil === null ? [] : [line('off:', `until ${whenIs(snoozedUntil)}`)]),
    ...(contradictedAt === null
      ? []
      : [line('but:', `something speaks against it since ${whenIs(contradictedAt)}: look whether it is still so`)]),
    ...one.notes.map((note) => line('note:', said(note))),
    line('do:', `${nextStep === null ? '' : `${nextStep}; then `}${ends(one)}`),
  ];
}

/** By the name of the operation. */
export const inboxViews = {
  'inbox.list': ({ items, cursor }: { items: Item[]; cursor: string | null }) =>
    items.length === 0
      ? 'Nothing needs a person.'
      : [items.map((one) => lines(one).join('\n')).join('\n\n'), ...more(cursor)].join('\n'),
};
