// The embedded server: whom its data belongs to, and what becomes of it when processes are killed.
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { type Embedded, type EmbeddedOptions, startEmbedded } from '../src/embedded/embedded.ts';
import { isZombie, Recoup, runs, until } from './embedded/processes.ts';
import { binDirOf, freePort, gateBefore, query, scratchFolder } from './embedded/scratch.ts';

const scratch = scratchFolder();
const dataDir = join(scratch.path, 'recoup');
const data = join(dataDir, 'data');
const lockFile = join(data, 'postmaster.pid');
const started: Embedded[] = [];
const children: Recoup[] = [];
let number = 0;

async function start(options: EmbeddedOptions = {}): Promise<Embedded> {
  const server = await startEmbedded({ dataDir, ...options });
  started.push(server);
  return server;
}

function recoup(options: EmbeddedOptions = {}): Recoup {
  const child = new Recoup({ dataDir, ...options });
  children.push(child);
  return child;
}

function newFolder(): string {
  number += 1;
  return join(scratch.path, String(number));
}

/** What a start leaves under temporary names. */
function leftovers(folder: string): string[] {
  return readdirSync(folder).filter((name) => /^(data|password|owner\.json|postmaster\.pid)\./.test(name));
}

/** Runs a program as the user that PostgreSQL runs as. */
function asPostgres(file: string, args: string[]) {
  const { uid, gid } = statSync(data);
  return spawn(file, args, { uid, gid, cwd: '/', stdio: ['ignore', 'pipe', 'ignore'], detached: true });
}

beforeAll(async () => {
  const server = await start();
  await query(server.url, 'create table kept (id int)');
  await server.stop();
});
afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => child.kill()));
  await Promise.all(started.splice(0).map((server) => server.stop()));
  // What the killed ones have left running.
  for (const folder of readdirSync(scratch.path)) {
    const left = join(scratch.path, folder);
    if (existsSync(join(left, 'data', 'postmaster.pid'))) await (await startEmbedded({ dataDir: left })).stop();
  }
});
afterAll(() => scratch.remove());

describe('a server', () => {
  test('is durable, private and has the database that was asked for', async () => {
    const server = await start({ database: 'it\'s "mine"', settings: { work_mem: '7MB', listen_addresses: '*' } });
    const settings = ['fsync', 'synchronous_commit', 'full_page_writes', 'listen_addresses', 'unix_socket_directories'];
    const columns = [...settings, 'work_mem', 'server_version'].map((name) => `current_setting('${name}') as ${name}`);
    const rows = await query(server.url, `select ${columns.join()}, current_database() as database`);
    expect(rows[0]).toEqual({
      fsync: 'on',
      synchronous_commit: 'on',
      full_page_writes: 'on',
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      work_mem: '7MB',
      server_version: server.version,
      database: 'it\'s "mine"',
    });
    expect(server).toMatchObject({ adopted: false, dataDir });
    const url = new URL(server.url);
    url.password = 'a guess';
    await expect(query(url.href, 'select 1')).rejects.toMatchObject({ code: '28P01' });
  });

  test('stops once, however often it is told to, and keeps its data', async () => {
    const server = await start();
    await query(server.url, 'insert into kept values (1)');
    await Promise.all([server.stop(), server.stop()]);
    await server.stop();
    await server[Symbol.asyncDispose]();
    expect(runs(server.pid)).toBe(false);
    expect(existsSync(lockFile)).toBe(false);
    const again = await start();
    expect(await query(again.url, 'select id from kept')).toEqual([{ id: 1 }]);
  });

  test.skipIf(process.platform === 'win32')('is out of the reach of Ctrl-C', async () => {
    const { pid } = await start();
    expect(Number(spawnSync('ps', ['-o', 'pgid=', '-p', String(pid)]).stdout)).toBe(pid);
  });

  test('stops while it has connections', async () => {
    const server = await start();
    const waiting = expect(query(server.url, 'select pg_sleep(1000)')).rejects.toThrow();
    const sleeping = "select from pg_stat_activity where wait_event = 'PgSleep'";
    await until(async () => (await query(server.url, sleeping)).length === 1);
    await server.stop();
    await waiting;
    expect(runs(server.pid)).toBe(false);
  });
});

