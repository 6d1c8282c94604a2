// What must be true of every step of capacity: who may open, lengthen, shorten and end a block, and who may be given.
import { capacityTransitions } from '../../src/outcomes.ts';
import type { CapacityAction } from './model.ts';
import { refuted, scopesOfReport, startOf, subjectOf } from './reports.ts';
import {
  type Block,
  blocksOn,
  type Capacity,
  type CapacityStep,
  isDue,
  isOpen,
  keyOfBlock,
  openBlock,
  scopesOf,
  slotsOut,
  trialsOut,
} from './world.ts';

/** One step as the walk saw it. */
export interface CapacityTaken {
  readonly before: Capacity;
  readonly action: CapacityAction;
  readonly after: Capacity;
  readonly answer: CapacityStep['answer'];
}

const DAY = 86_400_000;
/** Answers that mean "nothing came of it". A report gives its lease back all the same. */
const LOST = ['duplicate', 'stale', 'none'];

type InputOf<T extends CapacityAction['transition']> = Extract<CapacityAction, { transition: T }>['input'];
const inputOf = <T extends CapacityAction['transition']>({ transition, input }: CapacityAction, name: T) =>
  transition === name ? (input as InputOf<T>) : undefined;

/** Every promise that the step breaks, in words. */
export function capacityPromises(taken: CapacityTaken): string[] {
  const problems: string[] = [];
  checkAnswer(taken, problems);
  checkUpstreams(taken, problems);
  checkLeases(taken, problems);
  for (const [name, block] of Object.entries(taken.after.blocks)) {
    const old = taken.before.blocks[name];
    if (old === block) continue;
    const found: string[] = [];
    if (old) checkBlock(taken, old, block, found);
    else checkOpening(taken, block, found);
    problems.push(...found.map((problem) => `${name} ${problem}`));
  }
  if (Object.keys(taken.before.blocks).some((name) => !taken.after.blocks[name])) problems.push('a block is gone');
  if (taken.before.events.some((event, index) => taken.after.events[index] !== event))
    problems.push('an event was rewritten');
  checkGiven(taken, problems);
  mustCount(taken, problems);
  return problems;
}

function checkAnswer({ before, after, action, answer }: CapacityTaken, problems: string[]): void {
  const name = 'outcome' in answer ? answer.outcome : answer.refusal;
  const row: { readonly outcomes: readonly string[]; readonly refusals: readonly string[] } =
    capacityTransitions[action.transition];
  const known = ('outcome' in answer ? row.outcomes : row.refusals).includes(name);
  if (!known) problems.push(`answers ${name}, not in the table`);
  const same = { ...after, leases: before.leases };
  const changed =
    action.transition === 'upstream.report'
      ? same.blocks !== before.blocks || same.upstreams !== before.upstreams
      : after !== before;
  if (changed && ('refusal' in answer || LOST.includes(name))) problems.push(`answers ${name}, but something changed`);
}

function checkUpstreams({ before, after, action }: CapacityTaken, problems: string[]): void {
  for (const [id, of] of Object.entries(after.upstreams)) {
    const old = before.upstreams[id];
    if (old === of) continue;
    const named = (action.input as { upstream?: string | null }).upstream === id;
    const used = { ...of, usedAt: old?.usedAt ?? null };
    const mine = action.transition === 'upstream.register' ? of.usedAt === used.usedAt : same(used, old);
    const may = action.transition === 'upstream.register' || action.transition === 'upstream.select';
    if (!may || !named || !mine) problems.push(`upstream ${id} changed by ${action.transition}`);
    if (old?.status === 'retired' && of.status !== 'retired') problems.push(`upstream ${id} came back`);
    if (old && (old.pool !== of.pool || old.provider !== of.provider)) problems.push(`upstream ${id} moved`);
  }
}

const same = (one: object, other: object | undefined) => JSON.stringify(one) === JSON.stringify(other);

