// upstream.report and provider.block of the model: what an answer of a provider does to blocks.
import {
  type Block,
  blocksOn,
  type Capacity,
  type CapacityStep,
  closeAs,
  isDue,
  isOpen,
  keyOfBlock,
  openAs,
  openBlock,
  type Policy,
  refuses,
  type Source,
  type Subject,
  says,
  scopesOf,
  type Upstream,
  type Use,
  withoutLease,
  writeBlock,
} from './world.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Without a hint: 30 s doubled with each step, up to five minutes. */
export const nominal = (step: number): number => Math.min(30 * 2 ** (step - 1), 300) * SECOND;

export interface BlockSaid {
  readonly kind: string;
  readonly subject?: Subject;
  readonly scope?: string;
  readonly source: Source;
  readonly policy: Policy;
  readonly forMs?: number;
  /** An instant of the world. */
  readonly until?: number;
  readonly reason?: string;
  readonly nextStep?: string;
}

export interface ReportInput extends Use {
  readonly upstream: string;
  readonly lease?: string;
  readonly startedAt?: number;
  readonly elapsedMs?: number;
  readonly success: boolean;
  readonly block?: BlockSaid;
  readonly actor?: string;
}

/** When the request started. Undefined: the lease that would say it is gone, so this was heard before. */
export function startOf(world: Capacity, { upstream, lease, startedAt, elapsedMs }: ReportInput): number | undefined {
  const given = lease === undefined ? undefined : world.leases[lease];
  const known =
    (given?.upstream === upstream ? given.leasedAt : undefined) ??
    startedAt ??
    (elapsedMs === undefined ? undefined : world.clock - elapsedMs);
  if (known === undefined) return lease === undefined ? world.clock : undefined;
  return Math.min(known, world.clock);
}

/** What a failure is about: without a group, what would be the group's is the upstream's own. */
export function subjectOf(of: Upstream, subject: Subject = 'upstream'): readonly [Subject, string] {
  if (subject === 'quota_group' && of.quotaGroup !== null) return [subject, of.quotaGroup];
  // The route that is none is every upstream's way to its provider.
  if (subject === 'provider' || (subject === 'route' && of.route === 'direct')) return ['provider', of.provider];
  return subject === 'route' ? [subject, of.route] : ['upstream', of.id];
}

export const keyOfSaid = (of: Upstream, { subject, scope = '', kind, source }: BlockSaid): string => {
  const [subjectType, subjectId] = subjectOf(of, subject);
  return keyOfBlock({ subjectType, subjectId, scope, kind, source });
};

/** Until when a failure says that its subject is out. `step`: the one that the block will be in. */
function untilOf(world: Capacity, block: Block | undefined, said: BlockSaid, step: number): number | null {
  if (said.policy === 'manual' || block?.policy === 'manual') return null;
  const { clock } = world;
  const known = block?.until ?? Number.NEGATIVE_INFINITY;
  if (said.source === 'reset_announced') {
    const announced = said.until ?? clock + said.forMs!;
    // The same instant, as two clocks and two distances tell it.
    return known > clock && Math.abs(known - announced) < SECOND ? known : announced;
  }
  if (said.source === 'retry_after') return Math.max(known, clock + Math.min(said.forMs ?? HOUR, HOUR));
  return Math.max(known, clock + (said.forMs ?? nominal(step)));
}

/** The request is over, whatever came of it: its slot is free. */
function over(step: CapacityStep, { upstream, lease }: ReportInput): CapacityStep {
  if (lease === undefined || step.world.leases[lease]?.upstream !== upstream) return step;
  return { ...step, world: withoutLease(step.world, lease) };
}

