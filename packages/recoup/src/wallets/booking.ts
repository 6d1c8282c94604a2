// The two halves that every money statement shares: holding the wallets at its start, booking entries at its end.

/**
 * CTEs `locked` and `held`: each wallet of the inputs once, in id order, then its newest version beside every input.
 * `wanted` narrows the wallets that are locked. `at` is the instant of what is booked: the clock, but never before the
 * wallet's last entry, so that created_at does not fall along seq.
 * The join is FULL although every wallet comes from an input: a full join is never planned as a nested loop.
 */
export const holdWallets = (lock: string, wanted = 'true') => `
locked as materialized (
  select w.*
  from (select distinct wallet_id from input where ${wanted} order by wallet_id) i
  cross join lateral (
    select id, customer_id, status, balance, overdraft_limit, last_seq, next_expiry_at,
           greatest(recoup.clock(), last_entry_at) as at
    from recoup.wallets where id = i.wallet_id for no key update ${lock}) w),
held as (
  select i.*, w.id is not null as has_wallet, w.customer_id, w.status, w.balance, w.overdraft_limit, w.last_seq, w.next_expiry_at,
         coalesce(w.at, recoup.clock()) as at, recoup.clock() as now
  from input i full join locked w on w.id = i.wallet_id)`;

/**
 * Whether entries were added between the statement's snapshot and the lock: then what the snapshot says of the wallet's
 * entries and jobs may be out of date, and an answer that rests on it waits for the next snapshot.
 */
export const walletMoved = `(select last_seq from recoup.wallets w where w.id = s.wallet_id) is distinct from s.last_seq`;

/** What an input whose wallet is not held means: another transaction holds it, or there is none. */
export const withoutWallet = (otherwise: string) =>
  `case when (select true from recoup.wallets where id = s.wallet_id) then 'busy' else '${otherwise}' end`;

/** The largest balance either way: 2^53 − 1. */
const LIMIT = '9007199254740991';

/**
 * Whether booking these amounts one after the other, alone, would take the balance out of its range. A statement decides
 * that itself: a constraint's error would abort a caller's transaction. Where only several inputs together pass the limit,
 * the constraint has the last word.
 */
export const beyond = (first: string, second = '0') =>
  `coalesce(greatest(abs(balance + ${first}), abs(balance + ${first} + ${second})) > ${LIMIT}, false)`;

/**
 * Whether an earlier input of the same wallet is beyond the limit (`over`, on columns of `work`): until that one has its answer, what
 * stands behind it runs again, or it would be answered as if it had come later. Looked for only where there is one at all, and where
 * an input may give what another takes: refunds alone make no room.
 */
export const behindLimit = (over: string) => `case when (select bool_or(${over}) from work)
      then coalesce((select true from work o where o.wallet_id = s.wallet_id and o.ord < s.ord and ${over} limit 1), false) else false end`;

/** The answer to an input beyond the limit: a refusal if it stands first in its wallet, else it depends on those before it. */
export const limitReached = `case when (select min(i.ord) from input i where i.wallet_id = s.wallet_id) = ord
        then 'balance_limit' else 'again' end`;

/**
 * CTEs `book`, `ent` and `mov` over `done` (one row per input, with `booked` true where its guard held and its flag was
 * written): up to two entries per input, of `type1`/`amount1` and `type2`/`amount2` (null: none), with `reason1`,
 * `reason2`, `key` and `actor`. seq and running balance go on from the held wallet, in the order of the inputs; the
 * wallet takes the last of them. The write to wallets is by key through ON CONFLICT: it can only be planned as that.
 * Where credit of the wallet expires (`next_expiry_at` is set) and more came than went, it may have come back to credit whose time is past:
 * that is to be looked at now. `expires` is what a statement knows of another instant, `kept` of the one that was written before.
 */
export const booking = (expires = 'null::timestamptz', kept = 'next_expiry_at') => `
book as materialized (
  select d.*,
    d.last_seq + sum(case when booked then (type1 is not null)::int + (type2 is not null)::int else 0 end) over x as seq,
    d.balance + sum(case when booked then coalesce(amount1, 0) + coalesce(amount2, 0) else 0 end) over x as balance_after
  from done d
  window x as (partition by wallet_id order by ord rows unbounded preceding)),
ent as (
  insert into recoup.entries (wallet_id, seq, type, amount, balance, job_id, key, reason, actor, created_at)
  select b.wallet_id, e.seq, e.type, e.amount, e.balance, b.job_id, b.key, e.reason, b.actor, b.at
  from book b
  cross join lateral (values
    (b.seq - (b.type2 is not null)::int, b.type1, b.amount1, b.balance_after - coalesce(b.amount2, 0), b.reason1),
    (b.seq, b.type2, b.amount2, b.balance_after, b.reason2)) e(seq, type, amount, balance, reason)
  where b.booked and (b.type1 is not null or b.type2 is not null) and e.type is not null),
mov as (
  insert into recoup.wallets (id, customer_id, balance, last_seq, last_entry_at, next_expiry_at)
  select distinct on (wallet_id) wallet_id, customer_id, balance_after, seq, at,
    least(case when next_expiry_at is not null and balance_after > balance then at end, ${kept}, ${expires})
  from book where booked and (type1 is not null or type2 is not null)
  order by wallet_id, ord desc
  on conflict (id) do update set
    balance = excluded.balance, last_seq = excluded.last_seq, last_entry_at = excluded.last_entry_at, next_expiry_at = excluded.next_expiry_at)`;

export const bookEntries = booking();

/** Of a decision about a job at risk: credit that was kept for it is looked at now, in every wallet of the statement where credit expires. */
export const bookDecided = `${booking('min(case when next_expiry_at is not null then at end) over (partition by wallet_id)')},
looked as (
  insert into recoup.wallets (id, customer_id, next_expiry_at)
  select distinct on (wallet_id) wallet_id, customer_id, at from book b
  where booked and next_expiry_at is not null
    and not exists (select from book o where o.wallet_id = b.wallet_id and o.booked and (o.type1 is not null or o.type2 is not null))
  order by wallet_id, ord desc
  on conflict (id) do update set next_expiry_at = least(wallets.next_expiry_at, excluded.next_expiry_at))`;
