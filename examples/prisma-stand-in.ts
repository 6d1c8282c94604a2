// A stand-in for PrismaClient over pg: its signatures and its errors, for machines without Prisma's generated client.
import pg from 'pg';

// biome-ignore lint/suspicious/noExplicitAny: Prisma's own signature
type Values = any[];

/** What Prisma hands to the function of `$transaction`. */
export interface TransactionClient {
  $queryRawUnsafe<T = unknown>(query: string, ...values: Values): Promise<T>;
  $executeRawUnsafe(query: string, ...values: Values): Promise<number>;
}

export interface TransactionOptions {
  isolationLevel?: 'ReadCommitted' | 'RepeatableRead' | 'Serializable';
}

/** Prisma's error for a raw query that failed: P2010 always, with the database's code somewhere in `meta`. */
export class PrismaClientKnownRequestError extends Error {
  override readonly name = 'PrismaClientKnownRequestError';
  readonly code: string;
  readonly meta: Record<string, unknown>;

  constructor(message: string, code: string, meta: Record<string, unknown>) {
    super(message);
    this.code = code;
    this.meta = meta;
  }
}

/** `major`: Prisma 6 with its engine and Prisma 7 with a driver adapter put the database's code in different places. */
export class PrismaClient implements TransactionClient {
  readonly #pool: pg.Pool;
  readonly #major: 6 | 7;

  constructor({ datasourceUrl, major = 7 }: { datasourceUrl: string; major?: 6 | 7 }) {
    this.#pool = new pg.Pool({ connectionString: datasourceUrl });
    this.#pool.on('error', () => {});
    this.#major = major;
  }

  $queryRawUnsafe<T = unknown>(query: string, ...values: Values): Promise<T> {
    return this.#over(this.#pool).$queryRawUnsafe(query, ...values);
  }

  $executeRawUnsafe(query: string, ...values: Values): Promise<number> {
    return this.#over(this.#pool).$executeRawUnsafe(query, ...values);
  }

  async $transaction<R>(fn: (tx: TransactionClient) => Promise<R>, options: TransactionOptions = {}): Promise<R> {
    const client = await this.#pool.connect();
    try {
      const level = (options.isolationLevel ?? 'ReadCommitted').replace(/(?<=[a-z])(?=[A-Z])/, ' ');
      await client.query(`begin isolation level ${level}`);
      const result = await fn(this.#over(client));
      await client.query('commit');
      return result;
    } catch (error) {
      await client.query('rollback');
      throw error;
    } finally {
      client.release();
    }
  }

  async $connect(): Promise<void> {
    (await this.#pool.connect()).release();
  }

  $disconnect(): Promise<void> {
    return this.#pool.end();
  }

  #over(client: pg.Pool | pg.PoolClient): TransactionClient {
    const run = (query: string, values: Values) =>
      client.query(query, values).catch((error: unknown) => {
        throw asPrismaError(error as pg.DatabaseError, this.#major);
      });
    return {
      $queryRawUnsafe: async <T>(query: string, ...values: Values) => (await run(query, values)).rows as T,
      $executeRawUnsafe: async (query, ...values) => (await run(query, values)).rowCount ?? 0,
    };
  }
}

function asPrismaError({ code = 'N/A', message }: pg.DatabaseError, major: 6 | 7): PrismaClientKnownRequestError {
  const text = `Raw query failed. Code: \`${code}\`. Message: \`${message}\``;
  if (major === 7) {
    const cause = { kind: 'postgres', originalCode: code, originalMessage: message };
    return new PrismaClientKnownRequestError(text, 'P2010', {
      driverAdapterError: { name: 'DriverAdapterError', message, cause },
    });
  }
  if (code === '40001' || code === '40P01') {
    return new PrismaClientKnownRequestError('Transaction failed due to a write conflict or a deadlock.', 'P2034', {});
  }
  return new PrismaClientKnownRequestError(text, 'P2010', { code, message });
}
