// Connections of the demo's own, beside those of the library: they survive, and tell, that the database is gone.
import pg from 'pg';

/** A pool whose clients do not end the process when the server goes away: their queries fail, and that is enough. */
export function poolOf(url: string, max: number): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max });
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/** Rejects when the database ends while it is needed: Recoup waits for one to come back, and this one will not. */
export async function untilLost(url: string): Promise<never> {
  const client = new pg.Client({ connectionString: url });
  const lost = new Promise<never>((_, reject) => {
    client.on('error', (error) => reject(new Error(`the database has ended: ${error.message}`)));
  });
  await client.connect();
  return lost;
}
