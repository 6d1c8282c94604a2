// Reads: the credit of wallets by what gave it, and what is left of each.
import { statement } from '../db/statement.ts';
import { creditOf, type Given, type Lot } from './credit.ts';

/** What gave credit. */
export interface GivenRow extends Given {
  key: string | null;
  reason: string | null;
  createdAt: string;
}

/** What of a wallet its credit follows from. */
export interface CreditRow {
  wallet: string;
  customer: string;
  unit: string;
  balance: number;
  lastSeq: number;
  /** Refunded for jobs that may still succeed. */
  atRisk: number;
  given: GivenRow[];
  /** The clock when it was read. */
  at: string;
}

/**
 * The entries of a wallet `w` that are no job's: those with a key, and those about a grant.
 * Both are found by an index that holds no entry of a job.
 */
const given = `
  select e.seq, e.type, e.amount, e.balance, e.key, e.reason, e.created_at, g.of_seq
  from recoup.entries e left join recoup.grant_entries g on g.wallet_id = e.wallet_id and g.seq = e.seq
  where e.wallet_id = w.id and e.key is not null
  union all
  select e.seq, e.type, e.amount, e.balance, e.key, e.reason, e.created_at, g.of_seq
  from recoup.grant_entries g join recoup.entries e on e.wallet_id = g.wallet_id and e.seq = g.seq
  where g.wallet_id = w.id and e.key is null`;

const creditJson = `json_build_object('wallet', w.id, 'customer', w.customer_id, 'unit', w.unit, 'balance', w.balance, 'lastSeq', w.last_seq,
    'atRisk', coalesce((select sum(price) from recoup.jobs j where j.wallet_id = w.id
                        and j.refunded_at is not null and j.succeeded_at is null and j.canceled_at is null), 0),
    'given', coalesce((
      select json_agg(json_build_object('seq', e.seq, 'type', e.type, 'amount', e.amount, 'balance', e.balance, 'key', e.key, 'reason', e.reason,
        'createdAt', e.created_at, 'of', e.of_seq, 'priority', coalesce(t.priority, 5), 'expiresAt', t.expires_at) order by e.seq)
      from (${given}) e
      left join recoup.grants t on t.wallet_id = w.id and t.seq = e.seq), '[]'),
    'at', recoup.clock())`;

const one = { wallet_id: 'text' } as const;

/** The credit of the wallets that are there. */
export const readCredit = statement<typeof one, CreditRow>(
  'wallet.credit',
  one,
  () => `
w as materialized (select w.* from input i join recoup.wallets w on w.id = i.wallet_id)
select coalesce(json_agg(${creditJson}), '[]')::text as answer from w`,
);

const columns = { wallet_id: 'text', customer_id: 'text', after_wallet: 'text', count: 'int' } as const;

interface Page {
  credit: CreditRow[];
  /** Behind the last wallet of a full page. */
  cursor: string | null;
}

/** The credit of a page of wallets: of one, of a customer's, or of everybody's. */
export const listCredit = statement<typeof columns, Page>(
  'wallet.remainders',
  columns,
  () => `
w as materialized (
  (select w.* from input i join recoup.wallets w on w.id = i.wallet_id and w.customer_id = coalesce(i.customer_id, w.customer_id)
   where i.after_wallet is null or w.id > i.after_wallet)
  union all
  (select w.* from input i join recoup.wallets w on w.customer_id = i.customer_id and w.id > coalesce(i.after_wallet, '')
   where i.wallet_id is null order by w.id limit (select count from input))
  union all
  (select w.* from input i join recoup.wallets w on w.id > coalesce(i.after_wallet, '')
   where i.wallet_id is null and i.customer_id is null order by w.id limit (select count from input)))
select json_build_array(json_build_object(
  'credit', coalesce((select json_agg(${creditJson} order by w.id) from w where w.balance > 0), '[]'),
  'cursor', case when count(*) = (select count from input) then max(id) end))::text as answer
from w`,
);

/** The credit of a wallet in the order of its use. */
export const creditOfRow = ({ given, balance }: CreditRow): Lot<GivenRow>[] => creditOf(given, balance);
