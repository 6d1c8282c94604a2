// Upstreams, blocks and pools for a person: what is out, why, until when, and what to do.
import type * as library from 'recoup';
import { more, tableOf } from './tables.ts';
import { clean, clock, type Instant, NEEDS_PERSON, span, subjectOf, type Told, whenIs } from './words.ts';

type Failing = Told<library.Failing>;
type Upstream = Told<library.Explained>;
type Event = Told<library.BlockEvent>;
type Block = Told<library.Block>;
type Pool = Told<library.Pool>;
type Score = Told<library.EstimateScore>;

const back = (at: Instant | null) => (at === null ? NEEDS_PERSON : whenIs(at));
const slots = ({ slotsOut, maxConcurrency }: Upstream) =>
  `${slotsOut}${maxConcurrency === null ? '' : ` of ${maxConcurrency}`}`;

/** One failing check in a few words. */
function short({ check, kind, until, limit }: Failing): string {
  if (check === 'quota') return `limit ${limit} used up${until === null ? '' : ` until ${clock(until)}`}`;
  if (check === 'blocked') return until === null ? `${kind}, ${NEEDS_PERSON}` : `${kind} until ${clock(until)}`;
  if (check === 'trial') return `${kind}, being tried`;
  if (check === 'gated') return `${kind}, being asked`;
  return check === 'slots' ? 'no slot free' : check;
}

const little = ({ tightUntil }: Upstream) => (tightUntil === null ? [] : [`little left until ${clock(tightUntil)}`]);

const upstreamRow = (one: Upstream) => ({
  upstream: one.upstream,
  pool: one.pool,
  provider: one.provider,
  usable: one.usable ? 'yes' : 'no',
  slots: slots(one),
  back: one.usable ? '' : back(one.expectedRecoveryAt),
  why: [...one.failing.map(short), ...little(one)].join('; '),
});

const WHY: Readonly<Record<string, string>> = {
  off: 'It is switched off.',
  draining: 'It is draining: nothing new, what is under way goes on.',
  retired: 'It is retired, for ever.',
  slots: 'All of its slots are out.',
};

function quotaHead({ subject, scope, limit, unit, used, amount, until }: Failing): string {
  const end = until === null ? 'not by time' : `until ${whenIs(until)}`;
  return `${subjectOf(subject!, scope)}: limit ${limit} is used up, ${used} of ${amount} ${unit}, ${end}`;
}

/** One failing check in full. */
function paragraph(one: Failing, index: number): string[] {
  const { check, kind, subject, scope, until, source, policy, block, reason, nextStep } = one;
  const known = check === 'quota' ? quotaHead(one) : WHY[check];
  const head =
    known ??
    `${subjectOf(subject!, scope)}: ${kind}, ${until === null ? NEEDS_PERSON : `${check === 'trial' ? 'over since' : 'until'} ${whenIs(until)}`}`;
  const facts = known === undefined ? [`block ${block}, ${policy}, known by ${source}`] : [];
  if (check === 'trial') facts.push('as many trials as it lets in are out: another one follows when they are done');
  return [
    `  ${index + 1}. ${clean(head)}`,
    ...facts.map((fact) => `     ${fact}`),
    ...(reason === null ? [] : [`     said: ${clean(reason)}`]),
    ...(nextStep === null ? [] : [`     do:   ${clean(nextStep)}`]),
  ];
}

/** When four of five that were estimated so came back. */
const range = (estimate: Upstream['estimate']): string =>
  estimate?.range
    ? `, ${estimate.source}; four of five from ${clock(estimate.range.from)} to ${clock(estimate.range.to)}`
    : '';

function explained(one: Upstream): string {
  const of = `${clean(one.upstream)} (pool ${clean(one.pool)}, provider ${clean(one.provider)})`;
  if (one.usable) return `${of} is usable now. Slots out: ${slots(one)}.`;
  const expected =
    one.expectedRecoveryAt === null
      ? `Not by time: ${NEEDS_PERSON}.`
      : `Expected back ${whenIs(one.expectedRecoveryAt)} (an estimate${range(one.estimate)}).`;
  return [`${of} is out.`, expected, '', ...one.failing.flatMap(paragraph)].join('\n');
}

const CHANGES: Readonly<Record<string, string>> = {
  registered: 'registered',
  changed: 'changed',
  credential: 'another credential',
};

