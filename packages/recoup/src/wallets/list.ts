// Read: wallets by their ids, of one customer or of everybody, a page at a time.
import { statement } from '../db/statement.ts';

const columns = { customer_id: 'text', after_wallet: 'text', count: 'int' } as const;

/** A wallet without what has to be counted for it: that is `balance`. */
export interface WalletRow {
  wallet: string;
  customer: string;
  unit: string;
  status: 'active' | 'closed';
  /** The ledger's balance: negative is a debt. */
  booked: number;
  overdraftLimit: number;
}

export const listWallets = statement<typeof columns, WalletRow>(
  'wallet.list',
  columns,
  () => `
w as materialized (
  (select w.* from input i join recoup.wallets w on w.customer_id = i.customer_id and w.id > coalesce(i.after_wallet, '')
   order by w.id limit (select count from input))
  union all
  (select w.* from input i join recoup.wallets w on w.id > coalesce(i.after_wallet, '')
   where i.customer_id is null order by w.id limit (select count from input)))
select coalesce(json_agg(json_build_object('wallet', id, 'customer', customer_id, 'unit', unit, 'status', status, 'booked', balance,
  'overdraftLimit', overdraft_limit) order by id), '[]')::text as answer
from w`,
);
