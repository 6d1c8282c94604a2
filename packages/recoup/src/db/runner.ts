// Runs transitions to their answers: inside the caller's transaction one after the other, on our own pool batched.

import { type Refusal, TransactionConflict } from '../errors.ts';
import type { AnyStatement, Database } from './database.ts';
import { asRefusal } from './failures.ts';
import { type Columns, encode, encodeBatch, type InputOf, type Statement } from './statement.ts';

/**
 * One answer of a statement. `again`: not decided yet, the same input has to run again (it stood behind another input of
 * its job, or its snapshot was older than the lock it got); `busy`: another transaction holds the row. Neither reaches a caller.
 */
export interface RawAnswer {
  ord: number;
  outcome: string;
  /** Of `busy`: the row, where the input does not name it. */
  held?: string | null;
}

/** Whether an answer is an outcome: neither a row that was passed over nor something that has to be done first and is done then. */
export const isOutcome = (outcome: string) => outcome !== 'busy' && outcome !== 'expiry_due';

/** What a metric knows beside an outcome: few, and of few values each. */
export type Labels = Readonly<Record<string, string>>;

export interface Runner {
  readonly db: Database;
  /** One input; with others that run at the same time it may share a statement. Throws a Refusal for this input alone. */
  call<C extends Columns, A extends RawAnswer>(statement: Statement<C, A>, input: InputOf<C>): Promise<A>;
  /** Many inputs, answered as if they ran one by one in this order. Throws only when none could be answered. */
  many<C extends Columns, A extends RawAnswer>(
    statement: Statement<C, A>,
    inputs: readonly InputOf<C>[],
  ): Promise<(A | Refusal)[]>;
  /** Tells the metrics of an answer that did not come through `call` or `many`, or of what followed from one. */
  observe(transition: string, outcome: string, labels?: Labels): void;
  /** A statement that only reads, or that takes one input at a time: run once as it is, not batched. */
  read<C extends Columns, A>(statement: Statement<C, A>, inputs: readonly InputOf<C>[]): Promise<A[]>;
}

/** More rounds than any honest batch needs: a guard against a statement that never decides. */
const MAX_ROUNDS = 1000;

/** Runs inputs until each is decided, in one transaction or on one connection; answers in the order of the inputs. */
export async function decide<A extends RawAnswer>(
  db: Database,
  statement: AnyStatement<A>,
  inputs: readonly string[],
): Promise<A[]> {
  const answers = new Array<A>(inputs.length);
  let open = inputs.map((_, index) => index);
  for (let round = 0; open.length > 0; round++) {
    if (round === MAX_ROUNDS)
      throw new TransactionConflict('Run the whole transaction again: the answer never settled.');
    const pending = open;
    const got = await db.run(statement, encodeBatch(pending.map((index) => inputs[index]!)), 'patient');
    if (got.length !== pending.length) throw new Error(`${statement.name} left an input without an answer`);
    open = [];
    for (const answer of got) {
      const index = pending[answer.ord - 1]!;
      if (answer.outcome === 'again' || answer.outcome === 'busy') open.push(index);
      else answers[index] = answer;
    }
    open.sort((a, b) => a - b);
  }
  return answers;
}

/** The runner inside a transaction of the caller: nothing is retried, batched with others or wrapped in a savepoint. */
export function transactionRunner(db: Database, observe: Runner['observe']): Runner {
  const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw asRefusal(error, true);
    }
  };
  const many = <A extends RawAnswer>(statement: AnyStatement<A>, inputs: readonly object[]) =>
    guarded(async () => {
      const answers = await decide(
        db,
        statement,
        inputs.map((input) => encode(statement, input)),
      );
      for (const { outcome } of answers) if (isOutcome(outcome)) observe(statement.name, outcome);
      return answers;
    });
  return {
    db,
    observe,
    many,
    call: async (statement, input) => (await many(statement, [input]))[0]!,
    read: (statement, inputs) => guarded(() => db.run(statement, JSON.stringify(inputs))),
  };
}
