// The rules of deliveries as SQL: where new events begin, and when what failed is sent again.
import { positionOf } from '../db/epochs.ts';

/** Below it every event is final, above it somebody may still write. Of the epoch `number`. */
export const horizon = (number: string) => positionOf('pg_snapshot_xmin(pg_current_snapshot())', number);

/** The newest epoch's number. */
export const NEWEST = '(select e.number from recoup.epochs e order by e.number desc limit 1)';

/** After each failure, in seconds, as Standard Webhooks advises; after the last one the delivery is dead. */
const BACKOFF_S = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];

/** So often a delivery is sent before it is dead. */
export const MAX_TRIES = BACKOFF_S.length + 1;

/** The longest that an endpoint may have us wait. */
const MAX_RETRY_AFTER_MS = 86_400_000;

/**
 * When the delivery `d` is sent again, by `asked` milliseconds that the endpoint named: never before its back-off, with up to a tenth more, so
 * that what failed together does not come together. The tenth is derived from id and try.
 */
export const retryAt = (d: string, asked: string) => `recoup.clock() + greatest(
    (array[${BACKOFF_S.join(', ')}])[least(${d}.tries, ${BACKOFF_S.length})] * interval '1 second'
      * (1 + ('x' || substr(md5(${d}.id || ${d}.tries::text), 1, 6))::bit(24)::int / 167772160.0),
    least(coalesce(${asked}, 0), ${MAX_RETRY_AFTER_MS}) * interval '1 millisecond')`;