describe('a second start', () => {
  test('is refused with the process that has the data', async () => {
    const first = recoup();
    const { pid } = await first.started();
    const second = await recoup().outcome();
    expect(second.refused).toMatchObject({ code: 'data_directory_in_use', exitCode: 3 });
    expect(second.refused?.message).toContain(`the Recoup process ${first.pid}, whose PostgreSQL is process ${pid}`);
    await expect(start()).rejects.toMatchObject({ code: 'data_directory_in_use', exitCode: 3 });
    await first.stop();
    expect(runs(pid)).toBe(false);
    expect(await start()).toMatchObject({ adopted: false });
  });

  test('in the same process is refused too', async () => {
    await start();
    await expect(start()).rejects.toThrow(`in use by this process (${process.pid})`);
  });

  test('is refused by a PostgreSQL that somebody else has started', async () => {
    const binDir = await binDirOf(inject('servers')[0]!.url);
    const socket = newFolder();
    mkdirSync(socket);
    chmodSync(socket, 0o777);
    const settings = ['-c', 'listen_addresses=', '-c', `unix_socket_directories=${socket}`];
    const other = asPostgres(join(binDir, 'postgres'), ['-D', data, ...settings]);
    try {
      await until(() => existsSync(lockFile) && /^ready/m.test(readFileSync(lockFile, 'utf8')));
      await expect(start()).rejects.toThrow(`in use by a PostgreSQL that Recoup did not start (process ${other.pid})`);
    } finally {
      other.kill('SIGINT');
      await until(() => !runs(other.pid!));
    }
  });

  test('at the same moment: one has the data, the other is refused', async () => {
    const both = [recoup(), recoup()];
    const said = await Promise.all(both.map((child) => child.outcome()));
    expect(said.filter((one) => one.started)).toHaveLength(1);
    const winner = both[said.findIndex((one) => one.started)]!;
    const loser = said.find((one) => one.refused)!;
    expect(loser.refused).toMatchObject({ code: 'data_directory_in_use', exitCode: 3 });
    expect(loser.refused?.message).toContain(`Recoup process ${winner.pid}`);
  });

  test('at the same moment on a new folder: one set of data, one owner', async () => {
    const folder = newFolder();
    const said = await Promise.all(
      [recoup({ dataDir: folder }), recoup({ dataDir: folder })].map((one) => one.outcome()),
    );
    expect(said.filter((one) => one.started)).toHaveLength(1);
    expect(said.find((one) => one.refused)?.refused).toMatchObject({ code: 'data_directory_in_use', exitCode: 3 });
    expect(leftovers(folder)).toEqual([]);
  });
});

