// Sweep: subscriptions whose time is up: the next period, past due, or the end.
import type { Runner } from '../db/runner.ts';
import { Refusal } from '../errors.ts';
import { type DueSubscription, dueSubscriptions } from '../subscriptions/queries.ts';
import type { Subscriptions } from '../subscriptions/subscriptions.ts';
import { pagesOf } from './pages.ts';

/** So many in one transaction: their wallets are held until it ends. */
const AT_ONCE = 100;

/**
 * One pass: how many changed, how many could not be handled. Where one of a batch is refused they go one by one, so that it holds up none of the
 * others. What another replica has in its hands is passed over.
 */
export async function sweepSubscriptions(
  runner: Runner,
  subscriptions: Subscriptions,
  signal: AbortSignal,
  onError: (error: Error) => void,
): Promise<{ turned: number; failed: number }> {
  const total = { turned: 0, failed: 0 };
  const lapse = async (ids: string[]) => {
    const answers = await subscriptions.lapse(ids);
    total.turned += answers.filter((answer) => answer !== null && answer.outcome !== 'duplicate').length;
  };
  const read = (after?: DueSubscription) =>
    runner.read(dueSubscriptions, [{ after_at: after?.at, after_id: after?.subscription, count: 500 }]);
  for await (const rows of pagesOf(read, signal)) {
    for (let from = 0; from < rows.length && !signal.aborted; from += AT_ONCE) {
      const ids = rows.slice(from, from + AT_ONCE).map(({ subscription }) => subscription);
      try {
        await lapse(ids);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        for (const id of ids) {
          await lapse([id]).catch((refusal: Error) => {
            total.failed += 1;
            const message = `The sweep cannot turn subscription ${JSON.stringify(id)}: ${refusal.message}`;
            onError(new Error(message, { cause: refusal }));
          });
        }
      }
    }
  }
  return total;
}
