// The model of capacity with one hole at a time, each like a statement could have: the walk must find every one of them.
import { nameOf } from '../promises.ts';
import { type CapacityModel, capacityModel } from './model.ts';
import { startOf, troubleOf } from './reports.ts';
import {
  type Block,
  type Capacity,
  type CapacityStep,
  closeAs,
  isDue,
  isOpen,
  openAs,
  says,
  withoutLease,
} from './world.ts';

const {
  'upstream.select': select,
  'upstream.extend': extend,
  'upstream.register': register,
  'upstream.report': report,
  'provider.block': blockProvider,
  'block.close': close,
  'block.lapse': lapse,
} = capacityModel;

const mapBlocks = (world: Capacity, change: (block: Block) => Partial<Block>): Capacity => ({
  ...world,
  blocks: Object.fromEntries(
    Object.entries(world.blocks).map(([name, block]) => [name, { ...block, ...change(block) }]),
  ),
});

/** What a step wrote, changed once more. */
const wrote = (
  before: Capacity,
  step: CapacityStep,
  change: (block: Block, old: Block) => Partial<Block>,
): CapacityStep => {
  const blocks = Object.entries(step.world.blocks).map(([name, block]) => {
    const old = before.blocks[name];
    return [name, old && old !== block ? { ...block, ...change(block, old) } : block] as const;
  });
  return { ...step, world: { ...step.world, blocks: Object.fromEntries(blocks) } };
};

/** Selects in a world that looks as if something were not so, and gives what was changed back. */
const selectIn =
  (seem: (world: Capacity) => Capacity): CapacityModel['upstream.select'] =>
  (world, input) => {
    const step = select(seem(world), input);
    const { leases, started } = step.world;
    const given = nameOf(step.answer) === 'selected' && leases[input.lease] !== world.leases[input.lease];
    return given
      ? { ...step, world: { ...world, started, leases: { ...world.leases, [input.lease]: leases[input.lease]! } } }
      : { ...step, world };
  };

const noLeases = (world: Capacity): Capacity => ({ ...world, leases: {} });
const asOn = (world: Capacity): Capacity => ({
  ...world,
  upstreams: Object.fromEntries(
    Object.entries(world.upstreams).map(([id, of]) => [id, { ...of, status: 'on' as const }]),
  ),
});
const boundless = (world: Capacity): Capacity => ({
  ...world,
  upstreams: Object.fromEntries(
    Object.entries(world.upstreams).map(([id, of]) => [id, { ...of, maxConcurrency: null }]),
  ),
});

