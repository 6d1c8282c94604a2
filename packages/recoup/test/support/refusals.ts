// Breaks a rule of the schema by hand and tells what was refused by it, what was taken, and what is fine and was refused.
import { REWRITTEN } from './rewritten.ts';
import { BROKEN, FINE, ROWS, type Row, TWICE } from './violations.ts';

/** A connection in a transaction. */
export type Query = (sql: string, values?: unknown[]) => Promise<unknown>;

const tableOf = (name: string) => Object.keys(ROWS).find((table) => name.startsWith(`${table}_`))!;

/** Inserts the row of a table that is fine, changed; what refused it: a constraint's name, a column that may not be null, or nothing. */
async function insert(query: Query, table: string, change: Row): Promise<string | undefined> {
  const row = { ...ROWS[table], ...change };
  await query('savepoint violation');
  try {
    // By their names, so that a column that is left out has null, not its default.
    await query(
      `insert into recoup.${table} select * from jsonb_populate_record(null::recoup.${table}, $1::text::jsonb)`,
      [JSON.stringify(row)],
    );
    await query('release savepoint violation');
    return undefined;
  } catch (error) {
    await query('rollback to savepoint violation');
    const { constraint, column, code } = error as { constraint?: string; column?: string; code?: string };
    return constraint ?? (column ? `${table}.${column}` : `${code}`);
  }
}

async function statement(query: Query, sql: string): Promise<string | undefined> {
  await query('savepoint violation');
  try {
    await query(sql);
    return undefined;
  } catch (error) {
    return (error as { code?: string }).code;
  } finally {
    await query('rollback to savepoint violation');
  }
}

/** Runs in a transaction that is rolled back: nothing of it stays. */
async function apart<T>(query: Query, work: () => Promise<T>): Promise<T> {
  await query('savepoint apart');
  try {
    return await work();
  } finally {
    await query('rollback to savepoint apart');
  }
}

/** The rows of a table that are fine and yet refused, and by what. In a transaction of the caller's. */
export async function refusedThoughFine(query: Query, table: string): Promise<string[]> {
  const wrong: string[] = [];
  for (const change of [{}, ...(FINE[table] ?? [])]) {
    const by = await apart(query, () => insert(query, table, change));
    if (by !== undefined) wrong.push(`${table} ${JSON.stringify(change)} is refused by ${by}`);
  }
  return wrong;
}

/**
 * What breaks a rule and is taken, or is refused by another one. `rule`: a constraint, a unique index, a trigger, or
 * `table.column` that may not be null. In a transaction of the caller's.
 */
export async function takenThoughBroken(query: Query, rule: string): Promise<string[]> {
  const wrong: string[] = [];
  const expectBy = (what: unknown, by: string | undefined, should: string | undefined) => {
    if (by !== should) wrong.push(`${JSON.stringify(what)} is ${by === undefined ? 'taken' : `refused by ${by}`}`);
  };
  const [table, column] = rule.split('.') as [string, string | undefined];
  if (column !== undefined) {
    expectBy(`null in ${rule}`, await apart(query, () => insert(query, table, { [column]: null })), rule);
  } else if (REWRITTEN[rule]) {
    for (const sql of REWRITTEN[rule]) expectBy(sql, await apart(query, () => statement(query, sql)), '23001');
  } else if (TWICE[rule]) {
    const [first, second] = TWICE[rule];
    await apart(query, async () => {
      expectBy(first, await insert(query, tableOf(rule), first), undefined);
      expectBy(second, await insert(query, tableOf(rule), second), rule);
    });
  } else {
    for (const change of BROKEN[rule] ?? []) {
      expectBy(change, await apart(query, () => insert(query, tableOf(rule), change)), rule);
    }
  }
  return wrong;
}
