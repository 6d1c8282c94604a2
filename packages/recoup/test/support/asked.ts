// Asks a statement directly: what it decides itself, whatever its callers looked at before.
import { decodeAnswer } from '../../src/db/database.ts';
import { type Columns, type InputOf, render, type Statement } from '../../src/db/statement.ts';
import type { Stage } from './stage.ts';

/** Its answers to these inputs, all in one statement that waits. */
export async function asked<C extends Columns, A>(
  { db }: Pick<Stage, 'db'>,
  statement: Statement<C, A>,
  ...inputs: InputOf<C>[]
): Promise<A[]> {
  const { text } = render(statement, 'patient', 'recoup');
  return decodeAnswer<A>(await db.query(text, [JSON.stringify(inputs)]), statement.name);
}
