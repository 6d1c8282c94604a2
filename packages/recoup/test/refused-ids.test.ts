// A refusal does not burn the id: the same call, when nothing stands in its way any more, is done as if it were the first.
import { expect } from 'vitest';
import type { InTransaction } from '../src/index.ts';
import { answer, digest, ledger, named } from './support/look.ts';
import { booksAreRight, newId, type Stage, staging } from './support/stage.ts';

const { onEvery } = staging();
const MAX = Number.MAX_SAFE_INTEGER;

type Call = (recoup: InTransaction) => Promise<unknown>;
interface Case {
  /** A wallet in which the call is refused, and what makes it possible. */
  make(s: Stage): Promise<{ wallet: string; allow: () => Promise<unknown> }>;
  code: string;
}

const held = async (s: Stage) => {
  const [wallet, holder] = [await s.wallet(40), await s.client()];
  await holder.query('begin');
  await holder.query('select from recoup.wallets where id = $1 for update', [wallet]);
  return { wallet, allow: () => holder.query('commit') };
};
const closed = async (s: Stage) => {
  const wallet = await s.wallet(40);
  await s.recoup.wallets.change(wallet, { status: 'closed' });
  return { wallet, allow: () => s.recoup.wallets.change(wallet, { status: 'active' }) };
};
const absent = async (s: Stage) => {
  const wallet = newId('wallet');
  const allow = async () => {
    await s.recoup.wallets.open({ wallet, customer: 'customer' });
    await s.recoup.wallets.grant({ wallet, key: 'start', amount: 40 });
  };
  return { wallet, allow };
};
const poor = async (s: Stage) => {
  const wallet = await s.wallet(39);
  return { wallet, allow: () => s.recoup.wallets.change(wallet, { overdraftLimit: 1 }) };
};
const full = async (s: Stage) => {
  const wallet = await s.wallet(MAX);
  return { wallet, allow: () => s.recoup.jobs.submit({ wallet, job: 'takes', queue: null, price: MAX }) };
};

const SUBMITS: readonly Case[] = [
  { make: poor, code: 'insufficient_credits' },
  { make: closed, code: 'wallet_closed' },
  { make: absent, code: 'no_wallet' },
  { make: held, code: 'wallet_busy' },
];
const ENTRIES: readonly Case[] = [
  { make: full, code: 'balance_limit' },
  { make: absent, code: 'no_wallet' },
  { make: held, code: 'wallet_busy' },
];

const one = (wallet: string) => ({ wallet, job: 'the job', queue: 'never', price: 40, payload: { a: 1 } });
const entry = (wallet: string) => ({ wallet, key: 'the key', amount: 5 });
/** Each call alone and as an item of a batch; its entry, and its answer when it is done. */
const forms: Readonly<
  Record<string, [cases: readonly Case[], call: (wallet: string) => Call, done: string, entry: string]>
> = {
  submit: [
    SUBMITS,
    (w) =>
      ({ jobs }) =>
        jobs.submit(one(w)),
    'charged',
    'charge -40',
  ],
  'submit of many': [
    SUBMITS,
    (w) =>
      async ({ jobs }) =>
        (await jobs.submitMany([one(w)]))[0],
    'charged',
    'charge -40',
  ],
  grant: [
    ENTRIES,
    (w) =>
      ({ wallets }) =>
        wallets.grant(entry(w)),
    'granted',
    'grant 5',
  ],
  'grant of many': [
    ENTRIES,
    (w) =>
      async ({ wallets }) =>
        (await wallets.grantMany([entry(w)]))[0],
    'granted',
    'grant 5',
  ],
  adjust: [
    ENTRIES,
    (w) =>
      ({ wallets }) =>
        wallets.adjust(entry(w)),
    'adjusted',
    'adjust 5',
  ],
};

onEvery('refused for any reason, alone, in a batch or in a transaction, and then done once', async (s) => {
  const recoup = await s.replica({ lockTimeoutMs: 50 });
  for (const [form, [cases, call, done, booked]] of Object.entries(forms)) {
    for (const { make, code } of cases) {
      for (const way of ['alone', 'in a transaction'] as const) {
        const what = [form, code, way];
        const { wallet, allow } = await make(s);
        const send = () => answer(way === 'alone' ? call(wallet)(recoup) : recoup.transaction(call(wallet)));
        const before = await digest(s.db);
        for (let i = 0; i < 2; i++) {
          const refused = await send();
          // In a transaction that waits for a wallet the caller is told to run all of it again.
          const told = way !== 'alone' && code === 'wallet_busy' ? 'transaction_conflict' : code;
          expect([...what, refused]).toEqual([...what, told]);
        }
        expect([...what, await digest(s.db)]).toEqual([...what, before]);
        await allow();
        expect([...what, await send(), await send()]).toEqual([...what, done, 'duplicate']);
        expect((await ledger(s, wallet)).filter((line) => line === booked)).toEqual([booked]);
      }
    }
  }
});

onEvery('refused and done in one batch: the twin of a refused submit is the one that is charged', async (s) => {
  const wallet = await s.wallet(10);
  const [dear, cheap] = [
    { wallet, job: 'wanted', queue: null, price: 11 },
    { wallet, job: 'wanted', queue: null, price: 10 },
  ];
  const answers = (await s.recoup.jobs.submitMany([dear, cheap, cheap, dear])).map(named);
  expect(answers).toEqual(['insufficient_credits', 'charged', 'duplicate', 'conflict']);
  expect(await ledger(s, wallet)).toEqual(['charge -10']);
});

onEvery('the books are right', booksAreRight);
