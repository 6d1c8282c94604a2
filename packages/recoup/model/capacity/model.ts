// The transitions of upstreams, their leases and their blocks as pure functions: what the statements must do, without a database.
import { blockProvider, report } from './reports.ts';
import {
  type Capacity,
  type CapacityStep,
  type ClosedAs,
  closeAs,
  failingChecks,
  isOpen,
  type Lease,
  refuses,
  type Status,
  says,
  scopesOf,
  type Upstream,
  type Use,
  withoutLease,
} from './world.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

type Settings = Partial<
  Pick<Upstream, 'quotaGroup' | 'route' | 'credentialRef' | 'priority' | 'weight' | 'maxConcurrency' | 'status'>
>;
/** Pool and provider are given by who registers; who changes gives neither. */
export type Registering = { readonly upstream: string; readonly pool?: string; readonly provider?: string } & Settings;

function register(world: Capacity, { upstream: id, pool, provider, ...settings }: Registering): CapacityStep {
  const known = world.upstreams[id];
  const put = (of: Upstream, name: string) => says({ ...world, upstreams: { ...world.upstreams, [id]: of } }, name);
  if (!known) {
    if (pool === undefined || provider === undefined) return refuses(world, 'no_upstream');
    const usual = { quotaGroup: null, route: 'direct', credentialRef: null, status: 'on' as Status, priority: 5 };
    return put(
      { id, pool, provider, ...usual, weight: 1, maxConcurrency: null, usedAt: null, ...settings },
      'registered',
    );
  }
  if (known.status === 'retired' && (settings.status ?? 'retired') !== 'retired')
    return refuses(world, 'upstream_retired');
  if ((pool ?? known.pool) !== known.pool || (provider ?? known.provider) !== known.provider)
    return refuses(world, 'conflict');
  const names = Object.keys(settings) as (keyof Settings)[];
  if (names.every((name) => settings[name] === known[name])) return says(world, 'duplicate');
  return put({ ...known, ...settings }, 'changed');
}

export interface Selecting extends Use {
  readonly pool: string;
  readonly lease: string;
  readonly leaseMs: number;
  readonly holder?: string;
  /** Which one was picked. The model says whether it may be; rows that are locked are passed over, so which it is stays open. */
  readonly upstream: string | null;
}

function select(world: Capacity, input: Selecting): CapacityStep {
  const { pool, lease: id, leaseMs, holder = null, upstream } = input;
  const prior = world.leases[id];
  if (prior && prior.leaseUntil > world.clock)
    return world.upstreams[prior.upstream]!.pool === pool
      ? says(world, 'selected', { upstream: prior.upstream, leaseUntil: prior.leaseUntil })
      : refuses(world, 'conflict');
  const of = upstream === null ? undefined : world.upstreams[upstream];
  if (of?.pool !== pool || failingChecks(world, of, scopesOf(input)).length > 0)
    return says(world, 'none', { upstream: null });
  const { quotaGroup, provider, route } = of;
  const { clock } = world;
  const lease: Lease = {
    ...{ upstream: of.id, quotaGroup, provider, route, scopes: scopesOf(input), holder },
    ...{ leasedAt: clock, leaseUntil: clock + leaseMs },
  };
  const after: Capacity = {
    ...world,
    upstreams: { ...world.upstreams, [of.id]: { ...of, usedAt: clock } },
    leases: { ...world.leases, [id]: lease },
    started: { ...world.started, [id]: clock },
  };
  return says(after, 'selected', { upstream: of.id, leaseUntil: lease.leaseUntil });
}

function extend(world: Capacity, { lease: id, leaseMs }: { readonly lease: string; readonly leaseMs: number }) {
  const lease = world.leases[id];
  if (!lease || lease.leaseUntil <= world.clock) return says(world, 'stale', { leaseUntil: null });
  const leaseUntil = Math.max(lease.leaseUntil, world.clock + leaseMs);
  return says({ ...world, leases: { ...world.leases, [id]: { ...lease, leaseUntil } } }, 'extended', { leaseUntil });
}

function release(world: Capacity, { lease }: { readonly lease: string }): CapacityStep {
  return world.leases[lease] ? says(withoutLease(world, lease), 'released') : says(world, 'duplicate');
}

export interface Closing {
  readonly block: string;
  readonly generation?: number;
  readonly as: 'operator' | 'credential' | 'probe' | 'snapshot';
  readonly actor?: string;
  readonly reason?: string;
}

function ending(world: Capacity, of: Omit<Closing, 'as'> & { readonly as: ClosedAs }): CapacityStep {
  const { block: name, generation, as, actor = null, reason = as } = of;
  const block = world.blocks[name];
  if (!block) return refuses(world, 'no_block');
  const known = generation === undefined || generation === block.generation;
  if (!isOpen(block) || !known) return says(world, 'duplicate');
  // Only a person or a new credential ends what waits for one.
  if (block.policy === 'manual' && as !== 'operator' && as !== 'credential') return refuses(world, 'manual_block');
  return says(closeAs(world, name, as, { actor, reason }), 'closed');
}

const close = (world: Capacity, input: Closing): CapacityStep => ending(world, input);

/** Blocks that have been half open for a day: what a sweep reads, before it says so of each. */
export const unused = (world: Capacity): { block: string; generation: number }[] =>
  Object.entries(world.blocks)
    .filter(([, block]) => isOpen(block) && block.until !== null && block.until < world.clock - DAY)
    .map(([block, { generation }]) => ({ block, generation }));

/** `generation`: the one that a sweep saw. */
const lapse = (world: Capacity, seen: { readonly block: string; readonly generation: number }): CapacityStep =>
  ending(world, { ...seen, as: 'time', reason: 'unused for a day' });

/** The part of a sweep that is no transition: a lapsed lease counts nowhere, and after an hour it is forgotten. */
export function forget(world: Capacity): Capacity {
  const old = Object.entries(world.leases).filter(([, { leaseUntil }]) => leaseUntil < world.clock - HOUR);
  return old.reduce((now, [id]) => withoutLease(now, id), world);
}

export const capacityModel = {
  'upstream.register': register,
  'upstream.select': select,
  'upstream.extend': extend,
  'upstream.release': release,
  'upstream.report': report,
  'provider.block': blockProvider,
  'block.close': close,
  'block.lapse': lapse,
};

export type CapacityModel = typeof capacityModel;
export type CapacityName = keyof CapacityModel;

/** One call of a transition. */
export type CapacityAction = {
  [T in CapacityName]: { readonly transition: T; readonly input: Parameters<CapacityModel[T]>[1] };
}[CapacityName];

export function applyCapacity(
  world: Capacity,
  action: CapacityAction,
  by: CapacityModel = capacityModel,
): CapacityStep {
  const transition = by[action.transition] as (world: Capacity, input: unknown) => CapacityStep;
  return transition(world, action.input);
}
