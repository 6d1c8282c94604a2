// The state of an upstream in one word, why, and when it is back: from every check that fails, the one that lasts longest first.

import type { Tone } from '../../parts/tone.ts';
import type { Upstream } from '../../types.ts';
import { clock, duration, number, spaced } from '../../words.ts';

export type Word =
  | 'ready'
  | 'busy'
  | 'trying'
  | 'cooling'
  | 'used up'
  | 'needs a person'
  | 'draining'
  | 'off'
  | 'retired';
type Failing = Upstream['failing'][number];

export const ORDER: readonly Word[] = [
  'ready',
  'busy',
  'trying',
  'cooling',
  'used up',
  'needs a person',
  'draining',
  'off',
  'retired',
];
export const TONES: Record<Word, Tone> = {
  ready: 'good',
  busy: 'good',
  trying: 'cooling',
  cooling: 'cooling',
  'used up': 'cooling',
  'needs a person': 'bad',
  draining: 'plain',
  off: 'plain',
  retired: 'plain',
};

const OF_CHECK: Record<Failing['check'], Word> = {
  off: 'off',
  draining: 'draining',
  retired: 'retired',
  blocked: 'cooling',
  trial: 'trying',
  quota: 'used up',
  slots: 'busy',
  gated: 'trying',
};

const wordOf = (failing: Failing): Word => (failing.policy === 'manual' ? 'needs a person' : OF_CHECK[failing.check]);

export function stateOf({ failing }: Upstream): { word: Word; because: Failing | null } {
  const worst = failing.toSorted((a, b) => ORDER.indexOf(wordOf(b)) - ORDER.indexOf(wordOf(a)))[0];
  return worst ? { word: wordOf(worst), because: worst } : { word: 'ready', because: null };
}

export function becauseOf(failing: Failing | null): string {
  if (failing === null || /^(off|draining|retired)$/.test(failing.check)) return failing?.reason ?? '';
  if (failing.check === 'quota')
    return `${number(failing.used ?? 0)} of ${number(failing.amount ?? 0)} ${failing.unit ?? ''} of ${failing.limit}`;
  const parts = [failing.kind && spaced(failing.kind), failing.scope && `for ${failing.scope}`, failing.reason];
  const of =
    failing.subject && !failing.subject.startsWith('upstream:') ? `on the ${failing.subject.replace(':', ' ')}` : '';
  return [parts.filter(Boolean).join(' · ') || spaced(failing.check), of].filter(Boolean).join(' ');
}

const SAYS: Record<string, string> = {
  retry_after: 'the provider says',
  reset_announced: 'the provider says',
  window: 'the next window',
  backoff: 'estimated',
  operator: 'a person says',
};

/** When it is back, and who says so; the word belongs to the value wherever it is shown. */
export function backOf(upstream: Upstream, now: number): string {
  const { expectedRecoveryAt: at, estimate, usable } = upstream;
  if (usable) return '';
  if (upstream.status !== 'on') return 'when a person switches it on';
  if (at === null) return 'no estimate: a person first';
  const left = Date.parse(at) - now;
  const says = estimate ? (SAYS[estimate.source] ?? 'estimated') : 'estimated';
  if (left <= 0) return `due ${duration(-left)} ago, ${says}`;
  const range = estimate?.range ? `, likely ${clock(estimate.range.from)}–${clock(estimate.range.to)}` : '';
  return left < 3_600_000
    ? `in ${left < 120_000 ? '' : 'about '}${duration(left)}, ${says}${range}`
    : `${clock(at)}, ${says}${range}`;
}

/** How many are usable from when on, as far as that is expected. */
export function forecastOf(
  upstreams: readonly Upstream[],
  now: number,
  withinMs: number,
): { at: number; usable: number }[] {
  let usable = upstreams.filter((one) => one.usable).length;
  const back = upstreams
    .filter((one) => !one.usable && one.expectedRecoveryAt !== null)
    .map(({ expectedRecoveryAt }) => Math.max(Date.parse(expectedRecoveryAt!), now))
    .filter((at) => at <= now + withinMs)
    .sort((a, b) => a - b);
  return [{ at: now, usable }, ...back.map((at) => ({ at, usable: ++usable }))];
}

const backAt = ({ expectedRecoveryAt: at }: Upstream) => (at === null ? Number.MAX_VALUE : Date.parse(at));

/** In the order of picking those that can be picked, then the others: what returns soonest first, what needs a person last. */
export function ranked(upstreams: readonly Upstream[]): { upstream: Upstream; rank: number | null }[] {
  const usable = upstreams.filter((one) => one.usable).map((upstream, index) => ({ upstream, rank: index + 1 }));
  const out = upstreams
    .filter((one) => !one.usable)
    .toSorted((a, b) => backAt(a) - backAt(b))
    .map((upstream) => ({ upstream, rank: null }));
  return [...usable, ...out];
}
