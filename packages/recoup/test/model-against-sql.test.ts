// The model against the database: random commands, given to both, leave both in the same world with the same answers.
import fc from 'fast-check';
import { expect } from 'vitest';
import type { Queue } from '../model/world.ts';
import { BothWorlds, type Command, LATEST } from './support/both-worlds.ts';
import type { Call, Mode } from './support/calls.ts';
import { booksAreRight, type Stage, servers, staging } from './support/stage.ts';

const { onEvery } = staging();

/** More of them by hand: `MODEL_RUNS=3000 npx vitest run …`. */
const RUNS = Number(process.env.MODEL_RUNS ?? 120);

const QUEUES: Record<string, Partial<Queue>> = {
  early: { maxFailures: 2, maxReleases: 1 },
  late: { maxFailures: 3, refundOn: 'final', backoffBaseMs: 1000, backoffMaxMs: 2000, retryAfterMaxMs: 50_000 },
};

/** Jobs over two wallets: in either queue or in none, free or with a price, at once or later. */
const JOBS = [
  { wallet: 'u', job: 'a', queue: 'early', price: 40 },
  { wallet: 'u', job: 'b', queue: null, price: 30, deadlineMs: 60_000 },
  { wallet: 'u', job: 'c', queue: 'early', price: 0, delayMs: 1000 },
  { wallet: 'v', job: 'a', queue: 'late', price: 20 },
  { wallet: 'v', job: 'd', queue: 'late', price: 7, delayMs: 1000 },
  { wallet: 'v', job: 'e', queue: null, price: 7 },
] as const;

const wallet = fc.constantFrom('u', 'u', 'v', 'v', 'nowhere');
const submission = fc.constantFrom(...JOBS);
const key = submission.map(({ wallet, job }) => ({ wallet, job }));
/** Often a job that is in the state that the call is for, if there is one. */
const inState = (...states: string[]) =>
  fc.oneof(
    { weight: 1, arbitrary: key },
    { weight: 2, arbitrary: fc.constantFrom(...states).map((state) => ({ wallet: '', job: `@${state}` })) },
  );
/** Mostly the attempt that the job is in when the call is made; also stale ones, and one that is still to come. */
const attempt = fc.constantFrom(LATEST, LATEST, LATEST, LATEST, LATEST - 1, LATEST + 1, 1, 2);
const attempts = fc
  .record({ at: inState('running', 'running', 'waiting', 'queued'), attempt })
  .map(({ at, attempt }) => ({ ...at, attempt }));
const maybe = fc.record({
  at: inState('running', 'running', 'waiting', 'queued', 'dead'),
  attempt: fc.option(attempt, { nil: undefined, freq: 8 }),
});
const named = maybe.map(({ at, attempt }) => (attempt === undefined ? at : { ...at, attempt }));
const price = fc.constantFrom(0, 25, 25, 55);

const callOf = {
  'wallet.open': fc.record({
    wallet,
    customer: fc.constantFrom('c', 'c', 'other'),
    overdraftLimit: fc.constantFrom(0, 0, 15),
  }),
  'wallet.change': fc.oneof(
    fc.record({ wallet, status: fc.constantFrom('active', 'active', 'closed') }),
    fc.record({ wallet, overdraftLimit: fc.constantFrom(0, 15) }),
  ),
  'wallet.grant': fc.record({ wallet, key: fc.constantFrom('k1', 'k2', 'k3'), amount: fc.constantFrom(50, 50, 51) }),
  'wallet.adjust': fc.record({
    wallet,
    key: fc.constantFrom('k3', 'k4', 'k5'),
    amount: fc.constantFrom(-9, 9),
    job: fc.constantFrom('a', 'b'),
  }),
  'job.submit': fc
    .record({ job: submission, change: fc.constantFrom({}, {}, {}, {}, { price: 41 }, { payload: 'other' }) })
    .map(({ job, change }) => ({ ...job, ...change })),
  'job.extend': attempts,
  'job.handOver': attempts.map((at) => ({ ...at, deadlineMs: 60_000 })),
  'job.fail': fc
    .record({
      at: named,
      verdict: fc.constantFrom('presumed', 'definitive'),
      retryable: fc.constantFrom(true, true, false),
      retryAfterMs: fc.constantFrom(undefined, undefined, 0, 40_000, 90_000),
    })
    .map(({ at, verdict, retryable, retryAfterMs }) => ({
      ...at,
      verdict,
      retryable,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    })),
  'job.succeed': fc
    .record({ at: named, finalPrice: fc.option(price, { nil: undefined }) })
    .map(({ at, finalPrice }) => ({ ...at, ...(finalPrice === undefined ? {} : { finalPrice }) })),
  'job.settle': fc
    .record({ at: inState('succeeded', 'canceled'), finalPrice: price })
    .map(({ at, finalPrice }) => ({ ...at, finalPrice })),
  'job.cancel': fc
    .record({ at: key, kept: fc.option(price, { nil: undefined }) })
    .map(({ at, kept }) => ({ ...at, ...(kept === undefined ? {} : { kept }) })),
  'job.release': attempts,
  'job.redrive': fc.oneof(inState('dead', 'discarded'), named),
  'job.discard': fc.oneof(inState('dead'), named),
} satisfies Partial<Record<Call['transition'], fc.Arbitrary<object>>>;

