// After the demo: serves what came of it over HTTP, with requests to copy, until Ctrl-C.
import { once } from 'node:events';
import { Refusal } from 'recoup';
import { type Service, startService } from '../service.ts';
import { REVOKED } from './accounts.ts';
import { poolOf } from './connections.ts';
import { rules } from './design.ts';
import type { Screen } from './screen.ts';

const PRICE = 40;

/** A job whose story is worth reading, in the wallet with the shortest ledger: refunded and taken again, where there is one. */
const WORTH_READING = `
select j.wallet_id as wallet, j.id as job, j.reclaimed_at is not null as reclaimed, least(w.balance, ${PRICE})::int as price
from recoup.jobs j join recoup.wallets w on w.id = j.wallet_id
order by j.reclaimed_at is null, w.balance < ${PRICE}, w.last_seq, j.id limit 1`;

interface Example {
  wallet: string;
  job: string;
  reclaimed: boolean;
  /** What the wallet can pay. */
  price: number;
}

/** Serves until the signal fires; then everything of it is closed. */
export async function serve(databaseUrl: string, port: number, screen: Screen, signal: AbortSignal): Promise<void> {
  const pool = poolOf(databaseUrl, 1);
  const found = await pool.query<Example>(WORTH_READING);
  await pool.end();
  const [service, taken] = await listen(databaseUrl, port);
  try {
    const { bold, dim } = screen.colors;
    screen.line();
    screen.line(`${bold('4')}  ${bold(`It is served at ${service.url}, until Ctrl-C`)}`);
    if (taken) screen.line(dim(`   port ${port} is taken, so it is another one`));
    screen.line(dim(`   in a browser: ${service.url}/`));
    for (const { what, command } of requests(service.url, found.rows[0]!)) {
      screen.line();
      screen.line(dim(`   ${what}`));
      screen.line(`   ${command}`);
    }
    screen.line();
    screen.line(dim('   Everything goes with Ctrl-C. An empty one that stays: npx recoup start'));
    if (!signal.aborted) await once(signal, 'abort');
  } finally {
    await service.close();
  }
}

async function listen(connection: string, port: number): Promise<[service: Service, taken: boolean]> {
  const open = { connection, onError: () => {} };
  try {
    return [await startService({ open, port }), false];
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'port_in_use') throw error;
    return [await startService({ open, port: 0 }), true];
  }
}

function requests(url: string, { wallet, job, reclaimed, price }: Example) {
  const at = `${url}/v1/wallets/${encodeURIComponent(wallet)}`;
  const story = reclaimed ? 'a job that was charged, refunded, and taken again when it was done after all' : 'a job';
  return [
    { what: `why ${wallet} holds what it holds, entry by entry`, command: `curl ${at}/replay` },
    { what: story, command: `curl ${at}/jobs/${encodeURIComponent(job)}/entries` },
    {
      what: 'why one of the accounts was out, and who brought it back',
      command: `curl ${url}/v1/upstreams/${REVOKED}/history`,
    },
    {
      what: 'a job of your own, charged as you send it; sent twice it is charged once',
      command: `curl -X PUT ${at}/jobs/my-first -H 'content-type: application/json' -d '{"queue":"${rules.queue}","price":${price}}'`,
    },
  ];
}
