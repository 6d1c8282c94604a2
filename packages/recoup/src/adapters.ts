// recoup/adapters: turns the transaction of another client into what `using()` takes. Typed by shape: none is depended on.
import type { Queryable } from './db/database.ts';

// docs: for-postgres-js
/** postgres.js: what `sql.begin(async (tx) => …)` hands out, a savepoint of it, or a reserved connection. */
export function forPostgresJs(tx: PostgresJsTransaction): Queryable {
  return { query: async (text, values) => tx.unsafe(text, values) };
}
// end

// docs: for-kysely
/**
 * Kysely: a transaction. Without its plugins: ParseJSONResultsPlugin would parse texts inside the answer that look like
 * JSON, and CamelCasePlugin would then rename the answer's fields.
 */
export function forKysely(trx: KyselyTransaction): Queryable {
  const plain = trx.withoutPlugins();
  return { query: (text, values) => plain.executeQuery(compiled(text, values)) };
}
// end

// docs: for-drizzle
/** Drizzle: a transaction (or a nested one, which is a savepoint), and Drizzle's own `sql`, which alone can bind a value. */
export function forDrizzle<Chunk>(tx: DrizzleTransaction<Chunk>, sql: DrizzleSql<Chunk>): Queryable {
  const bound = (text: string, values: unknown[]) =>
    text.split(/\$(\d+)/).map((part, i) => (i % 2 === 0 ? sql.raw(part) : sql.param(values[Number(part) - 1])));
  return { query: async (text, values) => tx.execute(sql.join(bound(text, values))) };
}
// end

// docs: for-prisma
/** Prisma: what `prisma.$transaction(async (tx) => …)` hands out. */
export function forPrisma(tx: PrismaTransaction): Queryable {
  return { query: async (text, values) => tx.$queryRawUnsafe(text, ...values) };
}
// end

/** What `CompiledQuery.raw` of Kysely makes, so that nobody has to pass Kysely in. */
function compiled(text: string, values: unknown[]): KyselyQuery {
  const query = { kind: 'RawNode', sqlFragments: [text], parameters: [] } as const;
  return { sql: text, parameters: values, query, queryId: { queryId: 'recoup' } };
}

// biome-ignore-start lint/suspicious/noExplicitAny: clients type their values and rows in their own ways
export interface PostgresJsTransaction {
  unsafe(text: string, values: any[]): PromiseLike<any>;
}
export interface KyselyTransaction {
  withoutPlugins(): { executeQuery(query: KyselyQuery): Promise<any> };
}
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
