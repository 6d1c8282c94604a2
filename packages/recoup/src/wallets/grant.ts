// wallet.grant and wallet.adjust: entries that come with a key of the caller's, once per wallet and key.

import type { RawAnswer } from '../db/runner.ts';
import { answerEach, statement } from '../db/statement.ts';
import { booking, holdWallets, walletMoved, withoutWallet } from './booking.ts';

export interface KeyedAnswer extends RawAnswer {
  seq: number;
  amount: number;
  balance: number;
  at: string;
  type: string;
  job: string | null;
  priority: number;
  expires_at: string | null;
}

const columns = {
  wallet_id: 'text',
  key: 'text',
  amount: 'bigint',
  job_id: 'text',
  reason: 'text',
  actor: 'text',
  note: 'text',
  priority: 'smallint',
  expires_at: 'timestamptz',
} as const;

/**
 * One statement for both, differing in the type of the entry. Guard: no entry with this key in the wallet. A twin of an
 * earlier input, or an input whose wallet moved between snapshot and lock, runs `again` with a new snapshot.
 */
const keyed = (type: 'grant' | 'adjust', outcome: string) => (lock: string) =>
  `${holdWallets(lock)},
judged as (
  select s.*, e.seq as old_seq, e.amount as old_amount, e.balance as old_balance, e.created_at as old_at, e.type as old_type, e.job_id as old_job_id,
    g.expires_at as old_expires_at, coalesce(g.priority, 5) as old_priority,
    case
      when e.seq is not null then case when e.type = '${type}' and e.amount = s.amount and e.job_id is not distinct from s.job_id
        and coalesce(g.priority, 5) = coalesce(s.priority, 5) and g.expires_at is not distinct from s.expires_at then 'duplicate' else 'conflict' end
      when not has_wallet then ${withoutWallet('no_wallet')}
      when ${walletMoved}
        or row_number() over (partition by s.wallet_id, s.key order by s.ord) > 1 then 'again'
    end as refused
  from held s
  left join lateral (select seq, amount, balance, created_at, type, job_id from recoup.entries
                     where wallet_id = s.wallet_id and key = s.key) e on true
  left join lateral (select priority, expires_at from recoup.grants where wallet_id = s.wallet_id and seq = e.seq) g on true),
summed as (
  select s.*, balance + sum(amount) filter (where refused is null) over x as total,
    row_number() over x = 1 as first, bool_or(refused in ('again', 'busy')) over x as behind
  from judged s
  window x as (partition by wallet_id order by ord rows unbounded preceding)),
-- Behind an input that runs again nothing of its wallet is booked: the ledger keeps the order of the inputs.
seen as materialized (
  select s.*, case
      when refused is not null then refused
      when behind or bool_or(abs(total) > 9007199254740991 and not first) over x then 'again'
      when abs(total) > 9007199254740991 then 'balance_limit'
      else '${outcome}' end as outcome
  from summed s
  window x as (partition by wallet_id order by ord rows unbounded preceding)),
done as (
  select s.*, outcome = '${outcome}' as booked, '${type}' as type1, amount as amount1, reason as reason1,
    null::text as type2, null::bigint as amount2, null::text as reason2
  from seen s),
${booking('min(case when booked then expires_at end) over (partition by wallet_id)')},
termed as (
  insert into recoup.grants (wallet_id, seq, priority, expires_at)
  select wallet_id, seq, coalesce(priority, 5), expires_at
  from book where booked and (coalesce(priority, 5) <> 5 or expires_at is not null)),
noted as (
  insert into recoup.notes (wallet_id, seq, note)
  select wallet_id, seq, note from book where booked and note is not null)${answerEach('book', 'outcome', {
    seq: 'coalesce(old_seq, seq)',
    amount: 'coalesce(old_amount, amount)',
    balance: 'coalesce(old_balance, balance_after)',
    at: 'coalesce(old_at, at)',
    type: 'coalesce(old_type, type1)',
    job: 'old_job_id',
    priority: 'old_priority',
    expires_at: 'old_expires_at',
  })}`;

export const grantEntry = statement<typeof columns, KeyedAnswer>('wallet.grant', columns, keyed('grant', 'granted'));
export const adjustEntry = statement<typeof columns, KeyedAnswer>(
  'wallet.adjust',
  columns,
  keyed('adjust', 'adjusted'),
);