export const capacityMutants: Readonly<Record<string, Partial<CapacityModel>>> = {
  'a selection does not count slots': { 'upstream.select': selectIn(boundless) },
  'a selection does not count trials': {
    'upstream.select': selectIn((world) => mapBlocks(world, (block) => (isDue(world, block) ? { trials: 8 } : {}))),
  },
  'a selection does not look at blocks': { 'upstream.select': selectIn((world) => ({ ...world, blocks: {} })) },
  'a selection does not look at the status': { 'upstream.select': selectIn(asOn) },
  'a selection does not know its lease': { 'upstream.select': selectIn(noLeases) },
  'a lapsed lease is extended': {
    'upstream.extend': (world, input) => {
      const lease = world.leases[input.lease];
      if (!lease || lease.leaseUntil > world.clock) return extend(world, input);
      const leaseUntil = world.clock + input.leaseMs;
      return says({ ...world, leases: { ...world.leases, [input.lease]: { ...lease, leaseUntil } } }, 'extended');
    },
  },
  'an extension shortens': {
    'upstream.extend': (world, input) =>
      nameOf(extend(world, { ...input, leaseMs: 1 }).answer) === 'extended'
        ? says(
            {
              ...world,
              leases: {
                ...world.leases,
                [input.lease]: { ...world.leases[input.lease]!, leaseUntil: world.clock + 1 },
              },
            },
            'extended',
          )
        : extend(world, input),
  },
  'what is retired comes back': {
    'upstream.register': (world, input) => {
      const known = world.upstreams[input.upstream];
      const asOff = known && {
        ...world,
        upstreams: { ...world.upstreams, [known.id]: { ...known, status: 'off' as const } },
      };
      const step = register(world, input);
      return 'refusal' in step.answer && step.answer.refusal === 'upstream_retired' && asOff
        ? register(asOff, input)
        : step;
    },
  },
  'a report keeps its lease': {
    'upstream.report': (world, input) => {
      const step = report(world, input);
      return { ...step, world: { ...step.world, leases: world.leases } };
    },
  },
  'a late report about what is off switches it on': {
    'upstream.report': (world, input) => {
      const step = report(world, input);
      return input.success ? { ...step, world: asOn(step.world) } : step;
    },
  },
  'a repeat is taken for a request of now': {
    'upstream.report': (world, input) =>
      startOf(world, input) === undefined ? report(world, { ...input, elapsedMs: 0 }) : report(world, input),
  },
  'what began before the end opens it again': {
    'upstream.report': (world, input) => {
      const step = report(world, input);
      return step.answer.block === null && input.block ? report(world, { ...input, startedAt: world.clock }) : step;
    },
  },
  'a success looks at its end, not at its beginning': {
    'upstream.report': (world, { lease, ...input }) => {
      const step = report(world, { ...input, ...(input.success ? { elapsedMs: 0 } : lease ? { lease } : {}) });
      return lease && world.leases[lease] ? { ...step, world: withoutLease(step.world, lease) } : step;
    },
  },
  'a success ends a manual block': {
    'upstream.report': (world, input) => {
      const step = report(world, input);
      const open = Object.entries(step.world.blocks).find(([, block]) => isOpen(block) && block.policy === 'manual');
      return input.success && open ? { ...step, world: closeAs(step.world, open[0], 'success') } : step;
    },
  },
  'a success ends what a snapshot said': {
    'upstream.report': (world, input) => {
      const as = (from: 'snapshot' | 'auto', to: 'snapshot' | 'auto') => (one: Capacity) =>
        mapBlocks(one, ({ policy }) => (policy === from ? { policy: to } : {}));
      if (!input.success || !Object.values(world.blocks).some(({ policy }) => policy === 'snapshot'))
        return report(world, input);
      const step = report(as('snapshot', 'auto')(world), input);
      return { ...step, world: as('auto', 'snapshot')(step.world) };
    },
  },
  'one trial is enough': {
    'upstream.report': (world, input) => {
      const step = report(world, input);
      const name = Object.keys(step.world.blocks).find(
        (one) => step.world.blocks[one]!.trials > (world.blocks[one]?.trials ?? 8),
      );
      return name && input.success ? { ...step, world: closeAs(step.world, name, 'success') } : step;
    },
  },
  'a trial brings three times as many': {
    'upstream.report': (world, input) =>
      wrote(world, report(world, input), (block, old) => (block.trials > old.trials ? { trials: old.trials * 4 } : {})),
  },
  'a failure after the block is one more step': {
    'upstream.report': (world, input) =>
      wrote(world, report(world, input), (block, old) =>
        isOpen(block) && !input.success && !isDue(world, old) ? { step: old.step + 1 } : {},
      ),
  },
  'a failed trial keeps its trials': {
    'upstream.report': (world, input) =>
      wrote(world, report(world, input), (_block, old) =>
        !input.success && isDue(world, old) ? { until: old.until, trials: old.trials } : {},
      ),
  },
  'an order to wait is shortened': {
    'upstream.report': (world, input) =>
      wrote(world, report(world, input), ({ source }, old) =>
        source === 'retry_after' && input.block?.forMs && old.until !== null ? { until: world.clock + 1000 } : {},
      ),
  },
  'what needs a person comes to need nobody': {
    'upstream.report': (world, input) =>
      wrote(world, report(world, input), () =>
        input.block?.policy === 'auto' ? { policy: 'auto', until: world.clock + 1e6 } : {},
      ),
  },
  'a failure is not heard while it is known': {
    'upstream.report': (world, input) => {
      const open = Object.values(world.blocks).some(isOpen);
      const step = report(world, input);
      return !input.success && open ? { ...step, world: { ...world, leases: step.world.leases } } : step;
    },
  },
  'a block opens twice': {
    'upstream.report': (world, input) => {
      const step = report(world, input);
      const name = step.answer.block;
      const block = nameOf(step.answer) === 'extended' && name ? world.blocks[name] : undefined;
      return block ? { ...step, world: openAs(step.world, block, {})[1] } : step;
    },
  },
  'evidence goes back': {
    'upstream.report': (world, input) =>
      wrote(world, report(world, input), (_block, old) => (input.success ? {} : { evidenceAt: old.evidenceAt - 1 })),
  },
  'a change is not told': {
    'upstream.report': (world, input) => {
      const step = report(world, input);
      return { ...step, world: { ...step.world, events: world.events } };
    },
  },
  'a probe ends what needs a person': {
    'block.close': (world, input) => {
      const open = isOpen(world.blocks[input.block] ?? ({ closedAt: 0 } as Block));
      return open && input.as === 'probe' ? says(closeAs(world, input.block, 'probe'), 'closed') : close(world, input);
    },
  },
  'a sweep does not look at the generation': {
    'block.lapse': (world, input) => {
      const generation = world.blocks[input.block]?.generation ?? 0;
      return lapse(world, { ...input, generation });
    },
  },
  'the trouble of upstreams is ended by no trouble of the provider': {
    'provider.block': (world, input) => {
      const step = blockProvider(world, input);
      const [own] = troubleOf(world, input.provider);
      return nameOf(step.answer) === 'none' && own ? says(closeAs(world, own[0], 'superseded'), 'superseded') : step;
    },
  },
  'a provider’s block opens again, and lets in as many as before': {
    'provider.block': (world, input) =>
      wrote(world, blockProvider(world, input), (block, old) =>
        isOpen(block) ? { trials: old.trials, until: old.until } : {},
      ),
  },
};
