// Operations on wallets: open, change, grant, adjust, balances, entries, replay.
import Type from 'typebox';
import { answerItems, type Context, type Operation, operation, type StreamEvent } from './operation.ts';
import * as s from './schemas.ts';

const keyedKey = s.fields({
  wallet: s.wallet,
  key: s.id('Your key of this entry (a payment, a ticket): once per wallet, for ever.'),
});
const keyedFields = {
  amount: s.amount('Credits to add.', 1),
  reason: s.optional(s.text('A short code that stays in the ledger.', 200)),
  actor: s.optional(s.id('Who did it.')),
  note: s.optional(s.text('Free text that can be erased.', 10_000)),
};
const grantFields = {
  ...keyedFields,
  expiresAt: s.optional(s.instant('RFC 3339. When what is left of it expires; it stays unless set.')),
  priority: s.optional(
    Type.Integer({
      minimum: 0,
      maximum: 9,
      description: 'What is used first: 0 before 1; 5 unless set. Among equals what expires first, then the oldest.',
    }),
  ),
};
/** An instant as the library takes it. */
const withTerms = <G extends { expiresAt?: string }>({ expiresAt, ...grant }: G) => ({
  ...grant,
  ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt) }),
});
const openFields = {
  customer: s.id('Who pays: an id of yours.'),
  unit: s.optional(s.id('The kind of credit; `credit` unless set.')),
  overdraftLimit: s.optional(s.amount('How far below zero a submit may go; 0 unless set.')),
};
const adjustFields = {
  ...keyedFields,
  amount: s.signedAmount('Credits to add or take; not 0. May go into debt.'),
  job: s.optional(s.id('The job it is about.')),
};
const Opened = s.fields({ outcome: s.outcome('wallet.open') }, { title: 'Opened' });
const keyed = (transition: 'wallet.grant' | 'wallet.adjust', title: string) =>
  s.fields(
    {
      outcome: s.outcome(transition),
      seq: Type.Integer(),
      amount: Type.Integer(),
      balance: Type.Integer({ description: 'The balance right after this entry.' }),
      createdAt: s.instant(),
    },
    { title },
  );
const Granted = keyed('wallet.grant', 'Granted');
const Adjusted = keyed('wallet.adjust', 'Adjusted');

const batchOf = <P extends Type.TProperties>(properties: P) =>
  s.fields({ items: Type.Array(s.fields(properties), { minItems: 1, maxItems: 1000, description: s.ITEMS }) });
const Remainder = s.fields(
  {
    wallet: Type.String(),
    customer: Type.String(),
    unit: Type.String(),
    seq: Type.Integer({ description: 'The entry that gave the credit.' }),
    type: s.oneOf(['grant', 'adjust', 'restore']),
    key: s.orNull(Type.String()),
    reason: s.orNull(Type.String()),
    amount: Type.Integer(),
    remaining: Type.Integer({ description: 'What is left of the amount.' }),
    priority: Type.Integer({ description: 'What is used first: 0 before 1.' }),
    expiresAt: s.orNull(s.instant('Null: it stays.')),
    createdAt: s.instant(),
  },
  { title: 'Remainder' },
);

async function* replay(context: Context, wallet: string, afterSeq: number): AsyncGenerator<StreamEvent> {
  // An unknown wallet is refused before the stream begins.
  await context.recoup.wallets.balance(wallet);
  for await (const entry of context.recoup.wallets.replay(wallet, { afterSeq })) {
    if (context.signal.aborted) return;
    yield { id: String(entry.seq), data: entry };
  }
}

