// The model keeps every promise in every state of small worlds, its walk finds what a broken one does, and delays are right.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Model, model } from '../model/model.ts';
import { mutants } from '../model/mutants.ts';
import { oneJob, queueRims, threeJobs, walletRims } from '../model/scenarios.ts';
import { type Scenario, type Walk, walk } from '../model/walk.ts';
import { type Backoff, refundDue, retryDelayMs, settleAmount } from '../src/jobs/rules.ts';

/** Three jobs are a product: here, two of them at a time. */
function narrowed(scenario: Scenario, ids: readonly string[]): Scenario {
  const moves = scenario.moves.filter(({ input }) => !('job' in input) || ids.includes(input.job ?? ''));
  return { ...scenario, name: `${scenario.name}: ${ids.join(', ')}`, moves };
}

const SMALL: readonly Scenario[] = [
  oneJob('failure', 2),
  narrowed(threeJobs(1), ['a', 'b']),
  queueRims(),
  oneJob('final', 2),
];

describe('every state of a small world', () => {
  test.each([...SMALL, narrowed(walletRims(), ['a'])])('$name', (scenario) => {
    const { violation, states } = walk(scenario);
    expect(violation).toBeUndefined();
    expect(states).toBeGreaterThan(500);
  });
});

describe('a broken model is caught', () => {
  test.each(Object.entries(mutants))('%s', (_name, mutant) => {
    const by: Model = { ...model, ...mutant };
    let found: Walk['violation'];
    for (const scenario of SMALL) {
      found = walk(scenario, { by }).violation;
      if (found) break;
    }
    expect(found?.problems.length).toBeGreaterThan(0);
    expect(found?.history.length).toBeGreaterThan(0);
  });

  test('by the shortest history', () => {
    const by: Model = { ...model, ...mutants['a success does not reclaim'] };
    const history = walk(oneJob('failure', 2), { by }).violation?.history ?? [];
    expect(history.map((line) => line.replace(/ .*: /, ' '))).toEqual([
      'wallet.grant granted',
      'job.submit charged',
      'time.pass passed',
      'job.lease leased',
      'job.fail retrying',
      'job.succeed reclaimed',
    ]);
  });
});

describe('retryDelayMs', () => {
  const backoffs = fc
    .tuple(fc.integer({ min: 0, max: 31_536_000_000 }), fc.integer({ min: 0, max: 31_536_000_000 }))
    .map(([one, other]): Backoff => ({ baseMs: Math.min(one, other), maxMs: Math.max(one, other) }));
  const runs = fc.record({
    walletId: fc.string(),
    jobId: fc.string(),
    attempt: fc.integer({ min: 1, max: 1_000_000 }),
  });

  test('is between half and all of the nominal delay, an integer, and the same each time', () => {
    fc.assert(
      fc.property(backoffs, fc.integer({ min: 1, max: 60 }), runs, (backoff, failures, run) => {
        const nominal = Math.min(backoff.baseMs * 2 ** Math.min(failures - 1, 40), backoff.maxMs);
        const delay = retryDelayMs(backoff, failures, run);
        expect(Number.isSafeInteger(delay)).toBe(true);
        expect(delay).toBeGreaterThanOrEqual(nominal / 2);
        expect(delay).toBeLessThanOrEqual(nominal);
        expect(retryDelayMs({ ...backoff }, failures, { ...run })).toBe(delay);
      }),
    );
  });

  test('never exceeds the maximum and never overflows, however many failures', () => {
    const backoff = { baseMs: 5_000, maxMs: 300_000 };
    for (const failures of [7, 41, 1_024, 2_000, 2_147_483_647]) {
      const delay = retryDelayMs(backoff, failures, { walletId: 'w', jobId: 'j', attempt: 2_000 });
      expect(delay).toBeGreaterThanOrEqual(150_000);
      expect(delay).toBeLessThanOrEqual(300_000);
    }
  });

  test('spreads jobs that fail together over at least half of the nominal delay', () => {
    const backoff = { baseMs: 60_000, maxMs: 60_000 };
    const delays = Array.from({ length: 1_000 }, (_, index) =>
      retryDelayMs(backoff, 1, { walletId: 'w', jobId: `job-${index}`, attempt: 1 }),
    );
    const buckets = new Set(delays.map((delay) => Math.floor(delay / 1_000)));
    expect(Math.min(...delays)).toBeLessThan(30_300);
    expect(Math.max(...delays)).toBeGreaterThan(59_700);
    expect(buckets.size).toBeGreaterThanOrEqual(30);
  });

  test('keeps wallet, job and attempt apart', () => {
    const backoff = { baseMs: 1_000_000_000, maxMs: 1_000_000_000 };
    const runsOf = [
      { walletId: 'ab', jobId: 'c', attempt: 1 },
      { walletId: 'a', jobId: 'bc', attempt: 1 },
      { walletId: 'a', jobId: 'b', attempt: 1 },
      { walletId: 'a', jobId: 'b', attempt: 2 },
    ];
    expect(new Set(runsOf.map((run) => retryDelayMs(backoff, 1, run))).size).toBe(4);
  });
});

test('a refund is due once: at the first failure or at the end, as the queue says', () => {
  expect(refundDue({ refunded: false, refundOn: 'failure' }, false)).toBe(true);
  expect(refundDue({ refunded: false, refundOn: 'final' }, false)).toBe(false);
  expect(refundDue({ refunded: false, refundOn: 'final' }, true)).toBe(true);
  expect(refundDue({ refunded: true, refundOn: 'failure' }, true)).toBe(false);
});

test('a settle turns what was taken into the final price', () => {
  fc.assert(
    fc.property(fc.boolean(), fc.maxSafeNat(), fc.maxSafeNat(), (canceled, price, finalPrice) => {
      const taken = canceled ? 0 : price;
      expect(taken - settleAmount(canceled, price, finalPrice)).toBe(finalPrice);
      expect(Object.is(settleAmount(canceled, price, finalPrice), -0)).toBe(false);
    }),
  );
});
