// Opens a handle: connects, migrates where that is asked for, and sees that the schema is one this code can work on.

import { asRefusal } from './db/failures.ts';
import { checkState, migrate, schemaState } from './db/migrate.ts';
import { Pools } from './db/pool.ts';
import { checkOptions, type OpenOptions } from './options.ts';
import { Recoup } from './recoup.ts';

/** Opens Recoup on a database. Refuses `database_unavailable`, `schema_missing`, `schema_behind`, `schema_ahead`, `server_too_old`. */
export async function open(options: OpenOptions): Promise<Recoup> {
  const { pool, ...checked } = checkOptions(options);
  const pools = new Pools(pool);
  try {
    const client = await pools.connect();
    try {
      if (options.migrate) await migrate(client, pools.schema);
      checkState(await schemaState(client, pools.schema), pools.schema);
    } finally {
      client.release();
    }
  } catch (error) {
    await pools.end();
    throw asRefusal(error, false);
  }
  return new Recoup(pools, { ...options, ...checked });
}