export function report(world: Capacity, input: ReportInput): CapacityStep {
  const of = world.upstreams[input.upstream];
  if (!of) return refuses(world, 'no_upstream');
  const began = startOf(world, input);
  const said = input.success ? undefined : input.block;
  if (said) return over(failure(world, input, [of, said, began]), input);
  if (began === undefined) return says(world, 'duplicate', { block: null, closed: 0 });
  return over(input.success ? success(world, input, of, began) : says(world, 'noted', { closed: 0 }), input);
}

function failure(
  world: Capacity,
  { actor }: ReportInput,
  [of, said, began]: readonly [Upstream, BlockSaid, number | undefined],
): CapacityStep {
  const found = openBlock(world, keyOfSaid(of, said));
  const by = { actor: actor ?? null, reason: said.reason ?? null };
  // What was under way when the last one opened, or when it was ended, is no news.
  const old = found
    ? began! <= found[1].openedAt
    : said.kind !== 'operator' && closedSince(world, keyOfSaid(of, said), began!);
  if (began === undefined || old) {
    const [name, block] = found ?? [null, undefined];
    return says(world, 'duplicate', { block: name, until: block?.until ?? null, step: block?.step ?? null, closed: 0 });
  }
  const due = found !== undefined && isDue(world, found[1]);
  const step = (found?.[1].step ?? 0) + (found === undefined || due ? 1 : 0);
  const until = untilOf(world, found?.[1], said, step);
  if (!found) {
    const [subjectType, subjectId] = subjectOf(of, said.subject);
    const { kind, source, policy, scope = '', reason = null, nextStep = null } = said;
    const facts = { subjectType, subjectId, scope, kind, source, policy, evidenceAt: began, until, reason, nextStep };
    const [name, after] = openAs(world, facts, by);
    return says(after, 'blocked', { block: name, until, step: 1, closed: 0 });
  }
  const [name, block] = found;
  if (!due && until === block.until)
    return says(world, 'duplicate', { block: name, until, step: block.step, closed: 0 });
  const changed: Block = {
    ...{ ...block, until, step, trials: 1, generation: block.generation + 1 },
    evidenceAt: Math.max(block.evidenceAt, began),
    reason: said.reason ?? block.reason,
    nextStep: said.nextStep ?? block.nextStep,
    policy: until === null ? 'manual' : block.policy,
  };
  const type = due ? 'reopened' : 'extended';
  return says(writeBlock(world, name, changed, { type, ...by }), type, { block: name, until, step, closed: 0 });
}

/** Whether a block of that key was ended after a request began: not by time, which knows nothing. */
const closedSince = (world: Capacity, key: string, began: number): boolean =>
  Object.values(world.blocks).some(
    (block) => keyOfBlock(block) === key && block.closedAt! > began && block.closedAs !== 'time',
  );

/** When something was last heard of a block: of its last event, also where the clock was set back before that. */
export const heardAt = (world: Capacity, name: string): number =>
  world.events.findLast((one) => one.block === name)!.at;

/** What a report is about: what it says, and what its lease was for. */
export function scopesOfReport(world: Capacity, input: ReportInput): string[] {
  const lease = input.lease === undefined ? undefined : world.leases[input.lease];
  return [...scopesOf(input), ...(lease?.upstream === input.upstream ? lease.scopes : [])];
}

/**
 * Which open blocks a success speaks against: those of which nothing was heard since its request started. A used-up quota is ended early
 * by a snapshot alone.
 */
export const refuted = (world: Capacity, of: Upstream, input: ReportInput, began: number): [string, Block][] =>
  blocksOn(world, of, scopesOfReport(world, input)).filter(
    ([name, { policy, until }]) =>
      policy !== 'manual' && heardAt(world, name) < began && (policy !== 'snapshot' || until! <= began),
  );

function success(world: Capacity, input: ReportInput, of: Upstream, began: number): CapacityStep {
  const actor = input.actor ?? null;
  let [after, closed] = [world, 0];
  for (const [name, block] of refuted(world, of, input, began)) {
    if (began < block.until! || block.trials === 8) {
      after = closeAs(after, name, 'success', { actor });
      closed += 1;
    } else {
      const more: Block = { ...block, trials: block.trials * 2, generation: block.generation + 1 };
      after = writeBlock(after, name, more, { type: 'trial', actor });
    }
  }
  return says(after, 'noted', { closed });
}

