// What can happen in a simulation, as data: a history of commands can be shortened, printed and run again.
import type { Call } from './calls.ts';

/**
 * `request`: the statement never arrives. `commit`: it was done, and the connection broke before the commit. `answer`: it
 * was committed, and nobody heard of it.
 */
export type Cut = 'request' | 'commit' | 'answer';

/** A cut connection. `at`: which transition of the command, from 1, or its COMMIT. `crash`: the whole replica goes with it. */
export interface Fault {
  readonly at: number | 'commit';
  readonly cut: Cut;
  readonly crash: boolean;
}

/** `single`: one call. `turn`: all at once, so that they share statements. `many`: the batch form, where there is one. */
export type Mode = 'single' | 'turn' | 'many' | 'transaction';

export type Command =
  | { kind: 'calls'; replica: number; calls: readonly Call[]; mode: Mode; fault?: Fault }
  | { kind: 'lease'; replica: number; queue: string; count: number; request: string | null; fault?: Fault }
  /** `meanwhile`: calls of another replica, between what the sweep reads and what it writes. */
  | { kind: 'sweep'; replica: number; fault?: Fault; meanwhile?: { rival: number; calls: readonly Call[] } }
  | { kind: 'prune'; replica: number; fault?: Fault }
  /** A transaction that is still open while another replica's call begins; then it ends in one way or another. */
  | { kind: 'behind'; replica: number; calls: readonly Call[]; end: End; rival: number; call: Call }
  /** The database's clock jumps, forth or back. */
  | { kind: 'clock'; ms: number }
  | { kind: 'crash'; replica: number };

export type End = 'commit' | 'rollback' | 'cut before the commit' | 'answer lost';

const one = ({ transition, input }: Call) => `${transition} ${JSON.stringify(input)}`;

function faultIn({ at, cut, crash }: Fault): string {
  const what = at === 'commit' ? 'COMMIT' : `transition ${at}`;
  const how = { request: 'never arrives', commit: 'is cut before its commit', answer: 'is done, its answer lost' }[cut];
  return ` — ${what} ${how}${crash ? ', and the replica is gone' : ''}`;
}

/** A command as a line for people. */
export function inWords(command: Command): string {
  if (command.kind === 'clock') return `the clock jumps by ${command.ms} ms`;
  const who = `replica ${command.replica}`;
  if (command.kind === 'crash') return `${who} crashes`;
  if (command.kind === 'behind') {
    const { calls, end, rival, call } = command;
    return `${who}, transaction: ${calls.map(one).join('; ')}; meanwhile replica ${rival}: ${one(call)}; then ${end}`;
  }
  const fault = command.fault ? faultIn(command.fault) : '';
  if (command.kind === 'calls') {
    const mode = command.mode === 'single' ? '' : ` (${command.mode})`;
    return `${who}${mode}: ${command.calls.map(one).join('; ')}${fault}`;
  }
  if (command.kind === 'sweep' && command.meanwhile) {
    const { rival, calls } = command.meanwhile;
    return `${who}: sweep; before it writes, replica ${rival}: ${calls.map(one).join('; ')}${fault}`;
  }
  if (command.kind !== 'lease') return `${who}: ${command.kind}${fault}`;
  const { queue, count, request } = command;
  return `${who}: lease ${count} of ${queue}${request === null ? '' : `, request ${request}`}${fault}`;
}
