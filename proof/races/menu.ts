// What may be called in a race: for every transition of the table its calls, in the shapes that differ in what they write.
import { type Action, apply, type model } from '../../packages/recoup/model/model.ts';
import { type At, jobOf, type World } from '../../packages/recoup/model/world.ts';
import { type TransitionName, transitions } from '../../packages/recoup/src/outcomes.ts';

export const AT: At = { wallet: 'w', job: 'j' };
export const QUEUE = 'q';

type InputOf<T extends TransitionName> = Parameters<(typeof model)[T]>[1];

/**
 * A transition without calls does not compile, so that a new one takes part by being in the table. `attempt` is the one that
 * the job is in, or the one before it: a report that comes late.
 */
const MENU: { readonly [T in TransitionName]: (attempt: number) => readonly InputOf<T>[] } = {
  'wallet.open': () => [
    { wallet: AT.wallet, customer: 'c', overdraftLimit: 0 },
    { wallet: AT.wallet, customer: 'c', overdraftLimit: 15 },
  ],
  'wallet.change': () => [
    { wallet: AT.wallet, status: 'closed' },
    { wallet: AT.wallet, overdraftLimit: 15 },
  ],
  'wallet.grant': () => [
    { wallet: AT.wallet, key: 'k', amount: 50 },
    { wallet: AT.wallet, key: 'k', amount: 51 },
  ],
  'wallet.adjust': () => [{ wallet: AT.wallet, key: 'a', amount: -9, job: AT.job }],
  'queue.configure': () => [{ queue: QUEUE, settings: { paused: true } }],
  'job.submit': () => [
    { ...AT, queue: QUEUE, price: 40 },
    { ...AT, queue: QUEUE, price: 41 },
    { ...AT, queue: null, price: 40, deadlineMs: 60_000 },
  ],
  'job.lease': () => [AT],
  'job.extend': (attempt) => [{ ...AT, attempt }],
  'job.handOver': (attempt) => [{ ...AT, attempt, deadlineMs: 60_000 }],
  'job.fail': (attempt) => [
    { ...AT, attempt, verdict: 'presumed', retryable: true },
    { ...AT, attempt, verdict: 'definitive', retryable: true },
    { ...AT, attempt, verdict: 'definitive', retryable: false },
  ],
  'job.lapse': (attempt) => [{ ...AT, attempt }],
  'job.succeed': (attempt) => [
    { ...AT, attempt },
    { ...AT, attempt, finalPrice: 25 },
  ],
  'job.settle': () => [
    { ...AT, finalPrice: 25 },
    { ...AT, finalPrice: 30 },
  ],
  'job.cancel': () => [AT, { ...AT, kept: 12 }],
  'job.release': (attempt) => [{ ...AT, attempt }],
  'job.redrive': () => [AT],
  'job.discard': () => [AT],
  'job.prune': () => [AT],
};

/** Every call of every transition, as it may arrive in this world. */
export function callsIn(world: World): Action[] {
  const now = Math.max(jobOf(world, AT)?.attempt ?? 1, 1);
  const seen = new Set<string>();
  const calls = [now, ...(now > 1 ? [now - 1] : [])].flatMap((attempt) =>
    (Object.keys(transitions) as TransitionName[]).flatMap((transition) =>
      MENU[transition](attempt).map((input) => ({ transition, input }) as Action),
    ),
  );
  return calls.filter((call) => {
    const name = inWords(call);
    return !seen.has(name) && seen.add(name);
  });
}

export function inWords({ transition, input }: Action): string {
  const { wallet: _wallet, job: _job, ...rest } = input as unknown as Record<string, unknown>;
  const settings = Object.entries(rest).map(([name, value]) => `${name} ${JSON.stringify(value)}`);
  return [transition, ...settings].join(' ').replaceAll('"', '');
}

/** The call in a round of its own: another wallet and queue, which no other round has touched. */
export function inRound({ transition, input }: Action, round: number): Action {
  const given = input as { wallet?: string; queue?: string | null };
  const wallet = given.wallet === undefined ? {} : { wallet: `${given.wallet}-${round}` };
  const queue = typeof given.queue === 'string' ? { queue: `${given.queue}-${round}` } : {};
  return { transition, input: { ...input, ...wallet, ...queue } } as Action;
}

const LAPSED = ['retrying', 'dead', 'refunded'];

/** What a caller sees of an answer: a sweep says how many it lapsed, a lease brings a job or none, a pruning says nothing. */
export function seenOf(action: Action, world: World): { answer: string; after: World } {
  const { world: after, answer } = apply(world, action);
  const name = 'outcome' in answer ? answer.outcome : answer.refusal;
  if (action.transition === 'job.lapse') return { answer: LAPSED.includes(name) ? 'lapsed' : NOTHING, after };
  if (action.transition === 'job.lease' && 'outcome' in answer && answer.attempt === null)
    return { answer: NOTHING, after };
  return { answer: name, after };
}

/** The answer of what passes over rows that somebody holds: it may always come. */
export const NOTHING = 'nothing';
export const passesOver = ({ transition }: Action): boolean =>
  transition === 'job.lease' || transition === 'job.lapse' || transition === 'job.prune';
