// Random histories of a wallet with credit that expires: whatever happens, nothing of it is spent after its time, and it adds up.
import fc from 'fast-check';
import { expect } from 'vitest';
import { dueOf } from '../src/wallets/credit.ts';
import { creditOfRow, readCredit } from '../src/wallets/remainders.ts';
import { answer } from './support/look.ts';
import { booksAreRight, newId, type Stage, staging } from './support/stage.ts';

const { onEvery } = staging();
const STEP = 60_000;

type Act =
  | { do: 'grant'; amount: number; inSteps: number | null; priority: number }
  | { do: 'submit'; price: number }
  | { do: 'fail' | 'succeed' | 'cancel' | 'settle'; job: number }
  | { do: 'adjust'; amount: number }
  | { do: 'time'; steps: number }
  | { do: 'sweep' };

const job = fc.nat(6);
const act: fc.Arbitrary<Act> = fc.oneof(
  fc.record({
    do: fc.constant('grant' as const),
    amount: fc.integer({ min: 1, max: 30 }),
    inSteps: fc.constantFrom(null, 0, 1, 2, 5, 20),
    priority: fc.constantFrom(5, 5, 0, 9),
  }),
  { weight: 3, arbitrary: fc.record({ do: fc.constant('submit' as const), price: fc.integer({ min: 0, max: 25 }) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('fail', 'succeed', 'cancel', 'settle' as const), job }) },
  fc.record({ do: fc.constant('adjust' as const), amount: fc.integer({ min: -20, max: 20 }).filter((n) => n !== 0) }),
  { weight: 2, arbitrary: fc.record({ do: fc.constant('time' as const), steps: fc.constantFrom(1, 1, 2, 16) }) },
  fc.record({ do: fc.constant('sweep' as const) }),
);

/** What is left, what of it is due, and what is kept: at this moment. */
async function credit(s: Stage, wallet: string) {
  const client = await clientOf(s);
  const { rows } = await client.query(readCredit.text.shared, [JSON.stringify([{ wallet_id: wallet }])]);
  const [row] = JSON.parse(rows[0].answer);
  const lots = creditOfRow(row);
  const { expires, kept } = dueOf(lots, row.atRisk, Date.parse(row.at));
  const left = lots.reduce((sum, { remaining }) => sum + remaining, 0);
  return {
    balance: row.balance as number,
    left,
    kept,
    due: expires.reduce((sum, { amount }) => sum + amount, 0),
    lots,
  };
}
const clients = new Map<Stage, ReturnType<Stage['client']>>();
const clientOf = (s: Stage) => {
  const client = clients.get(s) ?? s.client();
  clients.set(s, client);
  return client;
};

onEvery('nothing that is due is spent, remainders sum to the balance, and a sweep leaves nothing due', async (s) => {
  await s.stopClock();
  const { jobs, wallets } = s.recoup;
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 5, maxLength: 40 }), async (acts) => {
      const wallet = await s.wallet();
      let submitted = 0;
      for (const one of acts) {
        const before = await credit(s, wallet);
        const at = { wallet, job: `j${'job' in one ? one.job : submitted}` };
        if (one.do === 'grant') {
          const expiresAt =
            one.inSteps === null ? {} : { expiresAt: new Date((await s.db.now()).getTime() + one.inSteps * STEP) };
          await wallets.grant({ wallet, key: newId('k'), amount: one.amount, priority: one.priority, ...expiresAt });
        } else if (one.do === 'submit') {
          const got = await answer(jobs.submit({ ...at, queue: null, price: one.price }));
          submitted += 1;
          expect(got).toBe(before.balance - before.due >= one.price ? 'charged' : 'insufficient_credits');
        } else if (one.do === 'fail') await answer(jobs.fail(at));
        else if (one.do === 'succeed') await answer(jobs.succeed(at));
        else if (one.do === 'cancel') await answer(jobs.cancel(at));
        else if (one.do === 'settle') await answer(jobs.settle({ ...at, finalPrice: 3 }));
        else if (one.do === 'adjust') await wallets.adjust({ wallet, key: newId('k'), amount: one.amount, actor: 'a' });
        else if (one.do === 'time') await s.db.advance(one.steps * STEP);
        else await s.recoup.sweep();
        const after = await credit(s, wallet);
        expect(after.left).toBe(Math.max(after.balance, 0));
        for (const { from, remaining } of after.lots) {
          expect(remaining).toBeGreaterThanOrEqual(0);
          expect(remaining).toBeLessThanOrEqual(from.amount);
        }
        const shown = await wallets.balance(wallet);
        expect(shown.spendable).toBe(Math.max(after.balance - after.due, 0));
      }
      // What was kept for a job that was decided meanwhile is looked at again within a quarter of an hour.
      await s.db.advance(16 * STEP);
      await s.recoup.sweep();
      expect((await credit(s, wallet)).due).toBe(0);
    }),
    { numRuns: 25, endOnFailure: false },
  );
});

onEvery('the books are right', booksAreRight);