export const wallets: readonly Operation[] = [
  operation({
    name: 'wallets.open',
    summary: 'Open a wallet',
    scopes: ['app', 'operator'],
    method: 'PUT',
    path: '/v1/wallets/{wallet}',
    params: s.walletKey,
    query: s.none,
    body: s.fields(openFields),
    output: Opened,
    created: 'opened',
    errors: ['conflict', 'wallet_busy'],
    run: ({ recoup }, input) => recoup.wallets.open(input),
  }),
  operation({
    name: 'wallets.openMany',
    summary: 'Open in a batch: an answer per item, in order',
    scopes: ['app', 'operator'],
    method: 'POST',
    path: '/v1/batch/wallets',
    params: s.none,
    query: s.none,
    body: batchOf({ wallet: s.wallet, ...openFields }),
    output: s.fields({ items: Type.Array(Type.Union([Opened, s.Refused])) }),
    batch: true,
    errors: [],
    run: async ({ recoup }, { items }) => ({ items: await recoup.wallets.openMany(items) }),
  }),
  operation({
    name: 'wallets.change',
    summary: 'Change the overdraft limit or the status of a wallet',
    scopes: ['app', 'operator'],
    method: 'PATCH',
    path: '/v1/wallets/{wallet}',
    params: s.walletKey,
    query: s.none,
    body: s.fields({
      overdraftLimit: s.optional(s.amount('How far below zero a submit may go.')),
      status: s.optional(s.oneOf(['active', 'closed'], 'Closed: no new jobs; what runs goes on.')),
    }),
    output: s.fields({ outcome: s.outcome('wallet.change') }),
    errors: ['no_wallet', 'wallet_busy'],
    run: ({ recoup }, { wallet, ...change }) => recoup.wallets.change(wallet, change),
  }),
  operation({
    name: 'wallets.balance',
    summary: 'What a wallet holds: now, or at a past instant',
    scopes: ['app', 'worker', 'viewer', 'support', 'operator'],
    method: 'GET',
    path: '/v1/wallets/{wallet}/balance',
    params: s.walletKey,
    query: s.fields({
      at: s.optional(s.instant('RFC 3339. The balance after the last entry at or before it.')),
      parts: s.optional(s.flag('With `at`: also what stood at risk then, for which the entries up to it are read.')),
    }),
    body: null,
    output: Type.Union([s.Balance, s.BalanceAt]),
    errors: ['no_wallet'],
    run: ({ recoup }, { wallet, at, parts = false }) =>
      at === undefined ? recoup.wallets.balance(wallet) : recoup.wallets.balanceAt(wallet, new Date(at), { parts }),
  }),
  operation({
    name: 'wallets.balances',
    summary: 'What many wallets hold at one moment: a balance per wallet, in order',
    scopes: ['app', 'worker', 'viewer', 'support', 'operator'],
    method: 'POST',
    path: '/v1/batch/balances',
    params: s.none,
    query: s.none,
    body: s.fields({
      wallets: Type.Array(s.wallet, { minItems: 1, maxItems: 1000, description: 'Ids of wallets, 1 to 1,000.' }),
    }),
    output: s.fields({ items: Type.Array(Type.Union([s.Balance, s.Refused])) }),
    writes: false,
    batch: true,
    errors: [],
    run: async ({ recoup }, { wallets }) => ({ items: await recoup.wallets.balances(wallets) }),
  }),
  operation({
    name: 'wallets.list',
    summary: 'The wallets of a customer, or of everybody, in the order of their ids, page by page',
    description: 'A key that is bound to a customer may leave `customer` out: it gets the wallets of its own.',
    scopes: ['app', 'worker', 'viewer', 'support', 'operator'],
    method: 'GET',
    path: '/v1/wallets',
    params: s.none,
    query: s.fields({
      customer: s.optional(s.id('Only wallets of this customer.')),
      cursor: s.optional(s.id('Where to go on: the `cursor` of the page before, a wallet.')),
      limit: s.limit,
    }),
    body: null,
    output: s.fields({ wallets: Type.Array(s.Wallet), cursor: s.nextCursor }, { title: 'WalletPage' }),
    ofCustomer: true,
    errors: [],
    run: ({ recoup }, input) => recoup.wallets.list(input),
  }),
  operation({
    name: 'wallets.remainders',
    summary: 'Unused credit by grant, wallet by wallet in the order of its use',
    description:
      'Used first is what has the lowest priority, then what expires first, then the oldest. What is left of a wallet sums to its balance, or to nothing where it is in debt. A page has the grants of up to `limit` wallets.',
    scopes: ['app', 'viewer', 'support', 'operator'],
    method: 'GET',
    path: '/v1/remainders',
    params: s.none,
    query: s.fields({
      wallet: s.optional(s.wallet),
      customer: s.optional(s.id('Only wallets of this customer.')),
      cursor: s.optional(s.id('Where to go on: the `cursor` of the page before, a wallet.')),
      limit: s.limit,
    }),
    body: null,
    output: s.fields({ remainders: Type.Array(Remainder), cursor: s.nextCursor }, { title: 'RemainderPage' }),
    errors: [],
    run: ({ recoup }, input) => recoup.wallets.remainders(input),
  }),
  operation({
    name: 'wallets.entries',
    summary: 'The entries of a wallet, page by page',
    scopes: ['app', 'viewer', 'support', 'operator'],
    method: 'GET',
    path: '/v1/wallets/{wallet}/entries',
    params: s.walletKey,
    query: s.fields({
      cursor: s.optional(s.amount('Where to go on: the `cursor` of the page before.')),
      limit: s.limit,
      newestFirst: s.optional(s.flag('From the newest back.')),
    }),
    body: null,
    output: s.fields({ entries: Type.Array(s.Entry), cursor: s.orNull(Type.Integer()) }, { title: 'EntryPage' }),
    errors: ['no_wallet'],
    run: ({ recoup }, { wallet, ...options }) => recoup.wallets.entries(wallet, options),
  }),
  operation({
    name: 'wallets.replay',
    summary: 'Why the balance is what it is: every entry in order, as a stream',
    description: 'One JSON entry a line, with its running balance, its job and its reason.',
    scopes: ['app', 'viewer', 'support', 'operator'],
    method: 'GET',
    path: '/v1/wallets/{wallet}/replay',
    params: s.walletKey,
    query: s.fields({ afterSeq: s.optional(s.amount('Start behind this entry.')) }),
    body: null,
    output: s.Entry,
    stream: 'ndjson',
    errors: ['no_wallet'],
    run: (context, { wallet, afterSeq }) => replay(context, wallet, afterSeq ?? 0),
  }),
  operation({
    name: 'wallets.grant',
    summary: 'Add credit, once per key',
    scopes: ['app', 'operator'],
    method: 'PUT',
    path: '/v1/wallets/{wallet}/grants/{key}',
    params: keyedKey,
    query: s.none,
    body: s.fields(grantFields),
    output: Granted,
    created: 'granted',
    errors: ['no_wallet', 'conflict', 'balance_limit', 'wallet_busy'],
    run: ({ recoup }, input) => recoup.wallets.grant(withTerms(input)),
  }),
  operation({
    name: 'wallets.grantMany',
    summary: 'Grant in a batch: an answer per item, in order',
    scopes: ['app', 'operator'],
    method: 'POST',
    path: '/v1/batch/grants',
    params: s.none,
    query: s.none,
    body: batchOf({ ...keyedKey.properties, ...grantFields }),
    output: s.fields({ items: Type.Array(Type.Union([Granted, s.Refused])) }),
    batch: true,
    errors: [],
    run: ({ recoup }, { items }) => answerItems(recoup.wallets.grantMany(items.map(withTerms))),
  }),
  operation({
    name: 'wallets.adjust',
    summary: 'Correct a balance by ±amount, with who and why',
    scopes: ['support', 'operator'],
    method: 'PUT',
    path: '/v1/wallets/{wallet}/adjusts/{key}',
    params: keyedKey,
    query: s.none,
    body: s.fields(adjustFields),
    output: Adjusted,
    created: 'adjusted',
    errors: ['no_wallet', 'conflict', 'balance_limit', 'wallet_busy'],
    run: ({ recoup }, input) => recoup.wallets.adjust(input),
  }),
  operation({
    name: 'wallets.adjustMany',
    summary: 'Adjust in a batch: an answer per item, in order',
    scopes: ['support', 'operator'],
    method: 'POST',
    path: '/v1/batch/adjusts',
    params: s.none,
    query: s.none,
    body: batchOf({ ...keyedKey.properties, ...adjustFields }),
    output: s.fields({ items: Type.Array(Type.Union([Adjusted, s.Refused])) }),
    batch: true,
    errors: [],
    run: async ({ recoup }, { items }) => ({ items: await recoup.wallets.adjustMany(items) }),
  }),
];