describe('the server of a killed process', () => {
  test('is adopted and stopped', async () => {
    const child = recoup();
    const { pid, port } = await child.started();
    await child.kill();
    expect(runs(pid)).toBe(true);
    const server = await start();
    expect(server).toMatchObject({ pid, port, adopted: true });
    expect(await query(server.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    expect((await recoup().outcome()).refused?.message).toContain(`process ${process.pid}`);
    await server.stop();
    expect(runs(pid)).toBe(false);
  });

  test('is adopted by one of two', async () => {
    const child = recoup();
    const { pid } = await child.started();
    await child.kill();
    const said = await Promise.all([recoup(), recoup()].map((one) => one.outcome()));
    expect(said.filter((one) => one.started)).toMatchObject([{ started: { pid, adopted: true } }]);
    expect(said.filter((one) => one.refused)).toMatchObject([{ refused: { code: 'data_directory_in_use' } }]);
  });

  test('is adopted again when its adopter is killed', async () => {
    const first = recoup();
    const { pid } = await first.started();
    await first.kill();
    const second = recoup();
    await second.started();
    await second.kill();
    expect(await start()).toMatchObject({ pid, adopted: true });
  });

  test('is adopted although another process has the pid of its owner now', async () => {
    const child = recoup();
    const { pid } = await child.started();
    await child.kill();
    const file = join(dataDir, 'owner.json');
    const record = JSON.parse(readFileSync(file, 'utf8')) as { server: string };
    const { server } = record;
    writeFileSync(file, JSON.stringify({ server, owner: `${process.pid}.another-start` }));
    expect(await start()).toMatchObject({ pid, adopted: true });
  });

  test.for(['port', 'settings'])('is replaced if it has other %s than those asked for', async (what) => {
    const child = recoup();
    const { pid } = await child.started();
    await child.kill();
    const server = await start(what === 'port' ? { port: await freePort() } : { settings: { work_mem: '9MB' } });
    expect(server.adopted).toBe(false);
    expect(runs(pid)).toBe(false);
  });
});

describe('a process killed in the middle of its start', () => {
  test('while the data is made: the next start makes it anew and removes the rest', async () => {
    const folder = newFolder();
    const gate = gateBefore('initdb', await binDirOf(inject('servers')[0]!.url), newFolder());
    const child = recoup({ dataDir: folder, binDir: gate.binDir });
    await until(gate.reached);
    await child.kill();
    expect(leftovers(folder)).toHaveLength(2);
    const server = await start({ dataDir: folder });
    expect(server.adopted).toBe(false);
    expect(leftovers(folder)).toEqual([]);
    await server.stop();
    gate.open();
    await until(() => !runs(gate.pid()));
    await (await start({ dataDir: folder })).stop();
    expect(leftovers(folder)).toEqual([]);
  });

  test('while PostgreSQL starts: the server is adopted once it is there', async () => {
    const binDir = await binDirOf(inject('servers')[0]!.url);
    const gate = gateBefore('postgres', binDir, newFolder());
    const child = recoup({ binDir: gate.binDir });
    await until(gate.reached);
    await child.kill();
    gate.open();
    await until(() => existsSync(lockFile));
    expect(await start({ binDir })).toMatchObject({ pid: gate.pid(), adopted: true });
  });

  test('before PostgreSQL starts: it comes too late and gives way', async () => {
    const gate = gateBefore('postgres', await binDirOf(inject('servers')[0]!.url), newFolder());
    const child = recoup({ binDir: gate.binDir });
    await until(gate.reached);
    await child.kill();
    const server = await start();
    gate.open();
    await until(() => !runs(gate.pid()));
    expect(await query(server.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });
});

describe.skipIf(process.platform === 'win32')('a lock file', () => {
  /** As a server leaves it that was cut off by a power failure. */
  function lockOf(pid: number): void {
    writeFileSync(lockFile, `${pid}\n${data}\n1700000000\n5432\n\n127.0.0.1\n  1 1\nready   \n`);
  }

  test('of a process that is gone is replaced', async () => {
    lockOf(spawnSync('true').pid);
    expect(await start()).toMatchObject({ adopted: false });
  });

  test('whose pid another program of the same user has now is replaced', async () => {
    const other = asPostgres('sleep', ['1000']);
    lockOf(other.pid!);
    expect(await start()).toMatchObject({ adopted: false });
    expect(runs(other.pid!)).toBe(true);
    other.kill();
  });

  test('whose pid another PostgreSQL has now is replaced', async () => {
    const text = String.raw`select split_part(pg_read_file('postmaster.pid'), E'\n', 1) as pid`;
    const [row] = await query(inject('servers')[0]!.url, text);
    lockOf(Number(row?.pid));
    expect(await start()).toMatchObject({ adopted: false });
    expect(runs(Number(row?.pid))).toBe(true);
  });

  test.runIf(existsSync('/proc/self/stat'))('of a zombie is replaced', async () => {
    const parent = asPostgres('sh', ['-c', 'sh -c "exit 0" & echo $!; exec sleep 1000']);
    const [line] = (await parent.stdout!.take(1).toArray()) as Buffer[];
    const zombie = Number(line!.toString());
    await until(() => isZombie(zombie));
    lockOf(zombie);
    expect(await start()).toMatchObject({ adopted: false });
    parent.kill();
  });
});
