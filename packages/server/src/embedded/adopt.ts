// Deals with the server that is found on the data: refuses it, takes it over, or stops it to start a fitting one.
import { realpath } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { program } from './binaries.ts';
import { connect } from './connection.ts';
import { findServer, type Server } from './lock.ts';
import { commandLine, ownerIn, recordOwner, refuseOwned } from './owner.ts';
import { ended } from './processes.ts';
import { type Plan, serverArguments, stopServer } from './server.ts';

/** Any number that is used for nothing else in the database `postgres` of this server. */
const adoptionLock = 7_326_847;

/** The adopted server; nothing if there is none to use (any more) and one must be started. Throws if it is in use. */
export async function adopt(plan: Plan, askedPort: number | undefined): Promise<Server | undefined> {
  const found = await waitFor(plan.data, (server) => server.status !== '');
  if (!found) return undefined;
  await refuseOwned(plan.data, found);
  const server = await waitFor(plan.data, (one) => one.status === 'ready' || one.status === 'stopping');
  if (!server) return undefined;
  if (server.status === 'stopping') {
    await ended(server, Number.POSITIVE_INFINITY);
    return undefined;
  }
  const claimed = await claim(plan, server);
  if (claimed && (await fits(plan, server, askedPort))) return server;
  await stopServer(server, 'fast', plan);
  return undefined;
}

/** Waits as long as the server lives: recovery after a crash takes the time it takes. */
async function waitFor(data: string, condition: (server: Server) => boolean): Promise<Server | undefined> {
  for (;;) {
    const server = await findServer(data);
    if (!server || condition(server)) return server;
    await sleep(20);
  }
}

/**
 * Of two processes that find the same server, one may have it: they take turns at a lock in the server itself, which no
 * killed process can leave locked. False if the server lets nobody in; then it is of no use and may be stopped.
 */
async function claim(plan: Plan, server: Server): Promise<boolean> {
  const client = await connect({ data: plan.data, port: server.port, database: 'postgres' }).catch(() => undefined);
  if (!client) {
    await refuseOwned(plan.data, server);
    return false;
  }
  try {
    await client.query('select pg_advisory_lock($1)', [adoptionLock]);
    await refuseOwned(plan.data, server);
    await recordOwner(plan.data, server);
    return true;
  } finally {
    await client.end();
  }
}

/** Whether it is the server that would be started now: the same program, settings and port. */
async function fits(plan: Plan, server: Server, askedPort: number | undefined): Promise<boolean> {
  if (askedPort !== undefined && askedPort !== server.port) return false;
  const line = await commandLine(plan.data);
  const own = serverArguments({ ...plan, port: server.port, owner: ownerIn(line) ?? '' });
  const expected = own.map((argument) => ` "${argument}"`).join('');
  if (!line.endsWith(expected)) return false;
  const running = line.slice(0, line.length - expected.length);
  const ours = program(plan.binaries.binDir, 'postgres');
  return (await realpath(running).catch(() => running)) === (await realpath(ours));
}
