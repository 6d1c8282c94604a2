// The PostgreSQL of a run: killed, stopped at once, started again; who uses it knows it by its relays.
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type Embedded, startEmbedded } from '../../packages/server/src/embedded/embedded.ts';
import type { Relay } from './relay.ts';

export class Postgres {
  readonly #folder: string;
  readonly #settings: Record<string, string>;
  readonly #relays: Relay[] = [];
  #running: Embedded;
  #starting: Promise<void> = Promise.resolve();
  #stopped = false;

  private constructor(folder: string, settings: Record<string, string>, running: Embedded) {
    this.#folder = folder;
    this.#settings = settings;
    this.#running = running;
  }

  static async start(folder: string, settings: Record<string, string> = {}): Promise<Postgres> {
    return new Postgres(folder, settings, await startEmbedded({ dataDir: folder, settings }));
  }

  get version(): string {
    return this.#running.version;
  }

  get isAlive(): boolean {
    return alive(this.#running.pid);
  }

  /** Without a relay: for the audit and for faults. */
  get url(): string {
    return this.#running.url;
  }

  /** The URL of this database by way of a relay, which leads to wherever it is started again. */
  through(relay: Relay): string {
    this.#relays.push(relay);
    relay.leadTo(this.#running.port);
    const url = new URL(this.#running.url);
    url.port = String(relay.port);
    return url.href;
  }

  /** SIGKILL to the postmaster: its backends end by themselves, wherever they are; nothing is written out. */
  kill(): Promise<void> {
    return this.#end('SIGKILL');
  }

  /** What `pg_ctl stop -m immediate` does: every process ends now, nothing is written out. */
  stopImmediately(): Promise<void> {
    return this.#end('SIGQUIT');
  }

  /** SIGKILL to one busy backend: PostgreSQL ends all the others and recovers. False where none is there. */
  async killBackend(): Promise<boolean> {
    const rows = await this.query(
      `select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
       order by state = 'active' desc, random() limit 1`,
    ).catch(() => []);
    return rows[0] !== undefined && send(Number(rows[0].pid), 'SIGKILL');
  }

  /** Starts it again unless it runs, as soon as what is left of the last one lets it. */
  again(): Promise<void> {
    this.#starting = this.#startAgain();
    return this.#starting;
  }

  async #startAgain(): Promise<void> {
    while (!this.#stopped && !alive(this.#running.pid)) {
      try {
        this.#running = await startEmbedded({ dataDir: this.#folder, settings: this.#settings });
      } catch (error) {
        // A full disk may still be full.
        if (this.#stopped) throw error;
        await sleep(200);
      }
    }
    for (const relay of this.#relays) relay.leadTo(this.#running.port);
  }

  async query(sql: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
    const client = new pg.Client({ connectionString: this.#running.url, connectionTimeoutMillis: 10_000 });
    client.on('error', () => {});
    await client.connect();
    try {
      return (await client.query(sql, values)).rows as Record<string, unknown>[];
    } finally {
      await client.end().catch(() => {});
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    // A start on its way has to be over first: it would bring another one.
    await this.#starting.catch(() => {});
    await this.#running.stop();
  }

  async #end(signal: 'SIGKILL' | 'SIGQUIT'): Promise<void> {
    const { pid } = this.#running;
    send(pid, signal);
    while (alive(pid)) await sleep(5);
  }
}

/** False where the process is gone, as any of them may be at any time here. */
function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
const alive = (pid: number) => send(pid, 0);
