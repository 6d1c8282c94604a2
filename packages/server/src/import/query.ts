// The answer of a query as records: read through a cursor, in a transaction that can only read, on one snapshot.
import pg from 'pg';
import { addressProblem, asRefusal, InvalidInput } from 'recoup';
import { type Cells, checkColumns } from './rows.ts';

const PAGE = 5000;

/** The rows of a query on another database. Only a single statement that reads is taken. */
export async function* readQuery(url: string, query: string): AsyncGenerator<Cells> {
  const problem = addressProblem(url);
  if (problem !== null) throw new InvalidInput('--from', problem);
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 10_000,
    application_name: 'recoup-import',
  });
  client.on('error', () => {});
  try {
    await client.connect().catch((error: unknown) => {
      throw asRefusal(error, false);
    });
    await client.query('begin isolation level repeatable read read only');
    const select = query.trim().replace(/;$/, '');
    // Named, so that it goes by the protocol that takes one statement only.
    await client.query({ name: 'declare', text: `declare recoup_import no scroll cursor for ${select}` });
    let line = 0;
    for (;;) {
      const { rows, fields } = await client.query({ text: `fetch ${PAGE} from recoup_import`, types: asText });
      if (line === 0)
        checkColumns(
          'query',
          fields.map(({ name }) => name),
        );
      for (const row of rows as Record<string, string | null>[]) {
        line += 1;
        yield { line, cells: Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value ?? ''])) };
      }
      if (rows.length < PAGE) return;
    }
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    // What is wrong with the query is said as PostgreSQL says it.
    if (/^(42|22|25|0A|34)\w{3}$/.test(code ?? '')) throw new InvalidInput('--query', message);
    throw /^[0-9A-Z]{5}$/.test(code ?? '') ? asRefusal(error, false) : error;
  } finally {
    await client.end().catch(() => {});
  }
}

/** Every value as PostgreSQL writes it: an integer beyond 2^53 must not be rounded before it is refused. */
const asText = { getTypeParser: () => (value: string) => value } as unknown as pg.CustomTypesConfig;
