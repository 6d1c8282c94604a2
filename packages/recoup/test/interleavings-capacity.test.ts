// Two transitions of one upstream, one behind the other's lock: the second answers as if it had come later, whatever it saw before.
import { expect, test } from 'vitest';
import type { BlockSaid, ReportInput } from '../model/capacity/reports.ts';
import { isOpen } from '../model/capacity/world.ts';
import { BothCapacities } from '../simulation/capacity/both.ts';
import type { CapacityCall, CapacityCommand } from '../simulation/capacity/commands.ts';
import type { End } from '../simulation/commands.ts';
import { testDatabase } from '../src/testing.ts';
import { servers } from './support/stage.ts';

const SECOND = 1000;
const soft: BlockSaid = { kind: 'rate_limited', source: 'backoff', policy: 'auto' };
const broken: BlockSaid = { ...soft, kind: 'server_error' };
const overloaded: BlockSaid = { ...soft, kind: 'overloaded', subject: 'provider' };

const select = (lease: string): CapacityCall => ({
  transition: 'upstream.select',
  input: { pool: 'p', lease, leaseMs: 60 * SECOND, upstream: null },
});
const report = (input: Omit<ReportInput, 'upstream'> & { upstream?: string }): CapacityCall => ({
  transition: 'upstream.report',
  input: { upstream: 'a', ...input },
});
const change = (input: object): CapacityCall => ({
  transition: 'upstream.register',
  input: { upstream: 'a', ...input },
});

/** Everything that a caller or an operator can say of the upstream, in the shapes that differ in what they lock or write. */
const CALLS: Readonly<Record<string, (block: string) => CapacityCall>> = {
  select: () => select('n'),
  'select by a lease that is out': () => select('t'),
  'succeed under its lease': () => report({ lease: 't', success: true }),
  'fail under its lease': () => report({ lease: 't', success: false, block: soft }),
  succeed: () => report({ success: true }),
  'succeed at its neighbour': () => report({ upstream: 'b', success: true }),
  fail: () => report({ success: false, block: soft }),
  'fail for good': () => report({ success: false, block: { ...soft, policy: 'manual' } }),
  'fail as its provider does': () => report({ success: false, block: broken }),
  'fail for all of its provider': () => report({ upstream: 'b', success: false, block: overloaded }),
  'close its block': (block) => ({ transition: 'block.close', input: { block, as: 'operator', generation: 1 } }),
  'switch it off': () => change({ status: 'off' }),
  extend: () => ({ transition: 'upstream.extend', input: { lease: 't', leaseMs: 90 * SECOND } }),
  release: () => ({ transition: 'upstream.release', input: { lease: 't' } }),
};

const say = (...calls: CapacityCall[]): CapacityCommand[] =>
  calls.map((call) => ({ kind: 'calls', replica: 0, calls: [call], mode: 'single' }));
const pass = (ms: number): CapacityCommand => ({ kind: 'clock', ms });

const BASE = say(
  change({ pool: 'p', provider: 'x', maxConcurrency: 1 }),
  ...['b', 'c', 'd'].map((upstream) => change({ upstream, pool: upstream, provider: 'x' })),
  ...['b', 'c', 'd'].map((upstream) => report({ upstream, success: false, block: broken })).slice(0, 2),
);

/** The states that an upstream is in when the two arrive. */
const STATES: Readonly<Record<string, readonly CapacityCommand[]>> = {
  'in use, on its last slot': [...say(select('t')), pass(SECOND)],
  'free on its last slot': [pass(SECOND)],
  blocked: [...say(report({ success: false, block: soft })), pass(SECOND)],
  'half open': [...say(report({ success: false, block: soft })), pass(31 * SECOND)],
  'half open, its trial out': [
    ...say(report({ success: false, block: soft })),
    ...[pass(31 * SECOND), ...say(select('t')), pass(SECOND)],
  ],
  'half open with all of its provider': [...say(report({ success: false, block: overloaded })), pass(31 * SECOND)],
};

/** Every pair in that state; what is wrong of it. */
async function wrongOf(both: BothCapacities, state: string, end: End, only: (index: number) => boolean) {
  const names = Object.keys(CALLS);
  const pairs = names.flatMap((first) => names.map((second) => [first, second] as const));
  const wrong: unknown[] = [];
  for (const [first, second] of pairs.filter((_, index) => only(index))) {
    await both.begin();
    for (const command of [...BASE, ...STATES[state]!]) await both.deliver(command);
    const own = Object.entries(both.world.blocks).filter(
      ([, block]) => block.subjectId !== 'b' && block.subjectId !== 'c',
    );
    const block = own.find(([, one]) => isOpen(one))?.[0] ?? 'none';
    const [calls, call] = [[CALLS[first]!(block)], CALLS[second]!(block)];
    try {
      await both.deliver({ kind: 'behind', replica: 0, calls, end, rival: 1, call });
      await both.verify();
    } catch (error) {
      wrong.push({ first, second, problem: (error as Error).message });
    }
  }
  return wrong;
}

for (const server of servers) {
  for (const state of Object.keys(STATES)) {
    test(`two transitions of an upstream that is ${state}: the one behind a lock answers as if it had come later [${server.name}]`, async () => {
      await using db = await testDatabase(server.url);
      const both = await BothCapacities.open(db, { replicas: 2 });
      try {
        // All pairs of one state take half a minute: of each state another third, so that over the states most are met; all where EVERY_PAIR is set.
        const from = Object.keys(STATES).indexOf(state);
        const every = (process.env.EVERY_PAIR ? 1 : 3) * (server === servers[0] ? 1 : 3);
        const of = (some: number) => (index: number) => (index + from) % some === 0;
        expect(await wrongOf(both, state, 'commit', of(every))).toEqual([]);
        expect(await wrongOf(both, state, 'rollback', of(every * 3))).toEqual([]);
        expect(both.tally.waited).toBeGreaterThan(0);
      } finally {
        await both.close();
      }
    });
  }
}
