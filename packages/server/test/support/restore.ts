// What restores are tested with: a consumer of the feed, files with their owners, a standby that streams.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { FeedEvent, Recoup } from 'recoup';
import { expect } from 'vitest';
import { until } from '../../../recoup/test/support/waiting.ts';
import { freePort, query } from '../embedded/scratch.ts';

const named = (event: FeedEvent) =>
  event.kind === 'entry'
    ? `${event.wallet} ${event.seq} ${event.type} ${event.job ?? event.key}`
    : `${event.wallet} ${event.job} ${event.attempt} ${event.endedAs}`;

/** A consumer as the pages advise: it keeps the cursor, and goes on with the one that a refusal gives. */
export class Consumer {
  readonly seen: string[] = [];
  readonly epochs: number[] = [];
  #cursor: string | null = null;

  /** Reads until an event has come that was not seen before: what is final is known by reading. */
  async followTo(recoup: Recoup, last: string): Promise<string[]> {
    const had = this.seen.length;
    await until(async () => {
      await this.#follow(recoup);
      return this.seen.slice(had).includes(last);
    });
    return this.seen.slice(had);
  }

  async #follow({ feed }: Recoup): Promise<void> {
    for (;;) {
      const page = await feed
        .read(this.#cursor, 3)
        .catch((error: { code?: string; details: Record<string, unknown> }) => {
          if (error.code !== 'epoch_changed') throw error;
          this.epochs.push(error.details.epoch as number);
          return { events: null, cursor: error.details.cursor as string | null };
        });
      this.#cursor = page.cursor;
      if (page.events?.length === 0) return;
      this.seen.push(...(page.events ?? []).map(named));
    }
  }
}

/** `cp` as root gives everything to root; PostgreSQL runs as somebody else. */
export function copyOwners(from: string, to: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(from);
  execFileSync('chown', [`${uid}:${gid}`, to]);
  for (const name of readdirSync(from)) {
    const own = statSync(join(from, name));
    execFileSync('chown', ['-R', `${own.uid}:${own.gid}`, join(to, name)]);
  }
}

/** A standby of a server, streaming from it; runs as the user that PostgreSQL runs as. */
export async function standbyOf(url: string, binDir: string, data: string) {
  const source = new URL(url);
  const port = await freePort();
  const [row] = await query(url, `select setting as data from pg_settings where name = 'data_directory'`);
  const { uid, gid } = statSync(String(row!.data));
  const as = { uid, gid, cwd: '/', stdio: 'pipe' as const, env: { ...process.env, PGPASSWORD: source.password } };
  mkdirSync(data);
  execFileSync('chown', [`${uid}:${gid}`, data]);
  const from = ['-h', source.hostname, '-p', source.port, '-U', source.username];
  execFileSync(join(binDir, 'pg_basebackup'), [...from, '-D', data, '-R', '-X', 'stream', '-c', 'fast'], as);
  execFileSync('chmod', ['700', data]);
  const ctl = (...args: string[]) =>
    spawnSync(join(binDir, 'pg_ctl'), ['-D', data, '-w', ...args], { ...as, stdio: 'ignore' });
  const options = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off -c hot_standby=on`;
  expect(ctl('start', '-l', join(data, 'log'), '-o', options).status).toBe(0);
  const own = new URL(url);
  own.port = String(port);
  return {
    url: own.href,
    /** Ends the streaming, once what was written so far has arrived. */
    cut: async () => {
      const [{ lsn }] = (await query(url, 'select pg_current_wal_lsn()::text as lsn')) as [{ lsn: string }];
      const arrived = `select pg_last_wal_replay_lsn() >= '${lsn}' as arrived`;
      await until(async () => (await query(own.href, arrived))[0]!.arrived === true);
      await query(own.href, `alter system set primary_conninfo = ''`);
      await query(own.href, 'select pg_reload_conf()');
      await until(async () => (await query(own.href, 'select from pg_stat_wal_receiver')).length === 0);
    },
    promote: () => expect(ctl('promote').status).toBe(0),
    stop: async () => {
      ctl('stop', '-m', 'immediate');
    },
  };
}
