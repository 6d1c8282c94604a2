// What a submit came to, from the answer of its statement: the charge, the job that is there, or why not.
import type { Runner } from '../db/runner.ts';
import { Refusal } from '../errors.ts';
import { getBalance } from '../wallets/queries.ts';
import { refusalOf } from '../wallets/wallets.ts';
import type { submitInput } from './inputs.ts';
import { decodeJob } from './job.ts';
import { compareJob } from './queries.ts';
import type { Submitted } from './signals.ts';
import { newJob, type SubmitRow } from './submit.ts';

type Row = ReturnType<typeof submitInput>;

/** The refusal, the new job, or the one that is there where it was submitted just so. Only what has to be looked up takes a promise. */
export function submitted(
  runner: Runner,
  wake: (queue: string) => void,
  answer: SubmitRow | Refusal,
  row: Row,
): Submitted | Refusal | Promise<Submitted | Refusal> {
  if (answer instanceof Refusal) return answer;
  if (answer.outcome !== 'charged') return notCharged(runner, answer, row);
  if (row.queue !== null) wake(row.queue);
  return { outcome: 'charged', job: newJob(answer, row), seq: answer.seq!, balance: answer.balance! };
}

async function notCharged(runner: Runner, answer: SubmitRow, row: Row): Promise<Submitted | Refusal> {
  const key = { wallet: row.wallet_id, job: row.id };
  if (answer.outcome === 'duplicate') {
    const [found] = await runner.read(compareJob, [row]);
    // Pruned between the two statements.
    if (!found?.job) return new Refusal('pruned', undefined, key);
    if (found.differs.length > 0) {
      const message = `The job is there already with another ${found.differs.join(' and ')}.`;
      return new Refusal('conflict', message, { ...key, differs: found.differs });
    }
    return { outcome: 'duplicate', job: decodeJob(found.job), seq: found.seq!, balance: found.balance! };
  }
  if (answer.outcome === 'insufficient_credits') {
    const [balance] = await runner.read(getBalance, [{ wallet_id: row.wallet_id }]);
    const facts = {
      balance: answer.balance,
      overdraftLimit: answer.overdraft_limit,
      price: row.price,
      held: balance?.held ?? 0,
    };
    const message = `The wallet holds ${answer.balance}, the job costs ${row.price}.`;
    return new Refusal('insufficient_credits', message, { ...key, ...facts });
  }
  return refusalOf(answer, key) ?? new Refusal('database_error', `submit: unknown outcome ${answer.outcome}`);
}
