// The bounded worlds of the walk of capacity: few upstreams, few leases, short times, and everything that may be said of them.

import type { CapacityAction, Registering } from './model.ts';
import { applyCapacity } from './model.ts';
import type { BlockSaid, ReportInput } from './reports.ts';
import type { CapacityMove, CapacityScenario } from './walk.ts';
import { type Capacity, emptyCapacity, isOpen, usableIn } from './world.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

const always =
  (action: CapacityAction): CapacityMove =>
  () =>
    action;
const time =
  (ms: number): CapacityMove =>
  () => ({ passMs: ms });

const register = (input: Registering): CapacityAction => ({ transition: 'upstream.register', input });
const start = (...ups: readonly Registering[]): Capacity =>
  ups.reduce((world, input) => applyCapacity(world, register(input)).world, emptyCapacity());

/** A selection by that lease gives each that may be given, and none. */
function selections(lease: string, ups: readonly string[], leaseMs: number, model?: string): CapacityMove[] {
  const use = model === undefined ? {} : { model };
  return [...ups, null].map((upstream) => (world) => {
    if (upstream === null && usableIn(world, 'p', use).length > 0) return undefined;
    return { transition: 'upstream.select', input: { pool: 'p', lease, leaseMs, upstream, ...use } };
  });
}

const report = (input: Omit<ReportInput, 'success'>, success: boolean): CapacityMove =>
  always({ transition: 'upstream.report', input: { ...input, success } });

const soft: BlockSaid = { kind: 'rate_limited', source: 'backoff', policy: 'auto' };

/** The newest block that is open is ended by hand, or by a probe; or by somebody who saw it as it was opened. */
const closings: CapacityMove[] = (['operator', 'probe', 'late'] as const).map((by) => (world) => {
  const open = Object.entries(world.blocks).filter(([, block]) => isOpen(block));
  const last = open.at(-1);
  if (!last) return undefined;
  const [as, generation] = by === 'late' ? (['operator', 1] as const) : ([by, last[1].generation] as const);
  return { transition: 'block.close', input: { block: last[0], as, generation } };
});

/** One upstream of two slots with every use, report, change and end that concerns it. */
export function oneUpstream(maxStep: number): CapacityScenario {
  const at = { upstream: 'a' };
  const leases = ['l', 'm'];
  return {
    name: `one upstream, two leases, ${maxStep} steps`,
    start: start({ upstream: 'a', pool: 'p', provider: 'x', maxConcurrency: 1 }),
    horizonMs: 2 * MINUTE,
    maxStep,
    moves: [
      time(30 * SECOND),
      ...leases.flatMap((lease) => [
        ...selections(lease, ['a'], MINUTE),
        report({ ...at, lease }, true),
        report({ ...at, lease, block: soft }, false),
        always({ transition: 'upstream.release', input: { lease } }),
      ]),
      always({ transition: 'upstream.extend', input: { lease: 'l', leaseMs: MINUTE } }),
      report({ ...at, elapsedMs: 30 * SECOND }, true),
      report({ ...at, elapsedMs: 30 * SECOND, block: soft }, false),
      report({ ...at, block: { ...soft, policy: 'manual' } }, false),
      report({ ...at, lease: 'l' }, false),
      report({ upstream: 'nowhere' }, true),
      ...closings,
      always({ transition: 'block.close', input: { block: 'none', as: 'operator' } }),
    ],
  };
}

/** What an operator says: on, off, draining, retired, registered again, moved, with other slots. */
export function operators(): CapacityScenario {
  const at = { upstream: 'a' };
  const change = (more: Partial<Registering>) => always(register({ ...at, ...more }));
  return {
    name: 'one upstream changed by its operator',
    start: start({ upstream: 'a', pool: 'p', provider: 'x', maxConcurrency: 2 }),
    horizonMs: MINUTE,
    maxStep: 1,
    moves: [
      time(30 * SECOND),
      ...['l', 'm'].flatMap((lease) => [...selections(lease, ['a'], 45 * SECOND), report({ ...at, lease }, true)]),
      always({ transition: 'upstream.select', input: { pool: 'q', lease: 'l', leaseMs: 45 * SECOND, upstream: null } }),
      ...(['on', 'off', 'draining', 'retired'] as const).map((status) => change({ status })),
      change({ pool: 'p', provider: 'x' }),
      change({ pool: 'q', provider: 'x' }),
      change({ maxConcurrency: 1 }),
      change({ upstream: 'b' }),
      always(register({ upstream: 'b', pool: 'p', provider: 'x', priority: 1 })),
      report({ ...at, block: soft }, false),
      report({ ...at, success: true } as ReportInput, true),
      ...closings,
    ],
  };
}

