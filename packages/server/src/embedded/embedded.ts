// A PostgreSQL of our own: finds, starts, adopts and stops it, and gives its URL.
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { adopt } from './adopt.ts';
import { findBinaries } from './binaries.ts';
import { ensureCluster } from './cluster.ts';
import { databaseUrl, ensureDatabase } from './connection.ts';
import { asEmbeddedError, EmbeddedError } from './errors.ts';
import { openPlace, openThrowaway, type Place } from './folders.ts';
import { findServer, type Server } from './lock.ts';
import { removeLeftovers } from './names.ts';
import { recordOwner } from './owner.ts';
import { formatId, isThere, thisProcess } from './processes.ts';
import { launch, type Plan, stopServer } from './server.ts';
import { startWatchdog, type Watchdog } from './watchdog.ts';

export { type EmbeddedCode, EmbeddedError } from './errors.ts';

export interface EmbeddedOptions {
  /** Where the data lies, by default in ./.recoup. */
  dataDir?: string;
  /** A folder of its own for the data (`dataDir` is not used), removed at stop() or when this process dies. */
  throwaway?: boolean;
  /** Where a throwaway makes its folder: by default where the system keeps temporary files. */
  tmpDir?: string;
  /** By default a free one. */
  port?: number;
  /** The folder of initdb and postgres to use instead of the ones that npm brought. */
  binDir?: string;
  /** More settings of PostgreSQL, as in { max_connections: '300' }. */
  settings?: Record<string, string>;
  /** Created if it is absent; by default `recoup`. */
  database?: string;
  /** Called with a line for a person, before each step that takes a while. */
  onProgress?: (line: string) => void;
}

export interface Embedded {
  /** With the password: it is not for logs. */
  readonly url: string;
  readonly port: number;
  /** As in 18.4. */
  readonly version: string;
  /** Where the data really lies: as root it may be another folder than the one that was asked for. */
  readonly dataDir: string;
  /** Of PostgreSQL. */
  readonly pid: number;
  /** Whether the server was left running by a process that died. */
  readonly adopted: boolean;
  /** Whether PostgreSQL still runs. */
  alive(): Promise<boolean>;
  /** Tells who comes to the same data, and is refused, where this process answers HTTP. */
  announce(serves: string): Promise<void>;
  /** Ends all connections and stops PostgreSQL; may be called again. */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Throws an EmbeddedError, whose message is complete. The server does not keep this process running. A process that ends
 * without stop() leaves it to the next start, which adopts it; a throwaway ends with its process.
 */
export async function startEmbedded(options: EmbeddedOptions = {}): Promise<Embedded> {
  let undo: () => Promise<void> = async () => {};
  try {
    const place = options.throwaway
      ? await openThrowaway(options.tmpDir)
      : await openPlace(options.dataDir ?? '.recoup');
    const watchdog = options.throwaway ? await startWatchdog(place) : undefined;
    undo = async () => watchdog?.finish();
    const { plan, server, adopted } = await obtain(place, options);
    const stop = once(() => end(server, plan, watchdog));
    undo = stop;
    const target = { data: plan.data, port: server.port, database: options.database ?? 'recoup' };
    await ensureDatabase(target);
    return {
      url: await databaseUrl(target),
      port: server.port,
      version: plan.binaries.version,
      dataDir: place.folder,
      pid: server.pid,
      adopted,
      alive: () => isThere(server),
      announce: (serves) => recordOwner(plan.data, server, serves),
      stop,
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    // What failed first is what the caller should hear of.
    await undo().catch(() => {});
    throw asEmbeddedError(error);
  }
}

async function obtain(place: Place, options: EmbeddedOptions) {
  const say = options.onProgress ?? (() => {});
  const { folder, account } = place;
  await removeLeftovers(folder, account);
  const binaries = await findBinaries(place, options.binDir, say);
  const data = await ensureCluster(place, binaries, !options.throwaway, say);
  const owner = formatId(await thisProcess());
  const plan = { place, binaries, data, owner, settings: options.settings ?? {} };
  const { server, adopted } = await startOrAdopt(plan, options.port, say);
  return { plan: { ...plan, port: server.port }, server, adopted };
}

/** Until there is a server of ours or a reason why there is none; another start may be a step ahead at any time. */
async function startOrAdopt(
  base: Omit<Plan, 'port'>,
  askedPort: number | undefined,
  say: (line: string) => void,
): Promise<{ server: Server; adopted: boolean }> {
  const giveUp = Date.now() + 60_000;
  for (;;) {
    const plan = { ...base, port: askedPort ?? (await freePort()) };
    if (await findServer(plan.data)) {
      const server = await adopt(plan, askedPort);
      if (server) {
        say(`Using the PostgreSQL that a killed Recoup left running (process ${server.pid})`);
        return { server, adopted: true };
      }
    }
    say(`Starting PostgreSQL ${plan.binaries.version} on port ${plan.port}`);
    const server = await launch(plan);
    if (typeof server !== 'string') {
      return { server, adopted: false };
    }
    if (server === 'port' && askedPort !== undefined) {
      const text = `Port ${askedPort} on 127.0.0.1 is taken: name another one, or none to get a free one.`;
      throw new EmbeddedError('port_in_use', text);
    }
    if (Date.now() > giveUp) {
      const text = `PostgreSQL did not start on ${plan.data}: processes of an earlier one are still there.`;
      throw new EmbeddedError('start_failed', text);
    }
    await sleep(100);
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

async function end(server: Server, plan: Plan, watchdog: Watchdog | undefined): Promise<void> {
  await stopServer(server, watchdog ? 'immediate' : 'fast', plan);
  await watchdog?.finish();
}

/** A second call gets what the first one gets. */
function once(action: () => Promise<void>): () => Promise<void> {
  let result: Promise<void> | undefined;
  return () => {
    result ??= action();
    return result;
  };
}
