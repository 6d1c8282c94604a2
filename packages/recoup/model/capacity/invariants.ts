// What must be true of capacity in every state: the constraints of the tables, and blocks against their events.
import { type Block, type BlockEvent, type Capacity, isOpen, keyOfBlock } from './world.ts';

/** The CHECKs of the blocks table by their names. */
const CHECKS: Readonly<Record<string, (block: Block) => boolean>> = {
  blocks_until: ({ policy, until }) => (policy === 'manual') === (until === null),
  blocks_step: ({ step }) => step >= 1,
  blocks_trials: ({ trials }) => [1, 2, 4, 8].includes(trials),
  blocks_closed: ({ closedAt, closedAs }) => (closedAt === null) === (closedAs === null),
  blocks_manual: ({ policy, closedAs }) =>
    policy !== 'manual' || closedAs === null || ['operator', 'credential', 'superseded'].includes(closedAs),
};

/** Every rule that the state breaks, in words. */
export function capacityInvariants({ upstreams, blocks, events, leases }: Capacity): string[] {
  const problems: string[] = [];
  for (const [name, block] of Object.entries(blocks)) {
    for (const [rule, holds] of Object.entries(CHECKS)) if (!holds(block)) problems.push(`${name}: ${rule}`);
    const own = events.filter((event) => event.block === name);
    problems.push(...historyOf(block, own).map((problem) => `${name}: ${problem}`));
  }
  const open = Object.values(blocks).filter(isOpen).map(keyOfBlock);
  for (const key of new Set(open.filter((key, index) => open.indexOf(key) !== index)))
    problems.push(`${key}: blocks_open`);
  for (const [id, { leasedAt, leaseUntil, upstream }] of Object.entries(leases)) {
    if (leaseUntil <= leasedAt) problems.push(`lease ${id}: upstream_leases_until`);
    if (!upstreams[upstream]) problems.push(`lease ${id}: of an upstream that is not there`);
  }
  return problems;
}

/** The first event opens it, each has its number, and the last closes it exactly if it is closed. */
function historyOf(block: Block, events: readonly BlockEvent[]): string[] {
  const last = events.at(-1);
  const wrong = events.some(({ generation, type }, i) => generation !== i + 1 || (type === 'opened') !== (i === 0));
  if (wrong || events.length !== block.generation) return [`blocks.events: ${events.map(({ type }) => type)}`];
  return (last?.type === 'closed') === isOpen(block) ? ['blocks.events: its end'] : [];
}