function checkLeases({ before, after, action }: CapacityTaken, problems: string[]): void {
  const { lease: id } = action.input as { lease?: string };
  const names = new Set([...Object.keys(before.leases), ...Object.keys(after.leases)]);
  for (const name of names) {
    const [old, now] = [before.leases[name], after.leases[name]];
    if (old === now) continue;
    if (name !== id) problems.push(`lease ${name} changed by ${action.transition}`);
    const out = old !== undefined && old.leaseUntil > before.clock;
    if (action.transition === 'upstream.extend') {
      const kept = out && now && now.leasedAt === old.leasedAt && now.leaseUntil >= old.leaseUntil;
      if (!kept) problems.push(`lease ${name} came back, or was shortened`);
    } else if (action.transition === 'upstream.select') {
      if (out) problems.push(`lease ${name} was given twice`);
    } else if (now) problems.push(`lease ${name} changed by ${action.transition}`);
  }
  const report = inputOf(action, 'upstream.report');
  if (report?.lease && after.leases[report.lease]?.upstream === report.upstream)
    problems.push(`lease ${report.lease} is still out after its report`);
}

function checkOpening(taken: CapacityTaken, block: Block, problems: string[]): void {
  const { before, action } = taken;
  const report = inputOf(action, 'upstream.report');
  const provider = inputOf(action, 'provider.block');
  if (openBlock(before, keyOfBlock(block))) problems.push('opened beside an open one');
  if (block.step !== 1 || block.trials !== 1 || !isOpen(block)) problems.push('opened in the middle');
  if (report ? report.success || !report.block : !provider) problems.push(`opened by ${action.transition}`);
  if (provider && block.subjectType !== 'provider') problems.push('opened by its provider');
  const began = report && startedAt(before, report);
  if (began === undefined) return;
  if (block.evidenceAt > began) problems.push('has later evidence than its request');
  const ended = Object.values(before.blocks).filter((one) => keyOfBlock(one) === keyOfBlock(block));
  if (block.kind !== 'operator' && ended.some(({ closedAt, closedAs }) => closedAt! > began && closedAs !== 'time'))
    problems.push('opened again by a request that began before its end');
}

/** When the request of a report really began: its lease says so, also where it is gone; by a clock that was set back, not after now. */
function startedAt(world: Capacity, report: InputOf<'upstream.report'>): number | undefined {
  const { lease, startedAt, elapsedMs } = report;
  const given = lease === undefined ? undefined : world.started[lease];
  return given === undefined || startedAt !== undefined || elapsedMs !== undefined
    ? startOf(world, report)
    : Math.min(given, world.clock);
}

const end = ({ until }: Block) => until ?? Number.POSITIVE_INFINITY;

/** What happens to a block that is there. */
function checkBlock(taken: CapacityTaken, old: Block, block: Block, problems: string[]): void {
  const { before, after, action } = taken;
  if (!isOpen(old)) problems.push('changed after its end');
  if (keyOfBlock(old) !== keyOfBlock(block) || old.openedAt !== block.openedAt) problems.push('became another one');
  const events = after.events.length - before.events.length;
  if (events < 1 || block.generation !== old.generation + 1) problems.push('changed without an event');
  if (block.evidenceAt < old.evidenceAt) problems.push('went back to older evidence');
  if (old.policy === 'manual' && block.policy !== 'manual') problems.push('needs nobody any more');
  if (old.source !== 'reset_announced' && end(block) < end(old)) problems.push('was shortened');
  const due = isDue(before, old);
  const isWorse = isOpen(block) && block.trials === 1;
  if (block.step !== old.step && !(block.step === old.step + 1 && due && isWorse))
    problems.push(`is in step ${block.step}`);
  const report = inputOf(action, 'upstream.report');
  if (isOpen(block) && block.trials !== old.trials) checkTrials(taken, old, block, problems);
  if (!isOpen(block)) checkEnd(taken, old, block, problems);
  else if (!report && action.transition !== 'provider.block') problems.push(`changed by ${action.transition}`);
}

/** When something was last heard of a block before the step. */
const heardBefore = ({ before }: CapacityTaken, block: Block): number =>
  before.events.findLast((one) => before.blocks[one.block] === block)!.at;

/** More trials only by the success of a trial; one again only by another failure. */
function checkTrials(taken: CapacityTaken, old: Block, block: Block, problems: string[]): void {
  const { before, action } = taken;
  const report = inputOf(action, 'upstream.report');
  if (block.trials === old.trials * 2) {
    const began = report && startedAt(before, report);
    if (
      !report?.success ||
      began === undefined ||
      !isDue(before, old) ||
      began < old.until! ||
      began <= heardBefore(taken, old)
    )
      problems.push('lets in more although no trial of it succeeded');
  } else if (block.trials !== 1 || report?.success) problems.push(`lets in ${block.trials} after ${old.trials}`);
}

