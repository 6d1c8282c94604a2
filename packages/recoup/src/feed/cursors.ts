// Cursors of the feed and of exports: a place in an order, and the epoch it was given under. What a new epoch makes of them.
import { behind, OPEN_EPOCH, positionOf } from '../db/epochs.ts';
import { InvalidInput, Refusal } from '../errors.ts';
import * as check from '../input.ts';

/** What a page says of the epochs: the newest one, and the one that its cursor was given under. */
export interface EpochFacts {
  /** Cursors are given under it. */
  epoch: { id: string; number: number; openedAt: string; reason: string };
  /** See EpochState. */
  behind: boolean;
  /** Null where nothing of it is known here. */
  given: { number: number; rereadFrom: string | null } | null;
}

/**
 * CTEs `newest`, `given` and `bounds`: the input with `low`, where its cursor stands, and `high`, below which everything is
 * final. Both append-only tables carry the transaction that wrote them, counted on from epoch to epoch; below the snapshot's xmin
 * no row can appear any more, so a reader that remembers its cursor misses nothing and sees nothing twice. One transaction
 * that stays open holds the feed back; it never loses anything. No bounds under a cursor of another epoch.
 */
export const withinEpoch = `
newest as materialized (
  select e.*, ${behind('e.number')} as behind
  from recoup.epochs e order by e.number desc limit 1),
given as materialized (
  select e.number, (select min(later.reread_from::text::bigint) from recoup.epochs later where later.number > e.number) as reread_from
  from input i join recoup.epochs e on case when i.after_epoch is null then e.number = 0 else e.id = i.after_epoch end),
bounds as materialized (
  select i.*, coalesce(i.after_tx, '0')::xid8 as low, ${positionOf('pg_snapshot_xmin(pg_current_snapshot())', 'n.number')} as high
  from input i cross join newest n
  where not n.behind and (i.after_tx is null or n.number = (select number from given)))`;

/** The EpochFacts of a page, as pairs of its JSON object. */
export const epochFacts = `
  'epoch', (select json_build_object('id', n.id, 'number', n.number, 'openedAt', n.opened_at, 'reason', n.reason) from newest n),
  'behind', (select behind from newest),
  'given', (select json_build_object('number', number, 'rereadFrom', reread_from::text) from given)`;

/**
 * Refuses where the epochs stand between a reader and his page. After a new one: what is kept up to the cursor he has seen,
 * and all that came since lies higher; so he goes on where he was, or, by `back`, where work went on before the epoch was
 * opened. Under an epoch that nobody here knows (restored to before it was opened) he may have seen anything: from the beginning.
 */
export function refuseEpoch(page: EpochFacts, at: string | null, back: (from: string | null) => string | null): void {
  if (page.behind) throw new Refusal('epoch_needed', undefined, { command: OPEN_EPOCH });
  if (at === null || page.given?.number === page.epoch.number) return;
  const { number, openedAt, reason } = page.epoch;
  const from = page.given?.rereadFrom ?? null;
  const lower = from !== null && BigInt(from) <= BigInt(at) ? from : null;
  const cursor = page.given === null ? null : back(lower);
  throw new Refusal('epoch_changed', undefined, { epoch: number, openedAt, reason, cursor });
}

export const encode = (parts: readonly unknown[]) => Buffer.from(JSON.stringify(parts)).toString('base64url');

/** The parts of a cursor; refuses what `fits` does not take. `whose`: who gives such cursors. */
export function decode<T extends unknown[]>(cursor: string, whose: string, fits: (parts: unknown[]) => parts is T): T {
  try {
    const text = Buffer.from(check.text('cursor', cursor, 4000) ?? '', 'base64url').toString();
    const parts = JSON.parse(text) as unknown;
    if (Array.isArray(parts) && fits(parts)) return parts;
  } catch {
    // Falls through to the refusal.
  }
  throw new InvalidInput('cursor', `must be null or a cursor that ${whose} gave`);
}

export const isPosition = (value: unknown): value is string => typeof value === 'string' && /^\d{1,19}$/.test(value);
export const isText = (value: unknown): value is string => typeof value === 'string' && !value.includes('\u0000');