/** Blocks of one source on one upstream, in every policy: what lengthens, what shortens, what stays. */
export function source(name: 'retry_after' | 'reset_announced' | 'backoff'): CapacityScenario {
  const at = { upstream: 'a' };
  const fails = (more: Partial<BlockSaid>, of = {}) =>
    report({ ...at, ...of, block: { ...soft, source: name, ...more } }, false);
  const [short, long] = name === 'backoff' ? [{}, {}] : [{ forMs: 30 * SECOND }, { forMs: MINUTE }];
  return {
    name: `an upstream with blocks of source ${name}`,
    start: start({ upstream: 'a', pool: 'p', provider: 'x' }),
    horizonMs: 90 * SECOND,
    maxStep: 2,
    moves: [
      time(30 * SECOND),
      fails(short),
      fails(long, { elapsedMs: 30 * SECOND }),
      fails({ policy: 'manual' }),
      fails({ ...short, policy: 'snapshot' }),
      report(at, true),
      report({ ...at, model: 'm', elapsedMs: 30 * SECOND }, true),
      ...selections('l', ['a'], 45 * SECOND, 'm'),
      report({ ...at, lease: 'l' }, true),
      report({ ...at, lease: 'l', block: { ...soft, source: name, ...long } }, false),
      ...closings,
    ],
  };
}

/** Out by two reasons at once, one of them for a model alone: each ends for itself. */
export function twoReasons(): CapacityScenario {
  const at = { upstream: 'a' };
  return {
    name: 'an upstream out by two reasons, one for a model alone',
    start: start({ upstream: 'a', pool: 'p', provider: 'x' }),
    horizonMs: MINUTE,
    maxStep: 1,
    moves: [
      time(30 * SECOND),
      report({ ...at, block: { ...soft, source: 'retry_after', forMs: MINUTE } }, false),
      report({ ...at, block: { ...soft, scope: 'model:m' } }, false),
      report(at, true),
      report({ ...at, model: 'm' }, true),
      ...selections('l', ['a'], 45 * SECOND, 'm'),
      ...selections('k', ['a'], 45 * SECOND),
    ],
  };
}

/** Three upstreams of a provider, two of which fail already: trouble that is theirs, that is the provider's, and trials across them. */
export function oneProvider(maxStep: number): CapacityScenario {
  const broken: BlockSaid = { kind: 'server_error', source: 'backoff', policy: 'auto' };
  const fails = (upstream: string): CapacityAction => ({
    transition: 'upstream.report',
    input: { upstream, success: false, block: broken },
  });
  const three = start(...['a', 'b', 'c'].map((upstream) => ({ upstream, pool: 'p', provider: 'x' })));
  return {
    name: `three upstreams of one provider, ${maxStep} steps`,
    start: ['b', 'c'].reduce((world, upstream) => applyCapacity(world, fails(upstream)).world, three),
    horizonMs: MINUTE,
    maxStep,
    moves: [
      time(30 * SECOND),
      ...selections('l', ['a', 'b'], 45 * SECOND),
      ...selections('m', ['a', 'b'], 45 * SECOND),
      report({ upstream: 'a', lease: 'l' }, true),
      report({ upstream: 'b', lease: 'm' }, true),
      report({ upstream: 'a', lease: 'l', block: broken }, false),
      always(fails('a')),
      always({ transition: 'provider.block', input: { provider: 'x' } }),
    ],
  };
}

/** A block that nobody tries: days go by. */
export function forgotten(): CapacityScenario {
  const at = { upstream: 'a' };
  const DAY = 86_400_000;
  return {
    name: 'a block that nobody tries for days',
    start: start({ upstream: 'a', pool: 'p', provider: 'x' }),
    horizonMs: 2 * DAY,
    maxStep: 2,
    moves: [
      time(DAY / 2),
      report({ ...at, block: soft }, false),
      report({ ...at, block: { ...soft, kind: 'billing', policy: 'manual' } }, false),
      (world) => {
        const open = Object.entries(world.blocks).find(([, block]) => isOpen(block) && block.until !== null);
        if (!open || open[1].until! >= world.clock - DAY) return undefined;
        return { transition: 'block.lapse', input: { block: open[0], generation: open[1].generation } };
      },
      (world) => {
        const open = Object.entries(world.blocks).find(([, block]) => isOpen(block) && block.generation > 1);
        return open && { transition: 'block.lapse', input: { block: open[0], generation: open[1].generation - 1 } };
      },
      ...closings,
    ],
  };
}