function checkEnd(taken: CapacityTaken, old: Block, block: Block, problems: string[]): void {
  const { before, after, action } = taken;
  const by = block.closedAs;
  const report = inputOf(action, 'upstream.report');
  const allowed = {
    'upstream.report': ['success'],
    'provider.block': ['superseded'],
    'block.close': ['operator', 'credential', 'probe', 'snapshot'],
    'block.lapse': ['time'],
  }[action.transition as string];
  if (!by || !allowed?.includes(by)) problems.push(`closed as ${by} by ${action.transition}`);
  if (old.policy === 'manual' && by !== 'operator' && by !== 'credential') problems.push(`was manual, closed as ${by}`);
  if (by === 'success') {
    const began = report && startedAt(before, report);
    const inScope = report && scopesOfReport(before, report).includes(old.scope);
    if (!report?.success || !inScope || (old.policy === 'snapshot' && !isDue(before, old)))
      problems.push('closed by what does not speak of it');
    if (began === undefined || began <= heardBefore(taken, old))
      problems.push('closed by a request that began before what was heard of it');
    if (began! >= old.until! && old.trials !== 8) problems.push('closed before eight trials');
  }
  if (by === 'time' && !(old.until !== null && old.until < before.clock - DAY)) problems.push('lapsed before its time');
  if (by === 'superseded') {
    const provider = before.upstreams[old.subjectId]?.provider ?? '';
    const key = {
      subjectType: 'provider',
      subjectId: provider,
      scope: '',
      kind: 'server_error',
      source: 'backoff',
    } as const;
    if (old.kind !== 'server_error' || old.source === 'retry_after' || !openBlock(after, keyOfBlock(key)))
      problems.push('superseded by nothing');
  }
  const closing = inputOf(action, 'block.close') ?? inputOf(action, 'block.lapse');
  if (closing?.generation !== undefined && closing.generation !== old.generation) problems.push('closed on old news');
}

/** Who may be given: on, a slot free, out by nothing, and of a half-open block no more than its trials. */
function checkGiven({ before, after, action }: CapacityTaken, problems: string[]): void {
  const select = inputOf(action, 'upstream.select');
  const lease = select && after.leases[select.lease];
  if (!lease || lease === before.leases[select.lease]) return;
  const of = after.upstreams[lease.upstream]!;
  if (of.status !== 'on' || of.pool !== select.pool) problems.push(`${of.id} was given`);
  if (of.maxConcurrency !== null && slotsOut(after, of.id) > of.maxConcurrency)
    problems.push(`${slotsOut(after, of.id)} slots of ${of.id} are out`);
  for (const [name, block] of blocksOn(after, of, scopesOf(select))) {
    if (!isDue(after, block)) problems.push(`${of.id} was given in spite of ${name}`);
    else if (trialsOut(after, block) > block.trials)
      problems.push(`${trialsOut(after, block)} trials of ${name} are out`);
  }
}

/** What was said has to count: a failure that is news puts its subject out, a success ends what it speaks against. */
function mustCount({ before, after, action, answer }: CapacityTaken, problems: string[]): void {
  const report = inputOf(action, 'upstream.report');
  const of = report && before.upstreams[report.upstream];
  const began = of && startOf(before, report);
  if (!of || began === undefined) return;
  if (report.success) {
    const left = refuted(before, of, report, began).filter(([name, block]) => after.blocks[name] === block);
    if (left.length > 0) problems.push(`${left.map(([name]) => name)} was not heard of a success`);
    return;
  }
  const { block: said } = report;
  if (!said) return;
  const [subjectType, subjectId] = subjectOf(of, said.subject);
  const key = keyOfBlock({ ...said, subjectType, subjectId, scope: said.scope ?? '' });
  const found = openBlock(after, key);
  const endedSince = ([name, block]: [string, Block]) =>
    keyOfBlock(block) === key && before.blocks[name]!.closedAt! > began && block.closedAs !== 'time';
  if (!found && !Object.entries(after.blocks).some(endedSince)) problems.push(`${key} is not out after its failure`);
  if (!found) return;
  if (found[1].openedAt < began || answer === undefined) {
    if (isDue(after, found[1]) && said.source !== 'reset_announced')
      problems.push(`${key} is usable after its failure`);
    if (said.policy === 'manual' && found[1].policy !== 'manual') problems.push(`${key} needs nobody`);
  }
}
