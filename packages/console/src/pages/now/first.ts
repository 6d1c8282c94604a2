// What to do first: everything that is wrong now, ranked by what it stops and for how long, five at most.
import type { Alert, InboxItem, Job } from '../../types.ts';
import { age, number, plural, spaced } from '../../words.ts';
import { groupsOf } from '../dead-letters/groups.ts';

export interface Todo {
  id: string;
  says: string;
  /** Where it is resolved. */
  to: '/inbox' | '/dead-letters' | '/pools';
  search?: Record<string, string>;
  weight: number;
}

export interface Facts {
  items: readonly InboxItem[];
  dead: readonly Job[];
  alerts: readonly Alert[];
  now: number;
}

const AT_MOST = 5;
const HOUR_MS = 3_600_000;

function ofItem({ item, subject, kind, since, pools }: InboxItem, now: number): Todo {
  const hours = (now - Date.parse(since)) / HOUR_MS;
  const out = pools.filter(({ usable }) => usable === 0).map(({ pool }) => pool);
  const cost = out.length > 0 ? ` – ${out.join(', ')} cannot serve` : '';
  return {
    id: item,
    says: `${subject.replace(/^upstream:/, '')}: ${spaced(kind)}${cost}, for ${age(since, now)}`,
    to: '/inbox',
    weight: (out.length > 0 ? 1000 : 100) + Math.min(hours, 90),
  };
}

/** Whether something else says it already: an item of the inbox, or that all of it is used up. */
const toldElsewhere = ({ kind, subject }: Alert, all: readonly Alert[]) =>
  kind === 'blocked_long' ||
  (kind === 'near_exhausted' && all.some((other) => other.kind === 'exhausted' && other.subject === subject));

export function firstOf({ items, dead, alerts, now }: Facts): Todo[] {
  const letters = groupsOf(dead).map(
    ({ queue, reason, count, atStake }): Todo => ({
      id: `dead ${queue} ${reason}`,
      says: `${plural(count, 'dead letter')} of ${queue ?? 'no queue'}: ${reason ?? 'no reason given'}${atStake > 0 ? ` – ${number(atStake)} refunded` : ''}`,
      to: '/dead-letters',
      search: { ...(queue === null ? {} : { queue }), ...(reason === null ? {} : { reason }) },
      weight: 50 + Math.min(count, 400) / 2,
    }),
  );
  const fired = alerts
    .filter((alert) => !toldElsewhere(alert, alerts))
    .map(
      ({ kind, subject, number: nth, firedAt }): Todo => ({
        id: `${kind} ${subject} ${nth}`,
        says: `${spaced(kind)}: ${subject.replace(':', ' ')}, for ${age(firedAt, now)}`,
        to: '/pools',
        weight: 40,
      }),
    );
  return [...items.map((item) => ofItem(item, now)), ...letters, ...fired]
    .sort((a, b) => b.weight - a.weight)
    .slice(0, AT_MOST);
}
