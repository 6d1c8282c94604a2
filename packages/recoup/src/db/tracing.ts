// Tracing: what the library asks of a tracer, and a runner that tells one of its transitions. recoup/opentelemetry makes one.
import { Refusal } from '../errors.ts';
import type { RawAnswer, Runner } from './runner.ts';

/** What is known of a transition when it begins. */
export interface Begun {
  /** The queue of a submit or a lease; absent otherwise, and null for a job without one. */
  queue?: string | null | undefined;
  /** How many inputs it has: 1, or those of a batch. */
  count: number;
}

/** Ends a span: with an outcome or a refusal's code; `failed`: nobody could say what became of it. */
export type EndSpan = (outcome: string, failed?: boolean) => void;

/** The job whose handler is run. */
export interface TracedJob {
  wallet: string;
  id: string;
  queue: string | null;
  attempt: number;
  traceparent: string | null;
}

/** Given to `open()`. It is called in the middle of transitions and must not throw. */
export interface Tracer {
  /** A transition begins, in the context of its caller. What is never ended (a lease that brought nothing) is no span. */
  begin(transition: string, begun: Begun): EndSpan;
  /**
   * Runs a job's attempt, handler and report, as a span of its own that is linked to `job.traceparent`. `run` gives
   * what the handler threw, or undefined; it never rejects.
   */
  handle(job: TracedJob, run: () => Promise<unknown>): Promise<unknown>;
  /** The traceparent of the context it is called in: for jobs that are submitted without one. */
  traceparent(): string | undefined;
}

/** The same runner, with a span for each call; an untraced handle does not have it in its way at all. */
export function traced(runner: Runner, tracer: Tracer): Runner {
  const within = async <T>(
    transition: string,
    begun: Begun,
    work: () => Promise<T>,
    outcome: (answer: T) => string,
  ) => {
    const end = tracer.begin(transition, begun);
    try {
      const answer = await work();
      const told = outcome(answer);
      if (told !== NOTHING) end(told);
      return answer;
    } catch (error) {
      end(error instanceof Refusal ? error.code : 'error', true);
      throw error;
    }
  };
  return {
    db: runner.db,
    observe: (transition, outcome, labels) => runner.observe(transition, outcome, labels),
    call: (statement, input) =>
      within(statement.name, { ...queueOf(input), count: 1 }, () => runner.call(statement, input), outcomeOf),
    many: (statement, inputs) => {
      const begun = { ...queueOf(inputs[0]), count: inputs.length };
      return within(statement.name, begun, () => runner.many(statement, inputs), together);
    },
    read: (statement, inputs) => {
      const read = () => runner.read(statement, inputs);
      if (statement.name !== 'job.lease') return read();
      return within(statement.name, { ...queueOf(inputs[0]), count: 1 }, read, leased);
    },
  };
}

const NOTHING = '';

const queueOf = (input: object | undefined): { queue?: string | null } =>
  input !== undefined && 'queue' in input ? { queue: input.queue as string | null } : {};

const outcomeOf = (answer: RawAnswer | Refusal): string => (answer instanceof Refusal ? answer.code : answer.outcome);

/** Of a batch: the outcome that all of them had, or `mixed`. */
function together(answers: readonly (RawAnswer | Refusal)[]): string {
  const [first, ...others] = new Set(answers.map(outcomeOf));
  return first === undefined ? NOTHING : others.length === 0 ? first : 'mixed';
}

const leased = (answers: readonly unknown[]): string =>
  (answers[0] as { jobs?: unknown[] } | undefined)?.jobs?.length ? 'leased' : NOTHING;
