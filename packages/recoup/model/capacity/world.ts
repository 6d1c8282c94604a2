// The world of capacity in the model: upstreams, blocks with their events, leases and a clock, and the one predicate of selection.
import type { Answer } from '../world.ts';

export type Subject = 'upstream' | 'quota_group' | 'provider' | 'route';
export type Source = 'retry_after' | 'reset_announced' | 'backoff' | 'operator';
export type Policy = 'auto' | 'manual' | 'snapshot' | 'rolling';
export type Status = 'on' | 'off' | 'draining' | 'retired';
export type ClosedAs = 'success' | 'snapshot' | 'operator' | 'credential' | 'probe' | 'time' | 'superseded';

export interface Upstream {
  readonly id: string;
  readonly pool: string;
  readonly provider: string;
  readonly quotaGroup: string | null;
  readonly route: string;
  readonly credentialRef: string | null;
  readonly status: Status;
  readonly priority: number;
  readonly weight: number;
  readonly maxConcurrency: number | null;
  readonly usedAt: number | null;
}

export interface Block {
  readonly subjectType: Subject;
  readonly subjectId: string;
  readonly scope: string;
  readonly kind: string;
  readonly source: Source;
  readonly policy: Policy;
  readonly openedAt: number;
  readonly evidenceAt: number;
  readonly until: number | null;
  readonly step: number;
  readonly trials: number;
  readonly generation: number;
  readonly reason: string | null;
  readonly nextStep: string | null;
  readonly closedAt: number | null;
  readonly closedAs: ClosedAs | null;
}

export interface BlockEvent {
  readonly block: string;
  readonly generation: number;
  readonly type: 'opened' | 'extended' | 'reopened' | 'trial' | 'closed';
  readonly at: number;
  readonly until: number | null;
  readonly step: number;
  readonly evidenceAt: number;
  readonly actor: string | null;
  readonly reason: string | null;
}

export interface Lease {
  readonly upstream: string;
  readonly quotaGroup: string | null;
  readonly provider: string;
  readonly route: string;
  /** What the use is for. */
  readonly scopes: readonly string[];
  readonly holder: string | null;
  readonly leasedAt: number;
  readonly leaseUntil: number;
}

export interface Capacity {
  readonly clock: number;
  readonly upstreams: Readonly<Record<string, Upstream>>;
  /** By a name that a block keeps: what it is about, and the how manieth of that it is. */
  readonly blocks: Readonly<Record<string, Block>>;
  readonly events: readonly BlockEvent[];
  readonly leases: Readonly<Record<string, Lease>>;
  /** When the request of each lease really started, also after the lease is gone: what no row remembers, and promises are about. */
  readonly started: Readonly<Record<string, number>>;
}

export interface CapacityStep {
  readonly world: Capacity;
  readonly answer: Answer & Facts;
}

/** What an answer says beside its outcome. */
export interface Facts {
  readonly upstream?: string | null;
  readonly leaseUntil?: number | null;
  readonly block?: string | null;
  readonly until?: number | null;
  readonly step?: number | null;
  readonly closed?: number;
}

export const emptyCapacity = (clock = 0): Capacity => ({
  ...{ clock, upstreams: {}, blocks: {}, events: [], leases: {}, started: {} },
});

/** What a use is for. */
export interface Use {
  readonly model?: string;
  readonly capability?: string;
}

export const scopesOf = ({ model, capability }: Use): string[] => [
  '',
  ...(model === undefined ? [] : [`model:${model}`]),
  ...(capability === undefined ? [] : [`capability:${capability}`]),
];

/** What an upstream may be out by: itself, and what it shares with others. */
export const subjectsOf = (of: Upstream): readonly (readonly [Subject, string])[] => [
  ['upstream', of.id],
  ...(of.quotaGroup === null ? [] : ([['quota_group', of.quotaGroup]] as const)),
  ['provider', of.provider],
  ['route', of.route],
];

type Keyed = Pick<Block, 'subjectType' | 'subjectId' | 'scope' | 'kind' | 'source'>;

export const keyOfBlock = ({ subjectType, subjectId, scope, kind, source }: Keyed): string =>
  `${subjectType}:${subjectId} ${scope} ${kind} ${source}`;

export const nameOfBlock = (key: string, count: number): string => `${key} #${count}`;

export const isOpen = (block: Block): boolean => block.closedAt === null;

/** The open block of that key, by its name. */
export function openBlock(world: Capacity, key: string): readonly [string, Block] | undefined {
  return Object.entries(world.blocks).find(([, block]) => isOpen(block) && keyOfBlock(block) === key);
}

/** The open blocks that concern an upstream in these scopes. */
export function blocksOn(world: Capacity, of: Upstream, scopes: readonly string[]): [string, Block][] {
  const subjects = subjectsOf(of);
  return Object.entries(world.blocks).filter(
    ([, block]) =>
      isOpen(block) &&
      scopes.includes(block.scope) &&
      subjects.some(([type, id]) => type === block.subjectType && id === block.subjectId),
  );
}

