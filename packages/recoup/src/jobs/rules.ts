// The pure rules of a job: when it runs again, when its price goes back, what its final price books.
import { createHash } from 'node:crypto';

/** The exponent is clamped before the power: a double overflows near 2^1024, and no cap needs more than this. */
const MAX_EXPONENT = 40;
/** The jitter is a 24-bit fraction: six hexadecimal digits of a hash. */
const MAX_FRACTION = 0xffffff;

/** How a queue spaces its retries. */
export interface Backoff {
  readonly baseMs: number;
  readonly maxMs: number;
}

/** Which run of which job a delay is for. */
export interface Run {
  readonly walletId: string;
  readonly jobId: string;
  readonly attempt: number;
}

/**
 * The delay before the next attempt after `failures` counted ones: between half and all of min(base * 2^(failures-1), max).
 * The jitter comes from job and attempt, so that every replica, every test and `recoup.retry_delay_ms` get the same.
 */
export function retryDelayMs(backoff: Backoff, failures: number, run: Run): number {
  const exponent = Math.min(Math.max(failures - 1, 0), MAX_EXPONENT);
  const nominal = BigInt(Math.min(backoff.baseMs * 2 ** exponent, backoff.maxMs));
  const hash = createHash('md5').update(`${run.walletId}\x1f${run.jobId}\x1f${run.attempt}`).digest('hex');
  const fraction = Number.parseInt(hash.slice(0, 6), 16);
  // nominal * (1/2 + fraction/2), rounded up; in integers, so that the result is the one of exact arithmetic.
  const divisor = 2n * BigInt(MAX_FRACTION);
  return Number((nominal * BigInt(MAX_FRACTION + fraction) + divisor - 1n) / divisor);
}

/** Whether a counted or confirmed failure gives the price back. `kills`: the job will not run again by itself. */
export function refundDue(job: { readonly refunded: boolean; readonly refundOn: string }, kills: boolean): boolean {
  return !job.refunded && (kills || job.refundOn === 'failure');
}

/** The amount of the settle entry. A canceled job has its price back already, so that only the kept part is taken. */
export function settleAmount(canceled: boolean, price: number, finalPrice: number): number {
  return canceled ? 0 - finalPrice : price - finalPrice;
}
