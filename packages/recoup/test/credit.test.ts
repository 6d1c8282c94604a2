// What is left of each grant: the fold against a count coin by coin, and what is due of it.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { EntryType } from '../src/outcomes.ts';
import { creditOf, dueOf, type Given } from '../src/wallets/credit.ts';

/** What happens in a wallet: something from outside, or what jobs took (negative) and got back. */
type Happening =
  | { type: 'grant'; amount: number; priority: number; expires: number | null }
  | { type: 'adjust'; amount: number }
  | { type: 'clawback'; amount: number; of: number }
  | { type: 'restore'; of: number }
  | { type: 'expire'; of: number }
  | { type: 'jobs'; amount: number };

const happening: fc.Arbitrary<Happening> = fc.oneof(
  fc.record({
    type: fc.constant('grant' as const),
    amount: fc.integer({ min: 1, max: 9 }),
    priority: fc.constantFrom(5, 5, 0, 9),
    expires: fc.constantFrom(null, 1, 2, 3),
  }),
  fc.record({ type: fc.constant('adjust' as const), amount: fc.integer({ min: -6, max: 6 }).filter((n) => n !== 0) }),
  fc.record({ type: fc.constant('clawback' as const), amount: fc.integer({ min: -6, max: -1 }), of: fc.nat(5) }),
  fc.record({ type: fc.constant('restore' as const), of: fc.nat(5) }),
  fc.record({ type: fc.constant('expire' as const), of: fc.nat(5) }),
  fc.record({ type: fc.constant('jobs' as const), amount: fc.integer({ min: -9, max: 9 }) }),
);

interface Coin {
  from: Given;
  spent: boolean;
}

/** The rule said again, a coin at a time. */
class Purse {
  readonly coins: Coin[] = [];
  /** What was taken, the latest last; null: it was not there. */
  readonly taken: (Coin | null)[] = [];

  get balance(): number {
    return this.coins.filter(({ spent }) => !spent).length - this.taken.filter((coin) => coin === null).length;
  }

  #next(): Coin | undefined {
    const key = ({ from }: Coin) => [
      from.priority,
      from.expiresAt === null ? Infinity : Date.parse(from.expiresAt),
      from.seq,
    ];
    const free = this.coins.filter(({ spent }) => !spent);
    return free.sort((a, b) => {
      const at = key(a).findIndex((part, index) => part !== key(b)[index]);
      return at < 0 ? 0 : key(a)[at]! - key(b)[at]!;
    })[0];
  }

  take(): void {
    const coin = this.#next();
    if (coin) coin.spent = true;
    this.taken.push(coin ?? null);
  }

  giveBack(): void {
    const coin = this.taken.pop();
    if (coin) coin.spent = false;
  }

  add(from: Given): void {
    for (let i = 0; i < from.amount; i++) {
      const debt = this.taken.indexOf(null);
      const coin = { from, spent: debt >= 0 };
      if (debt >= 0) this.taken[debt] = coin;
      this.coins.push(coin);
    }
  }

  left = (seq: number) => this.coins.filter(({ from, spent }) => from.seq === seq && !spent).length;
}

/** Plays it by coins, and says what stands in the ledger after it. */
function play(happenings: readonly Happening[]): { given: Given[]; balance: number; purse: Purse } {
  const purse = new Purse();
  const given: Given[] = [];
  let seq = 0;
  let jobs = 0;
  const write = (type: EntryType, amount: number, more: Partial<Given> = {}) => {
    seq += 1;
    const entry = {
      seq,
      type,
      amount,
      balance: purse.balance + amount,
      priority: 5,
      expiresAt: null,
      of: null,
      ...more,
    };
    given.push(entry);
    return entry;
  };
  // Jobs give back no more than they took.
  const settle = () => {
    for (let i = 0; i < jobs; i++) purse.giveBack();
    for (let i = jobs; i < 0; i++) purse.take();
    jobs = 0;
  };
  // Where nothing is to be done an entry stands all the same: what jobs took is one sum between two entries, not between two tries.
  const instead = () => purse.add(write('adjust', 1));
  for (const one of happenings) {
    if (one.type === 'jobs') {
      jobs = Math.min(jobs + one.amount, purse.taken.length);
      continue;
    }
    settle();
    const grants = given.filter(({ type, amount }) => type === 'grant' && amount > 0);
    if (one.type === 'grant') {
      const expiresAt = one.expires === null ? null : new Date(one.expires).toISOString();
      purse.add(write('grant', one.amount, { priority: one.priority, expiresAt }));
    } else if (one.type === 'adjust') {
      const entry = write('adjust', one.amount);
      if (one.amount > 0) purse.add(entry);
      for (let i = one.amount; i < 0; i++) purse.take();
    } else {
      const of = grants[one.of % Math.max(grants.length, 1)];
      if (!of) {
        instead();
        continue;
      }
      const own = purse.coins.filter(({ from, spent }) => from.seq === of.seq && !spent);
      const taken = given.filter((entry) => entry.of === of.seq && entry.type !== 'expire');
      const back = -taken.reduce((sum, { amount }) => sum + amount, 0);
      if (one.type === 'restore') {
        if (back <= 0) instead();
        else {
          write('restore', back, { of: of.seq });
          purse.add({ ...of, amount: back });
        }
      } else if (one.type === 'expire') {
        if (own.length === 0) instead();
        else write('expire', -own.length, { of: of.seq });
        for (const coin of own) purse.coins.splice(purse.coins.indexOf(coin), 1);
      } else {
        write('clawback', one.amount, { of: of.seq });
        for (let i = one.amount; i < 0; i++) {
          const coin = own.pop();
          if (coin) purse.coins.splice(purse.coins.indexOf(coin), 1);
          else purse.take();
        }
      }
    }
  }
  settle();
  return { given, balance: purse.balance, purse };
}

