// Database: what statements run on. A transaction is one too, the caller's included.
import { Refusal } from '../errors.ts';
import type { LockMode, Statement } from './statement.ts';
import { render } from './statement.ts';

/**
 * The least a caller's client or transaction must offer: `query(text, values)`, answering rows as an array or under
 * `rows`. A pg client is one; for the others see recoup/adapters.
 */
export interface Queryable {
  // biome-ignore lint/suspicious/noExplicitAny: drivers type their rows and values in their own ways
  query(text: string, values: any[]): Promise<any>;
}

// biome-ignore lint/suspicious/noExplicitAny: the columns of a statement are checked where it is called
export type AnyStatement<A = any> = Statement<any, A>;

/** Runs one statement once: no retry, no batching. */
export interface Database {
  readonly schema: string;
  /** Whether this is a transaction (the caller's, or one opened here): then nothing inside may be retried alone. */
  readonly inTransaction: boolean;
  /** `inputs`: the JSON array of the inputs, see `encode`. */
  run<A>(statement: AnyStatement<A>, inputs: string, mode?: LockMode): Promise<A[]>;
}

/** A Database over anything that has `query(text, values)`; statements go unnamed, as poolers need it. */
export function overQueryable(client: Queryable, schema: string): Database {
  return {
    schema,
    inTransaction: true,
    async run<A>(statement: AnyStatement<A>, inputs: string, mode: LockMode = 'patient'): Promise<A[]> {
      const { text } = render(statement, mode, schema);
      return decodeAnswer<A>(await client.query(text, [inputs]), statement.name);
    },
  };
}

interface Named {
  names: readonly string[];
  rows: readonly unknown[][];
}

/** The rows that `answerEach` writes, as objects. */
function named({ names, rows }: Named): unknown[] {
  return rows.map((row) => {
    const object: Record<string, unknown> = {};
    for (let i = 0; i < names.length; i++) object[names[i]!] = row[i];
    return object;
  });
}

/** The answers in a driver's result: one row with one column `answer`, JSON as text (or already parsed by the driver). */
export function decodeAnswer<A>(result: unknown, name: string): A[] {
  const rows = Array.isArray(result) ? result : (result as { rows?: unknown[] } | null)?.rows;
  const first = rows?.[0] as unknown;
  const answer = Array.isArray(first) ? first[0] : (first as { answer?: unknown } | undefined)?.answer;
  const parsed: unknown = typeof answer === 'string' ? JSON.parse(answer) : answer;
  if (Array.isArray(parsed)) return parsed as A[];
  if (typeof parsed === 'object' && parsed !== null) return named(parsed as Named) as A[];
  const rule = 'query(text, values) must give the rows as an array or as { rows }, each row an object or an array';
  throw new Refusal('database_error', `${name}: ${rule}`);
}