const SERVER_ERROR = { scope: '', kind: 'server_error', source: 'backoff' } as const;
const within = (world: Capacity, instant: number | null): boolean => instant !== null && instant > world.clock - MINUTE;

/** The blocks of upstreams that speak of trouble of their provider's: of the last minute. */
export function troubleOf(world: Capacity, provider: string): [string, Block][] {
  return Object.entries(world.blocks).filter(
    ([, { subjectType, subjectId, scope, kind, policy, openedAt, ...block }]) =>
      block.closedAt === null &&
      subjectType === 'upstream' &&
      scope === '' &&
      kind === 'server_error' &&
      policy !== 'manual' &&
      within(world, openedAt) &&
      world.upstreams[subjectId]?.provider === provider,
  );
}

export interface Asking {
  readonly provider: string;
  /** Upstreams that somebody held at that moment: they keep their own blocks. */
  readonly held?: readonly string[];
}

export function blockProvider(world: Capacity, { provider, held = [] }: Asking): CapacityStep {
  const own = troubleOf(world, provider);
  const failing = new Set(own.map(([, { subjectId }]) => subjectId));
  const others = Object.values(world.upstreams).filter(
    (of) => of.provider === provider && within(world, of.usedAt) && !failing.has(of.id),
  ).length;
  const key = keyOfBlock({ ...SERVER_ERROR, subjectType: 'provider', subjectId: provider });
  const standing = openBlock(world, key);
  if (failing.size === 0) return says(world, 'none');
  const evidenceAt = Math.max(...own.map(([, block]) => block.evidenceAt));
  // An order to wait stays.
  const ending = own.filter(([, { subjectId, source }]) => !held.includes(subjectId) && source !== 'retry_after');
  const supersede = (from: Capacity) => ending.reduce((now, [name]) => closeAs(now, name, 'superseded', BY), from);
  if (standing) {
    const [name, block] = standing;
    if (!isDue(world, block) || evidenceAt < block.until!)
      return says(supersede(world), 'superseded', { block: name, until: block.until, step: block.step });
    const [until, step] = [world.clock + nominal(block.step + 1), block.step + 1];
    const changed: Block = {
      ...{ ...block, until, step, trials: 1, generation: block.generation + 1 },
      evidenceAt: Math.max(block.evidenceAt, evidenceAt),
    };
    const { reason } = block;
    const after = writeBlock(world, name, changed, { type: 'reopened', reason });
    return says(supersede(after), 'reopened', { block: name, until, step });
  }
  if (failing.size < 3 || others > failing.size) return says(world, 'none');
  const reason = `${failing.size} upstreams failed within a minute`;
  const until = world.clock + nominal(1);
  const subject = { ...SERVER_ERROR, subjectType: 'provider', subjectId: provider } as const;
  const [name, after] = openAs(
    world,
    { ...subject, policy: 'auto', evidenceAt, until, reason, nextStep: null },
    { reason },
  );
  return says(supersede(after), 'blocked', { block: name, until, step: 1 });
}

const BY = { reason: 'superseded' };

/** Whether a report is followed by the question whether the trouble is the provider's. */
export function asksProvider(input: ReportInput, outcome: string): boolean {
  const { kind, subject = 'upstream', scope = '' } = input.block ?? {};
  const opens = ['blocked', 'extended', 'reopened', 'duplicate'].includes(outcome);
  return opens && kind === 'server_error' && subject === 'upstream' && scope === '';
}

export const hasOpen = (world: Capacity, key: string): boolean =>
  Object.values(world.blocks).some((block) => isOpen(block) && keyOfBlock(block) === key);