const mode = fc.constantFrom<Mode>('one by one', 'one by one', 'turn', 'many', 'transaction');

/** One to five calls of a transition, now and then the same one twice. */
function calls(transition: keyof typeof callOf): fc.Arbitrary<Command> {
  const one = callOf[transition].map((input) => ({ transition, input }) as unknown as Call);
  const several = fc.record({ some: fc.array(one, { minLength: 1, maxLength: 4 }), twin: fc.boolean() });
  return fc.record({ several, mode }).map(({ several: { some, twin }, mode }) => ({
    kind: 'calls' as const,
    calls: twin ? [...some, some[0]!] : some,
    mode,
  }));
}

const lease = fc.record({
  queue: fc.constantFrom('early', 'late'),
  count: fc.integer({ min: 1, max: 3 }),
  request: fc.constantFrom(null, null, 'r1', 'r2'),
});

const command = fc.oneof(
  { weight: 3, arbitrary: calls('job.submit') },
  { weight: 16, arbitrary: lease.map((input): Command => ({ kind: 'lease', ...input })) },
  { weight: 12, arbitrary: calls('job.fail') },
  { weight: 3, arbitrary: calls('job.succeed') },
  { weight: 2, arbitrary: calls('job.settle') },
  { weight: 1, arbitrary: calls('job.cancel') },
  { weight: 3, arbitrary: calls('job.extend') },
  { weight: 3, arbitrary: calls('job.handOver') },
  { weight: 4, arbitrary: calls('job.release') },
  { weight: 5, arbitrary: calls('job.redrive') },
  { weight: 3, arbitrary: calls('job.discard') },
  { weight: 3, arbitrary: calls('wallet.grant') },
  { weight: 2, arbitrary: calls('wallet.adjust') },
  { weight: 1, arbitrary: calls('wallet.change') },
  { weight: 1, arbitrary: calls('wallet.open') },
  { weight: 1, arbitrary: fc.boolean().map((paused): Command => configure(paused)) },
  {
    weight: 12,
    arbitrary: fc.constantFrom(1, 5000, 10_000, 30_000, 60_000, 3_600_001).map((ms): Command => ({ kind: 'pass', ms })),
  },
  { weight: 8, arbitrary: fc.constant<Command>({ kind: 'sweep' }) },
  { weight: 1, arbitrary: fc.constant<Command>({ kind: 'prune' }) },
);

function configure(paused: boolean): Command {
  const call: Call = { transition: 'queue.configure', input: { queue: 'early', settings: { paused } } };
  return { kind: 'calls', calls: [call], mode: 'one by one' };
}

/** Both wallets are open and one can pay: what comes next meets something. */
const opening: Command[] = [
  {
    kind: 'calls',
    mode: 'one by one',
    calls: [
      { transition: 'wallet.open', input: { wallet: 'u', customer: 'c', overdraftLimit: 0 } },
      { transition: 'wallet.open', input: { wallet: 'v', customer: 'c', overdraftLimit: 15 } },
    ],
  },
  {
    kind: 'calls',
    mode: 'turn',
    calls: [{ transition: 'wallet.grant', input: { wallet: 'u', key: 'k0', amount: 100 } }],
  },
  { kind: 'calls', mode: 'many', calls: JOBS.map((input) => ({ transition: 'job.submit', input })) },
];

async function differ(s: Stage, numRuns: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.array(command, { minLength: 15, maxLength: 40 }), async (commands) => {
      const worlds = await BothWorlds.begin(s, QUEUES);
      for (const one of [...opening, ...commands]) await worlds.run(one);
      expect(await s.recoup.verify({ testClock: true })).toMatchObject({ ok: true });
    }),
    // On a machine that is busy with other things, as many as fit.
    { numRuns: Math.ceil(numRuns), interruptAfterTimeLimit: RUNS * 300 },
  );
}

onEvery(
  'random commands, single and in batches, twice and too late, leave the model and the database in one world',
  async (s) => {
    await differ(s, s.server === servers[0] ? RUNS : RUNS / 3);
  },
);

onEvery('the books are right', booksAreRight);
