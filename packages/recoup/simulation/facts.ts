// What an answer says beside its outcome, by the model: states, counters, instants, amounts and balances.
import { type At, type Entry, type Job, jobOf, type World } from '../model/world.ts';
import type { Call } from './calls.ts';

type Facts = Readonly<Record<string, unknown>>;

const entryOf = ({ entries }: World, wallet: string, test: (entry: Entry) => boolean) =>
  entries.find((entry) => entry.wallet === wallet && test(entry));

/** A row of the model as the library gives a job. */
const jobFacts = ({
  wallet,
  id,
  queue,
  state,
  price,
  refundOn,
  maxFailures,
  attempt,
  failures,
  releases,
}: Job): Facts => ({
  ...{ wallet, id, queue, state, price, refundOn, maxFailures, attempt, failures, releases },
});

/**
 * What the answer to a call that was not refused has to say, from the worlds before and after it. `at`: an instant of the
 * model as a Date.
 */
export function factsOf(call: Call, [before, after]: readonly [World, World], at: (ms: number) => Date): Facts {
  const { transition, input } = call;
  const { wallet, job: id } = input as At;
  if (transition === 'wallet.grant' || transition === 'wallet.adjust') {
    const { seq, amount, balance } = entryOf(after, wallet, ({ key }) => key === input.key)!;
    return { seq, amount, balance };
  }
  const job = jobOf(after, { wallet, job: id });
  if (!job) return {};
  const date = (ms: number | null) => (ms === null ? null : at(ms));
  const booked = (type: string) => entryOf(after, wallet, (entry) => entry.job === id && entry.type === type);
  const refunded = job.refunded && !jobOf(before, { wallet, job: id })?.refunded;
  const { state, attempt, failures, finalPrice, succeededAttempt, reclaimed } = job;
  switch (transition) {
    case 'job.submit': {
      const { seq, balance } = booked('charge')!;
      return { seq, balance, job: jobFacts(job) };
    }
    case 'job.fail':
      return { state, attempt, failures, notBefore: date(job.notBefore), refunded };
    case 'job.succeed':
      return { succeededAttempt, reclaimed, finalPrice };
    case 'job.settle':
      return { finalPrice, amount: booked('settle')?.amount };
    case 'job.cancel':
      return { state, refunded, kept: finalPrice };
    case 'job.extend':
      return { leaseUntil: date(job.leaseUntil) };
    case 'job.handOver':
      return { deadlineAt: date(job.deadlineAt) };
    case 'job.release':
      return { notBefore: date(job.notBefore) };
    default:
      return {};
  }
}

/** The facts that an answer says differently, in words. */
export function otherFacts(got: unknown, facts: Facts): string[] {
  return Object.entries(facts).flatMap(([name, should]) => {
    const is = (got as Facts)[name];
    if (isFacts(should)) return otherFacts(is, should).map((one) => `${name}.${one}`);
    return same(is, should) ? [] : [`${name} ${JSON.stringify(is)}, the model says ${JSON.stringify(should)}`];
  });
}

const isFacts = (value: unknown): value is Facts =>
  typeof value === 'object' && value !== null && !(value instanceof Date);
const same = (one: unknown, other: unknown) =>
  one instanceof Date && other instanceof Date ? one.getTime() === other.getTime() : one === other;