describe('the fold', () => {
  test('leaves of each grant what is left of its coins; the remainders sum to max(balance, 0)', () => {
    fc.assert(
      fc.property(fc.array(happening, { maxLength: 30 }), (happenings) => {
        const { given, balance, purse } = play(happenings);
        const lots = creditOf(given, balance);
        for (const { from, remaining } of lots) expect(remaining, `of ${from.seq}`).toBe(purse.left(from.seq));
        expect(lots.reduce((sum, { remaining }) => sum + remaining, 0)).toBe(Math.max(balance, 0));
      }),
      { numRuns: 3000 },
    );
  });

  const entry = (seq: number, type: EntryType, amount: number, balance: number, more: Partial<Given> = {}): Given => ({
    ...{ seq, type, amount, balance, priority: 5, expiresAt: null, of: null },
    ...more,
  });
  const at = (ms: number) => new Date(ms).toISOString();
  const left = (given: Given[], balance: number) =>
    creditOf(given, balance).map(({ from, remaining }) => [from.seq, remaining]);

  test('priority comes before expiry, expiry before age', () => {
    const given = [
      entry(1, 'grant', 10, 10),
      entry(2, 'grant', 10, 20, { expiresAt: at(9) }),
      entry(3, 'grant', 10, 30, { expiresAt: at(5) }),
      entry(4, 'grant', 10, 40, { priority: 0 }),
    ];
    expect(left(given, 15)).toEqual([
      [4, 0],
      [3, 0],
      [2, 5],
      [1, 10],
    ]);
  });

  test('a debt is paid first, and what comes back to it is credit of who paid', () => {
    const given = [entry(1, 'grant', 10, 10), entry(2, 'grant', 50, 20, { expiresAt: at(5) })];
    expect(left(given, 20)).toEqual([
      [2, 20],
      [1, 0],
    ]);
    expect(left(given, 45)).toEqual([
      [2, 45],
      [1, 0],
    ]);
    expect(left(given, 60)).toEqual([
      [2, 50],
      [1, 10],
    ]);
  });
});

describe('what is due', () => {
  const lot = (seq: number, remaining: number, expiresMs: number) => ({
    from: { seq, type: 'grant', amount: 100, balance: 0, priority: 5, expiresAt: null, of: null } as Given,
    remaining,
    expiresMs,
  });
  const due = (lots: ReturnType<typeof lot>[], atRisk: number, nowMs: number) => {
    const { expires, ...rest } = dueOf(lots, atRisk, nowMs);
    return { expires: expires.map(({ lot: { from }, amount }) => [from.seq, amount]), ...rest };
  };

  test('all of what is past, and the next look at what is next', () => {
    const lots = [
      lot(1, 10, 100),
      lot(2, 20, 200),
      lot(3, 0, 250),
      lot(4, 5, 300),
      lot(5, 9, Number.POSITIVE_INFINITY),
    ];
    expect(due(lots, 0, 99)).toEqual({ expires: [], kept: 0, nextMs: 100 });
    expect(due(lots, 0, 200)).toEqual({
      expires: [
        [1, 10],
        [2, 20],
      ],
      kept: 0,
      nextMs: 300,
    });
    expect(due(lots, 0, 300)).toEqual({
      expires: [
        [1, 10],
        [2, 20],
        [4, 5],
      ],
      kept: 0,
      nextMs: Number.POSITIVE_INFINITY,
    });
  });

  test('what jobs at risk may take again is kept, of what expired last, and looked at again', () => {
    const lots = [lot(1, 10, 100), lot(2, 20, 200)];
    expect(due(lots, 25, 200)).toEqual({ expires: [[1, 5]], kept: 25, nextMs: 200 + 900_000 });
    expect(due(lots, 99, 200)).toEqual({ expires: [], kept: 30, nextMs: 200 + 900_000 });
  });
});
