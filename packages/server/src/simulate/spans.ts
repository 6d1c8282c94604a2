// Spans of time: when a block kept its subject out, when it let trials in; and what of several is the worst at each instant.
import type { Event } from './events.ts';

/** From the best to the worst. `partly_out`: a model or a capability is. */
export const STATES = ['usable', 'half_open', 'partly_out', 'out'] as const;
export type State = (typeof STATES)[number];

export interface Span {
  state: State;
  from: Date;
  to: Date;
}

/** The spans of one block, from its events; what is still open goes to the end of the recording. */
export function spansOf(events: readonly Event[], end: Date): Span[] {
  const spans: Span[] = [];
  const add = (state: State, from: number, to: number) => {
    if (from < to) spans.push({ state, from: new Date(from), to: new Date(to) });
  };
  for (const [index, { type, at, until, scope }] of events.entries()) {
    if (type === 'closed') break;
    const from = at.getTime();
    const to = (events[index + 1]?.at ?? end).getTime();
    const due = Math.min(Math.max(until?.getTime() ?? to, from), to);
    add(scope === '' ? 'out' : 'partly_out', from, due);
    add('half_open', due, to);
  }
  return spans;
}

/** From `from` to `to` without a gap, at each instant the worst of them; neighbors differ. */
export function worst(spans: readonly Span[], from: Date, to: Date): Span[] {
  const edges = [from, to, ...spans.flatMap((span) => [span.from, span.to])].map((at) => at.getTime());
  const cuts = [...new Set(edges)].filter((ms) => ms >= from.getTime() && ms <= to.getTime()).sort((a, b) => a - b);
  const starts = [...spans].sort((one, other) => one.from.getTime() - other.from.getTime());
  const merged: Span[] = [];
  let open: Span[] = [];
  let next = 0;
  for (const [index, cut] of cuts.slice(0, -1).entries()) {
    while (next < starts.length && starts[next]!.from.getTime() <= cut) open.push(starts[next++]!);
    open = open.filter((span) => span.to.getTime() > cut);
    const state = worstOf(open);
    const last = merged.at(-1);
    const until = new Date(cuts[index + 1]!);
    if (last?.state === state) last.to = until;
    else merged.push({ state, from: new Date(cut), to: until });
  }
  return merged;
}

export const worstOf = (spans: readonly Pick<Span, 'state'>[]): State =>
  STATES[Math.max(0, ...spans.map(({ state }) => STATES.indexOf(state)))]!;

export const lengthOf = (spans: readonly Span[], state: State): number =>
  spans.reduce((ms, span) => ms + (span.state === state ? span.to.getTime() - span.from.getTime() : 0), 0);
