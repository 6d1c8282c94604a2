// wallet.expire: credit whose time is past leaves the wallet, before anything of it can be spent.

import type { RawAnswer, Runner } from '../db/runner.ts';
import { answerEach, type Columns, type InputOf, type Statement, statement } from '../db/statement.ts';
import { Refusal } from '../errors.ts';
import { booking, holdWallets, withoutWallet } from './booking.ts';
import { dueOf } from './credit.ts';
import { type CreditRow, creditOfRow, readCredit } from './remainders.ts';

const columns = {
  wallet_id: 'text',
  seen_seq: 'bigint',
  of_seq: 'bigint',
  amount: 'bigint',
  looks_at: 'timestamptz',
} as const;

/**
 * Guard: nothing was booked since the credit was read (`seen_seq`), so that of many that read the same one books. An input without an amount
 * only writes when to look again.
 */
export const expireCredit = statement<typeof columns, RawAnswer>(
  'wallet.expire',
  columns,
  (lock) => `${holdWallets(lock)},
seen as materialized (
  select s.*, case
      when not has_wallet then ${withoutWallet('no_wallet')}
      when last_seq <> seen_seq then 'moved'
      when row_number() over (partition by wallet_id, of_seq order by ord) > 1 then 'again'
      when amount is null then 'looked' else 'expired' end as outcome
  from held s),
done as (
  select s.*, outcome in ('expired', 'looked') as booked, case when amount is not null then 'expire' end as type1, amount as amount1, null::text as reason1,
    null::text as type2, null::bigint as amount2, null::text as reason2, null::text as job_id, null::text as key, null::text as actor
  from seen s),
${booking('max(looks_at) over (partition by wallet_id)', 'null')},
named as (
  insert into recoup.grant_entries (wallet_id, seq, of_seq)
  select wallet_id, seq, of_seq from book where booked and type1 is not null),
looked as (
  insert into recoup.wallets (id, customer_id, next_expiry_at)
  select wallet_id, customer_id, looks_at from book where booked and type1 is null
  on conflict (id) do update set next_expiry_at = excluded.next_expiry_at)${answerEach('book', 'outcome', {})}`,
);

/** Rounds that a wallet may move between reading its credit and booking: somebody else came through each time. */
const ROUNDS = 20;

/** What there is to book of a wallet, as inputs: at least one, which says when to look again. */
function inputsOf(row: CreditRow): InputOf<typeof columns>[] {
  const { expires, nextMs } = dueOf(creditOfRow(row), row.atRisk, Date.parse(row.at));
  const seen = {
    wallet_id: row.wallet,
    seen_seq: row.lastSeq,
    looks_at: Number.isFinite(nextMs) ? new Date(nextMs).toISOString() : 'infinity',
  };
  if (expires.length === 0) return [seen];
  return expires.map(({ lot, amount }) => ({ ...seen, of_seq: lot.from.seq, amount: -amount }));
}

/**
 * Books what is due in the wallets and writes when to look at them again; gives how many entries were booked. Wallets that are not there are
 * passed over. A refusal of one wallet is given to `refused` and holds up none of the others.
 */
export async function expireDue(
  runner: Runner,
  wallets: readonly string[],
  refused: (wallet: string, refusal: Refusal) => void,
): Promise<number> {
  let open = [...new Set(wallets)];
  let booked = 0;
  for (let round = 0; open.length > 0; round++) {
    const rows = await runner.read(
      readCredit,
      open.map((wallet_id) => ({ wallet_id })),
    );
    const inputs = rows.flatMap(inputsOf);
    const answers = await runner.many(expireCredit, inputs);
    const moved = new Set<string>();
    answers.forEach((answer, index) => {
      const wallet = inputs[index]!.wallet_id!;
      if (answer instanceof Refusal) refused(wallet, answer);
      else if (answer.outcome === 'moved') moved.add(wallet);
      else if (answer.outcome === 'expired') booked += 1;
    });
    if (round === ROUNDS)
      for (const wallet of moved) refused(wallet, new Refusal('wallet_busy', undefined, { wallet }));
    open = round === ROUNDS ? [] : [...moved];
  }
  return booked;
}

/** Calls a statement that may answer `expiry_due`: then what is due expires, and those inputs go again. */
export async function afterExpiry<C extends Columns, A extends RawAnswer>(
  runner: Runner,
  of: Statement<C, A>,
  inputs: readonly (InputOf<C> & { wallet_id: string })[],
): Promise<(A | Refusal)[]> {
  const answers = await runner.many(of, inputs);
  const isDue = (index: number) => {
    const answer = answers[index]!;
    return !(answer instanceof Refusal) && answer.outcome === 'expiry_due';
  };
  for (let due = inputs.map((_, index) => index).filter(isDue); due.length > 0; due = due.filter(isDue)) {
    const refusals = new Map<string, Refusal>();
    await expireDue(
      runner,
      due.map((index) => inputs[index]!.wallet_id),
      (wallet, refusal) => refusals.set(wallet, refusal),
    );
    const open = due.filter((index) => {
      const refusal = refusals.get(inputs[index]!.wallet_id);
      if (refusal) answers[index] = refusal;
      return !refusal;
    });
    const again = await runner.many(
      of,
      open.map((index) => inputs[index]!),
    );
    open.forEach((index, position) => {
      answers[index] = again[position]!;
    });
  }
  return answers;
}
