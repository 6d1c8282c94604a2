// recoup/adapters: turns the transaction of another client into what `using()` takes. Typed by shape: none is depended on.
import type { Queryable } from './db/database.ts';
import { InvalidInput } from './errors.ts';

// biome-ignore-start lint/suspicious/noExplicitAny: clients type their values and rows in their own ways
export interface PostgresJsTransaction {
  unsafe(text: string, values: any[]): PromiseLike<any>;
}
export interface KyselyTransaction {
  readonly isTransaction: boolean;
  withoutPlugins(): { executeQuery(query: KyselyQuery): Promise<any> };
}
export interface DrizzleTransaction<Chunk> {
  execute(query: Chunk): PromiseLike<any>;
}
export interface DrizzleSql<Chunk> {
  raw(text: string): Chunk;
  param(value: unknown): any;
  join(chunks: any[]): Chunk;
}
export interface PrismaTransaction {
  $queryRawUnsafe(text: string, ...values: any[]): PromiseLike<any>;
}
// biome-ignore-end lint/suspicious/noExplicitAny: clients type their values and rows in their own ways

/** What `CompiledQuery.raw` of Kysely makes. */
export interface KyselyQuery {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  readonly query: {
    readonly kind: 'RawNode';
    readonly sqlFragments: readonly string[];
    readonly parameters: readonly [];
  };
  readonly queryId: { readonly queryId: string };
}

/** postgres.js: what `sql.begin(async (tx) => …)` hands out, a savepoint of it, or a reserved connection. */
export function forPostgresJs(tx: PostgresJsTransaction): Queryable {
  refuseIf('begin' in tx, 'what sql.begin(async (tx) => …) hands out, not sql itself');
  return { query: async (text, values) => tx.unsafe(text, values) };
}

/** Drizzle: a transaction (or a nested one, which is a savepoint), and Drizzle's own `sql`, which alone can bind a value. */
export function forDrizzle<Chunk>(tx: DrizzleTransaction<Chunk>, sql: DrizzleSql<Chunk>): Queryable {
  refuseIf('$client' in tx, 'what db.transaction(async (tx) => …) hands out, not db itself');
  const bound = (text: string, values: unknown[]) =>
    text.split(/\$(\d+)/).map((part, i) => (i % 2 === 0 ? sql.raw(part) : sql.param(values[Number(part) - 1])));
  return { query: async (text, values) => tx.execute(sql.join(bound(text, values))) };
}

/**
 * Kysely: a transaction. Without its plugins: ParseJSONResultsPlugin would parse texts inside the answer that look like
 * JSON, and CamelCasePlugin would then rename the answer's fields.
 */
export function forKysely(trx: KyselyTransaction): Queryable {
  refuseIf(!trx.isTransaction, 'what db.transaction().execute(async (trx) => …) hands out, not db itself');
  const plain = trx.withoutPlugins();
  return {
    query: (text, values) =>
      plain.executeQuery({
        sql: text,
        parameters: values,
        query: { kind: 'RawNode', sqlFragments: [text], parameters: [] },
        queryId: { queryId: 'recoup' },
      }),
  };
}

/** Prisma: what `prisma.$transaction(async (tx) => …)` hands out. */
export function forPrisma(tx: PrismaTransaction): Queryable {
  const { $connect } = tx as { $connect?: unknown };
  refuseIf($connect !== undefined, 'what prisma.$transaction(async (tx) => …) hands out, not prisma itself');
  return { query: async (text, values) => tx.$queryRawUnsafe(text, ...values) };
}

/** What is not a transaction would charge on a connection of its own, and stay charged when the caller rolls back. */
function refuseIf(wrong: boolean, rule: string): void {
  if (wrong) throw new InvalidInput('client', `must be a transaction: ${rule}`);
}