const isOut = (world: Capacity, lease: Lease): boolean => lease.leaseUntil > world.clock;

export const slotsOut = (world: Capacity, upstream: string): number =>
  Object.values(world.leases).filter((lease) => lease.upstream === upstream && isOut(world, lease)).length;

const COLUMN = { upstream: 'upstream', quota_group: 'quotaGroup', provider: 'provider', route: 'route' } as const;

/** The uses of what a block is about, in its scope, that began since it came due, and are not over. */
export const trialsOut = (world: Capacity, { subjectType, subjectId, scope, until }: Block): number =>
  Object.values(world.leases).filter(
    (lease) =>
      lease[COLUMN[subjectType]] === subjectId &&
      lease.scopes.includes(scope) &&
      lease.leasedAt >= (until ?? Infinity) &&
      isOut(world, lease),
  ).length;

/** Past its time: it lets uses in, so many at once. */
export const isDue = (world: Capacity, block: Block): boolean => block.until !== null && block.until <= world.clock;

/** Whether a block keeps the next use out. */
export const keepsOut = (world: Capacity, block: Block): boolean =>
  !isDue(world, block) || trialsOut(world, block) >= block.trials;

/** Every check that fails for an upstream, in words; none: it may be given. */
export function failingChecks(world: Capacity, of: Upstream, scopes: readonly string[]): string[] {
  const blocks = blocksOn(world, of, scopes).filter(([, block]) => keepsOut(world, block));
  return [
    ...(of.status === 'on' ? [] : [of.status]),
    ...blocks.map(([, block]) => (isDue(world, block) ? 'trial' : 'blocked')),
    ...(of.maxConcurrency !== null && slotsOut(world, of.id) >= of.maxConcurrency ? ['slots'] : []),
  ];
}

/** Those of a pool that may be given now. */
export const usableIn = (world: Capacity, pool: string, use: Use): Upstream[] =>
  Object.values(world.upstreams).filter(
    (of) => of.pool === pool && failingChecks(world, of, scopesOf(use)).length === 0,
  );

/** Until when an upstream is out by its own blocks of everything; infinite where one waits for a person, null where there is none. */
export function blockedUntil(world: Capacity, upstream: string): number | null {
  const own = Object.values(world.blocks).filter(
    (block) => isOpen(block) && block.subjectType === 'upstream' && block.subjectId === upstream && block.scope === '',
  );
  return own.length === 0 ? null : Math.max(...own.map(({ until }) => until ?? Infinity));
}

/** Writes a block with the event of its generation. */
export function writeBlock(
  world: Capacity,
  name: string,
  block: Block,
  { type, actor = null, reason = null }: { type: BlockEvent['type']; actor?: string | null; reason?: string | null },
): Capacity {
  const { generation, until, step, evidenceAt } = block;
  const event: BlockEvent = { block: name, generation, type, at: world.clock, until, step, evidenceAt, actor, reason };
  return { ...world, blocks: { ...world.blocks, [name]: block }, events: [...world.events, event] };
}

/** Opens the first or next block of its key. */
export function openAs(
  world: Capacity,
  facts: Omit<Block, 'openedAt' | 'step' | 'trials' | 'generation' | 'closedAt' | 'closedAs'>,
  by: { actor?: string | null; reason?: string | null },
): readonly [string, Capacity] {
  const key = keyOfBlock(facts);
  const before = Object.values(world.blocks).filter((block) => keyOfBlock(block) === key).length;
  const name = nameOfBlock(key, before + 1);
  const rest = { openedAt: world.clock, step: 1, trials: 1, generation: 1, closedAt: null, closedAs: null };
  return [name, writeBlock(world, name, { ...facts, ...rest }, { type: 'opened', ...by })];
}

/** Closes a block. */
export function closeAs(
  world: Capacity,
  name: string,
  closedAs: ClosedAs,
  by: { actor?: string | null; reason?: string | null } = {},
): Capacity {
  const block = world.blocks[name]!;
  const closed: Block = { ...block, generation: block.generation + 1, closedAt: world.clock, closedAs };
  return writeBlock(world, name, closed, { type: 'closed', ...by });
}

/** Without one lease. */
export function withoutLease(world: Capacity, id: string): Capacity {
  const { [id]: _gone, ...leases } = world.leases;
  return { ...world, leases };
}

export const pass = (world: Capacity, ms: number): Capacity => ({ ...world, clock: world.clock + ms });

export const says = (world: Capacity, name: string, facts: Facts = {}): CapacityStep => ({
  world,
  answer: { outcome: name, ...facts },
});
export const refuses = (world: Capacity, code: string): CapacityStep => ({ world, answer: { refusal: code } });
