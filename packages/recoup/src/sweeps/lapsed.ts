// Sweep: leases that lapsed and deadlines that passed. Candidates are read, the guard of job.lapse decides.
import type { Runner } from '../db/runner.ts';
import { Refusal } from '../errors.ts';
import { lapseJob } from '../jobs/lapse.ts';
import { type DueRow, dueDeadlines, dueLeases } from '../jobs/queries.ts';
import { refusalOf } from '../wallets/wallets.ts';
import { PAGE, pagesOf } from './pages.ts';

export interface SweepContext {
  onError: (error: Error) => void;
  wake: (queue: string) => void;
  signal: AbortSignal;
}

/**
 * One pass. A row that the database refuses stands alone in the end (see batch.ts): it is reported and passed over, so that neither such
 * rows nor held wallets hold up the others.
 */
export async function sweepLapsed(runner: Runner, context: SweepContext): Promise<{ done: number; failed: number }> {
  const total = { done: 0, failed: 0 };
  for (const due of [dueLeases, dueDeadlines]) {
    const read = (after?: DueRow) => {
      const cursor = { after_at: after?.due_at, after_wallet: after?.wallet_id, after_id: after?.id };
      return runner.read(due, [{ ...cursor, count: PAGE }]);
    };
    for await (const rows of pagesOf(read, context.signal)) await lapsePage(runner, rows, context, total);
  }
  return total;
}

async function lapsePage(
  runner: Runner,
  rows: DueRow[],
  context: SweepContext,
  total: { done: number; failed: number },
) {
  const queues = new Set<string>();
  const answers = await runner.many(lapseJob, rows);
  answers.forEach((answer, index) => {
    const { wallet_id, id } = rows[index]!;
    const refusal = answer instanceof Refusal ? answer : refusalOf(answer, {});
    // Pruned, or gone with its wallet, since the candidates were read: nothing is left to lapse.
    if (refusal && (refusal.code === 'no_job' || refusal.code === 'pruned')) return;
    if (refusal) {
      total.failed += 1;
      const message = `The sweep cannot lapse job ${JSON.stringify(id)} of wallet ${JSON.stringify(wallet_id)}: ${refusal.message}`;
      context.onError(new Error(message, { cause: refusal }));
    } else if (!(answer instanceof Refusal) && ['retrying', 'dead', 'refunded'].includes(answer.outcome)) {
      total.done += 1;
      if (answer.outcome === 'retrying' && answer.queue !== null) queues.add(answer.queue);
    }
  });
  // Workers that sleep until their next due job learn of a new one.
  for (const queue of queues) context.wake(queue);
}
