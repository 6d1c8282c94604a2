// Asks a statement directly: what it decides itself, whatever its callers looked at before.
import { decodeAnswer } from '../../src/db/database.ts';
import { type Columns, type InputOf, render, type Statement } from '../../src/db/statement.ts';
import type { Stage } from './stage.ts';
import { untilWaiting, watch } from './waiting.ts';

/** Its answers to these inputs, in their order, all in one statement that waits. */
export async function asked<C extends Columns, A>(
  { db }: Pick<Stage, 'db'>,
  statement: Statement<C, A>,
  ...inputs: InputOf<C>[]
): Promise<A[]> {
  const { text } = render(statement, 'patient', 'recoup');
  const answers = decodeAnswer<A>(await db.query(text, [JSON.stringify(inputs)]), statement.name);
  const place = (one: A) => (one as { ord?: number }).ord ?? 0;
  return answers.sort((a, b) => place(a) - place(b));
}

/**
 * What was said of each; `again` of what is not decided yet, also where it was `busy`: servers differ in whether an input finds the row as a twin
 * before it in the same statement has written it already.
 */
export const outcomes = (answers: readonly { outcome: string }[]): string[] =>
  answers.map(({ outcome }) => (outcome === 'busy' ? 'again' : outcome));

/** The same, of inputs behind whom somebody changes a row between the statement's snapshot and its lock; how each is answered. */
export async function behind<C extends Columns, A extends { outcome: string }>(
  s: Stage,
  statement: Statement<C, A>,
  inputs: readonly InputOf<C>[],
  change: string,
): Promise<string[]> {
  const [client, watching] = [await s.client(), await s.client()];
  await client.query('begin');
  await client.query(change);
  const { call } = watch(asked(s, statement, ...inputs));
  await untilWaiting({ query: async (sql) => (await watching.query(sql)).rows });
  await client.query('commit');
  return outcomes(await call);
}
