// The actions of the model as calls of the library: one by one, in one turn, in batch forms, in one transaction.
import type { Action } from '../model/model.ts';
import { type InTransaction, type Recoup, Refusal } from '../src/index.ts';
import type { Mode } from './commands.ts';

const given = <K extends string, V>(name: K, value: V | undefined) =>
  value === undefined ? {} : ({ [name]: value } as Record<K, V>);

/** What a lease, a lapse or a pruning is in the library is another call: see both-worlds.ts. */
export type Call = Exclude<Action, { transition: 'job.lease' | 'job.lapse' | 'job.prune' }>;

const submission = (input: Extract<Action, { transition: 'job.submit' }>['input']) => ({
  ...{ wallet: input.wallet, job: input.job, queue: input.queue, price: input.price, payload: input.payload ?? '' },
  ...given('delayMs', input.delayMs),
  ...given('deadlineMs', input.deadlineMs),
});

/** Sends an action as the call that it stands for. */
export function send({ wallets, jobs, queues }: InTransaction, { transition, input }: Call): Promise<unknown> {
  switch (transition) {
    case 'wallet.open':
      return wallets.open(input);
    case 'wallet.change': {
      const { wallet, ...change } = input;
      return wallets.change(wallet, change);
    }
    case 'wallet.grant':
      return wallets.grant({ wallet: input.wallet, key: input.key, amount: input.amount });
    case 'wallet.adjust':
      return wallets.adjust(input);
    case 'queue.configure':
      return queues.configure(input.queue, input.settings).then(() => ({ outcome: 'configured' }));
    case 'job.submit':
      return jobs.submit(submission(input));
    case 'job.extend':
      return jobs.extend(input);
    case 'job.handOver':
      return jobs.handOver(input);
    case 'job.fail':
      return jobs.fail(input);
    case 'job.succeed':
      return jobs.succeed(input);
    case 'job.settle':
      return jobs.settle(input);
    case 'job.cancel':
      return jobs.cancel({ wallet: input.wallet, job: input.job, ...given('keep', input.kept) });
    case 'job.release':
      return jobs.release(input);
    case 'job.redrive':
      return jobs.deadLetters.redrive(input);
    case 'job.discard':
      return jobs.deadLetters.discard(input);
  }
}

/** The batch form, where the transition has one: an answer for each. */
async function batch({ jobs, wallets }: Recoup, calls: readonly Call[]): Promise<readonly unknown[] | undefined> {
  const inputs = calls.map(({ input }) => input) as never[];
  switch (calls[0]?.transition) {
    case 'job.submit':
      return jobs.submitMany(inputs.map(submission));
    case 'job.fail':
      return jobs.failMany(inputs);
    case 'job.succeed':
      return jobs.succeedMany(inputs);
    case 'wallet.grant':
      return wallets.grantMany(inputs);
    default:
      return undefined;
  }
}

/** What a call is answered; a refusal is an answer. */
export async function answerTo(call: Promise<unknown>): Promise<unknown> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

/** The answers of calls that follow each other, in a transaction or by themselves. */
export async function inTurn(recoup: InTransaction, calls: readonly Call[]): Promise<unknown[]> {
  const answers: unknown[] = [];
  for (const call of calls) answers.push(await answerTo(send(recoup, call)));
  return answers;
}

async function sent(recoup: Recoup, calls: readonly Call[], mode: Mode): Promise<readonly unknown[]> {
  if (mode === 'single') return inTurn(recoup, calls);
  if (mode === 'transaction') return recoup.transaction((inside) => inTurn(inside, calls));
  const batched = mode === 'many' ? await batch(recoup, calls) : undefined;
  return batched ?? Promise.all(calls.map((call) => answerTo(send(recoup, call))));
}

/** What each of the calls is answered; they are of one transition unless they follow each other. */
export async function sendAll(recoup: Recoup, calls: readonly Call[], mode: Mode): Promise<readonly unknown[]> {
  const all = await answerTo(sent(recoup, calls, mode));
  // A batch or a transaction that failed as a whole.
  return all instanceof Refusal ? calls.map(() => all) : (all as readonly unknown[]);
}
