// What can happen in a simulation of capacity, as data; and the calls of the library that its actions stand for.
import type { CapacityAction } from '../../model/capacity/model.ts';
import type { BlockSaid } from '../../model/capacity/reports.ts';
import type { BlockFacts, Report } from '../../src/index.ts';
import type { Upstreams } from '../../src/upstreams/upstreams.ts';
import type { End, Fault } from '../commands.ts';

/** What a caller says. What a sweep or a report brings along is no call; which upstream a selection gets is its answer. */
export type CapacityCall = Exclude<CapacityAction, { transition: 'provider.block' | 'block.lapse' }>;

export type CapacityCommand =
  | {
      kind: 'calls';
      replica: number;
      calls: readonly CapacityCall[];
      /** `turn`: all at once, so that they share statements. */
      mode: 'single' | 'turn' | 'transaction';
      fault?: Fault;
    }
  /** `meanwhile`: calls of another replica, between what the sweep reads and what it writes. */
  | {
      kind: 'sweep';
      replica: number;
      fault?: Fault;
      meanwhile?: { rival: number; calls: readonly CapacityCall[] };
    }
  /** A transaction that is still open while another replica's call begins; then it ends in one way or another. */
  | { kind: 'behind'; replica: number; calls: readonly CapacityCall[]; end: End; rival: number; call: CapacityCall }
  | { kind: 'clock'; ms: number }
  | { kind: 'crash'; replica: number };

const one = ({ transition, input }: CapacityCall) => `${transition} ${JSON.stringify(input)}`;

/** A command as a line for people. */
export function capacityInWords(command: CapacityCommand): string {
  if (command.kind === 'clock') return `the clock jumps by ${command.ms} ms`;
  const who = `replica ${command.replica}`;
  if (command.kind === 'crash') return `${who} crashes`;
  if (command.kind === 'behind') {
    const { calls, end, rival, call } = command;
    return `${who}, transaction: ${calls.map(one).join('; ')}; meanwhile replica ${rival}: ${one(call)}; then ${end}`;
  }
  const { fault } = command;
  const cut = fault ? ` — ${fault.cut} of ${fault.at} is cut${fault.crash ? ', and the replica is gone' : ''}` : '';
  if (command.kind === 'calls') return `${who} (${command.mode}): ${command.calls.map(one).join('; ')}${cut}`;
  const { meanwhile } = command;
  const rivals = meanwhile
    ? `; before it writes, replica ${meanwhile.rival}: ${meanwhile.calls.map(one).join('; ')}`
    : '';
  return `${who}: sweep${rivals}${cut}`;
}

/** How the instants and block names of the model are said to the library. */
export interface Spelling {
  at(ms: number): Date;
  idOf(block: string): number;
}

const factsOf = ({ until, ...said }: BlockSaid, spelling: Spelling): BlockFacts => ({
  ...said,
  ...(until === undefined ? {} : { until: spelling.at(until) }),
});

/** Sends an action as the call that it stands for. */
export function sendCapacity(
  upstreams: Upstreams,
  { transition, input }: CapacityCall,
  spelling: Spelling,
): Promise<unknown> {
  switch (transition) {
    case 'upstream.register': {
      const { upstream, pool, provider, ...settings } = input;
      const given = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null));
      if (pool === undefined || provider === undefined) return upstreams.change(upstream, given);
      const { status: _status, ...rest } = given;
      return upstreams.register({ upstream, pool, provider, ...rest });
    }
    case 'upstream.select': {
      const { upstream: _picked, ...wanted } = input;
      return upstreams.select(wanted);
    }
    case 'upstream.extend':
      return upstreams.extend(input.lease, input.leaseMs);
    case 'upstream.release':
      return upstreams.release(input.lease);
    case 'upstream.report': {
      const { block, startedAt, ...rest } = input;
      const said = block ? { block: factsOf(block, spelling) } : {};
      const started = startedAt === undefined ? {} : { startedAt: spelling.at(startedAt) };
      return upstreams.report({ ...rest, ...said, ...started } as Report);
    }
    case 'block.close': {
      const { block, ...rest } = input;
      return upstreams.free(spelling.idOf(block), rest);
    }
  }
}