/** What was decided of the upstream, as of this event of its own. Of the first one what is empty is left out; later it may have been taken back. */
function decided({ type, settings }: Event): string {
  const set = Object.entries(settings ?? {}).filter(([, value]) => value !== null || type === 'changed');
  return `${CHANGES[type]}${set.length === 0 ? '' : `: ${set.map(([name, value]) => `${name} ${value ?? 'none'}`).join(', ')}`}`;
}

function what(event: Event): string {
  const { type, kind, policy, until, closedAs, step } = event;
  if (Object.hasOwn(CHANGES, type)) return decided(event);
  if (type === 'contradicted') return 'something speaks against it: look whether it is still so';
  const end = until === null ? '' : ` until ${clock(until)}`;
  if (type === 'closed') return `closed (${closedAs})`;
  if (type === 'probed') return 'a probe asked whether it works';
  if (type === 'trial') return 'a trial succeeded, it lets in more';
  if (type === 'opened') return `opened: ${kind}, ${policy}${end}`;
  return `${type === 'extended' ? 'longer' : `opened again, step ${step}`}:${end || ` ${kind}`}`;
}

/** A first event after which nothing happened for long is easier to see with how long ago it was. */
const eventRow = (event: Event) => ({
  at: clock(event.at),
  ago: span(Date.now() - new Date(event.at).getTime()),
  block: event.block,
  on: subjectOf(event.subject, event.scope),
  what: what(event),
  by: event.actor,
  said: event.reason === event.closedAs ? null : event.reason,
});

const blockRow = (one: Block) => ({
  block: one.block,
  on: subjectOf(one.subject, one.scope),
  kind: one.kind,
  policy: one.policy,
  since: span(Date.now() - new Date(one.openedAt).getTime()),
  until: one.until === null ? NEEDS_PERSON : one.halfOpen ? `half open, lets in ${one.trials}` : whenIs(one.until),
  said: one.reason,
  do: one.nextStep,
});

const poolRow = ({ pool, total, on, usable, slotsOut, expectedRecoveryAt }: Pool) => ({
  pool,
  usable: `${usable} of ${total}`,
  off: on === total ? null : total - on,
  slotsOut,
  back: usable > 0 ? '' : on === 0 ? 'nothing is switched on' : back(expectedRecoveryAt),
});

/** A distance from the time that was said. */
const off = (ms: number) => (Math.abs(ms) < 1000 ? 'on time' : `${span(ms)} ${ms < 0 ? 'sooner' : 'later'}`);

const scoreRow = (one: Score) => ({
  provider: one.provider,
  kind: one.kind,
  source: one.source,
  estimates: one.count,
  held: one.held,
  sooner: one.late,
  later: one.early,
  'four of five': one.count === 0 ? null : `${off(one.low)} … ${off(one.high)}`,
  median: one.count === 0 ? null : off(one.median),
  unknown: one.unknown,
});

/** By the name of the operation. */
export const capacityViews = {
  'upstreams.list': ({ upstreams, cursor }: { upstreams: Upstream[]; cursor: string | null }) =>
    [tableOf(upstreams.map(upstreamRow)), ...more(cursor)].join('\n'),
  'upstreams.explain': explained,
  'pools.explain': ({ upstreams }: { upstreams: Upstream[] }) => tableOf(upstreams.map(upstreamRow)),
  'upstreams.history': ({ events, cursor }: { events: Event[]; cursor: string | null }) =>
    [tableOf(events.map(eventRow)), ...more(cursor)].join('\n'),
  'blocks.list': ({ blocks, cursor }: { blocks: Block[]; cursor: number | null }) =>
    [tableOf(blocks.map(blockRow)), ...more(cursor)].join('\n'),
  'pools.list': ({ pools, cursor }: { pools: Pool[]; cursor: string | null }) =>
    [tableOf(pools.map(poolRow)), ...more(cursor)].join('\n'),
  'pools.get': ({ pool, usable, expectedRecoveryAt, estimate }: Told<library.PoolState>) =>
    usable
      ? `${clean(pool)} is usable now.`
      : `${clean(pool)} is out: ${expectedRecoveryAt === null ? NEEDS_PERSON : `expected back ${whenIs(expectedRecoveryAt)} (an estimate${range(estimate)})`}.`,
  'estimates.report': ({ scores }: { scores: Score[] }) => tableOf(scores.map(scoreRow)),
};
