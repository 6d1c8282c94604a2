// What a simulation comes to: per upstream its timeline and figures, every block, and what needs a person.
import type { InboxItem } from 'recoup';
import type { Event } from './events.ts';
import type { Account, Recorded, Recording } from './recording.ts';
import type { Ran, Told } from './run.ts';
import { lengthOf, type Span, spansOf, worst, worstOf } from './spans.ts';

export interface SimulatedBlock extends Pick<Event, 'block' | 'subject' | 'scope' | 'kind' | 'source' | 'policy'> {
  openedAt: Date;
  /** When its time is up, or was when it closed; null: a person ends it. */
  until: Date | null;
  step: number;
  closedAt: Date | null;
  closedAs: string | null;
  /** How long it kept its subject out, and how long it let trials in after that. */
  outMs: number;
  halfOpenMs: number;
  reason: string | null;
  nextStep: string | null;
  /** The upstreams of the recording that it concerned. */
  upstreams: string[];
}

export interface SimulatedUpstream extends Account {
  answers: number;
  succeeded: number;
  failed: number;
  /** Failures that changed nothing: under way when their block came, or of what was known already. */
  duplicates: number;
  /** Failures that blame the request: nothing is out because of them. */
  ofTheRequest: number;
  /** Values of answers that were left out as implausible. */
  implausible: number;
  /** Requests that were sent while it was out, for what they asked: Recoup would have passed it over. */
  whileOut: { succeeded: number; failed: number };
  outMs: number;
  partlyOutMs: number;
  halfOpenMs: number;
  atEnd: Span['state'];
  timeline: Span[];
}

export interface Simulation {
  answers: number;
  from: Date;
  to: Date;
  /** Lines that stood behind a later one. */
  outOfOrder: number;
  duplicates: number;
  whileOut: { succeeded: number; failed: number };
  /** Failures by what the decoders call them, and by the operator's rule that decided. */
  classes: Record<string, number>;
  rules: Record<string, number>;
  upstreams: SimulatedUpstream[];
  blocks: SimulatedBlock[];
  needsPerson: Pick<
    InboxItem,
    'item' | 'since' | 'subject' | 'scope' | 'kind' | 'reason' | 'nextStep' | 'contradictedAt' | 'pools'
  >[];
}

interface BlockSpans extends SimulatedBlock {
  spans: Span[];
}

export function simulationOf({ accounts, answers, outOfOrder }: Recording, { told, events, inbox }: Ran): Simulation {
  const [from, to] = [answers[0]!.at, answers.at(-1)!.at];
  const blocks = blocksOf(events, accounts, to);
  const upstreams = accounts.map((account) => upstreamOf(account, told, blocks, from, to));
  const sum = (figure: (one: SimulatedUpstream) => number) => upstreams.reduce((all, one) => all + figure(one), 0);
  return {
    answers: answers.length,
    from,
    to,
    outOfOrder,
    duplicates: sum(({ duplicates }) => duplicates),
    whileOut: { succeeded: sum((one) => one.whileOut.succeeded), failed: sum((one) => one.whileOut.failed) },
    classes: countBy(told.map((one) => one.class)),
    rules: countBy(told.map((one) => one.rule)),
    upstreams,
    blocks: blocks.map(({ spans: _, ...block }) => block),
    needsPerson: inbox.map(({ item, since, subject, scope, kind, reason, nextStep, contradictedAt, pools }) => ({
      ...{ item, since, subject, scope, kind, reason, nextStep, contradictedAt, pools },
    })),
  };
}

function countBy(names: readonly (string | null)[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) if (name !== null) counts.set(name, (counts.get(name) ?? 0) + 1);
  return Object.fromEntries([...counts].sort(([one], [other]) => (one < other ? -1 : 1)));
}

function blocksOf(events: readonly Event[], accounts: readonly Account[], to: Date): BlockSpans[] {
  const byBlock = new Map<number, Event[]>();
  for (const event of events) {
    const own = byBlock.get(event.block);
    if (own === undefined) byBlock.set(event.block, [event]);
    else own.push(event);
  }
  return [...byBlock.values()].map((own) => {
    const [first, last] = [own[0]!, own.at(-1)!];
    const { block, subject, scope, kind, source, policy, reason, nextStep, closedAs } = first;
    const spans = spansOf(own, to);
    return {
      ...{ block, subject, scope, kind, source, policy },
      openedAt: first.at,
      until: last.until,
      step: last.step,
      closedAt: last.type === 'closed' ? last.at : null,
      closedAs,
      outMs: lengthOf(spans, 'out') + lengthOf(spans, 'partly_out'),
      halfOpenMs: lengthOf(spans, 'half_open'),
      ...{ reason, nextStep },
      upstreams: accounts.filter((account) => concerns(subject, account)).map(({ upstream }) => upstream),
      spans,
    };
  });
}

/** Whether a block on the subject concerns the account, as the library has it. */
const concerns = (subject: string, { upstream, quotaGroup, provider, route }: Account): boolean =>
  subject === `upstream:${upstream}` ||
  subject === `provider:${provider}` ||
  (quotaGroup !== null && subject === `quota_group:${quotaGroup}`) ||
  (route !== null && subject === `route:${route}`);

function upstreamOf(
  account: Account,
  told: readonly Told[],
  blocks: readonly BlockSpans[],
  from: Date,
  to: Date,
): SimulatedUpstream {
  const mine = told.filter(({ answer }) => answer.upstream === account.upstream);
  const concerning = blocks.filter(({ upstreams }) => upstreams.includes(account.upstream));
  const timeline = worst(
    concerning.flatMap(({ spans }) => spans),
    from,
    to,
  );
  const failures = mine.filter((one) => one.class !== null);
  const early = mine.filter(({ answer }) => outAt(concerning, answer));
  const earlyFailures = early.filter((one) => one.class !== null).length;
  return {
    ...account,
    answers: mine.length,
    succeeded: mine.length - failures.length,
    failed: failures.length,
    duplicates: failures.filter(({ outcome }) => outcome === 'duplicate').length,
    ofTheRequest: failures.filter(({ outcome }) => outcome === 'noted').length,
    implausible: mine.reduce((all, { implausible }) => all + implausible, 0),
    whileOut: { succeeded: early.length - earlyFailures, failed: earlyFailures },
    outMs: lengthOf(timeline, 'out'),
    partlyOutMs: lengthOf(timeline, 'partly_out'),
    halfOpenMs: lengthOf(timeline, 'half_open'),
    // What opened with the last answer has no length yet.
    atEnd: worstOf(concerning.flatMap((block) => stateAtEnd(block, to))),
    timeline,
  };
}

function stateAtEnd({ closedAt, until, scope }: BlockSpans, to: Date): { state: Span['state'] }[] {
  if (closedAt !== null) return [];
  if (until !== null && until <= to) return [{ state: 'half_open' }];
  return [{ state: scope === '' ? 'out' : 'partly_out' }];
}

/** Whether the upstream was out for this request when it was sent. A trial of what is half open is let in. */
function outAt(blocks: readonly BlockSpans[], { at, elapsedMs, model }: Recorded): boolean {
  const began = at.getTime() - (elapsedMs ?? 0);
  return blocks.some(
    ({ scope, spans }) =>
      (scope === '' || scope === `model:${model}`) &&
      spans.some(({ state, from, to }) => state !== 'half_open' && from.getTime() < began && began < to.getTime()),
  );
}
