// The embedded server: where its files lie, as whom it runs, what is refused, and what a throwaway leaves behind.
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { afterAll, afterEach, describe, expect, inject, test } from 'vitest';
import { type Embedded, EmbeddedError, type EmbeddedOptions, startEmbedded } from '../src/embedded/embedded.ts';
import { asEmbeddedError, fromOutput } from '../src/embedded/errors.ts';
import { Recoup, runs, until } from './embedded/processes.ts';
import { binDirOf, freePort, gateBefore, listen, query, scratchFolder } from './embedded/scratch.ts';

const isRoot = process.getuid?.() === 0;
const scratch = scratchFolder();
const started: Embedded[] = [];
const children: Recoup[] = [];
/** What tests have made outside of their own folder. */
const elsewhere: string[] = [];
let number = 0;

async function start(options: EmbeddedOptions): Promise<Embedded> {
  const server = await startEmbedded(options);
  started.push(server);
  return server;
}

function recoup(...args: ConstructorParameters<typeof Recoup>): Recoup {
  const child = new Recoup(...args);
  children.push(child);
  return child;
}

function newFolder(mode?: number): string {
  number += 1;
  const folder = join(scratch.path, String(number));
  if (mode !== undefined) {
    mkdirSync(folder);
    chmodSync(folder, mode);
  }
  return folder;
}

function embeddedBinDir(): Promise<string> {
  return binDirOf(inject('servers')[0]!.url);
}

afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => child.kill()));
  await Promise.all(started.splice(0).map((server) => server.stop()));
});
afterAll(() => {
  scratch.remove();
  for (const path of elsewhere) rmSync(path, { recursive: true, force: true });
});

describe('a throwaway server', () => {
  test('is removed when it is stopped', async () => {
    const server = await start({ throwaway: true });
    expect(existsSync(join(server.dataDir, 'data'))).toBe(true);
    await server.stop();
    expect(runs(server.pid)).toBe(false);
    expect(existsSync(server.dataDir)).toBe(false);
  });

  test('ends and is removed when its process is killed', async () => {
    const child = recoup({ throwaway: true });
    const { pid, dataDir } = await child.started();
    await child.kill();
    await until(() => !runs(pid) && !existsSync(dataDir));
  });

  test('is removed when its process is killed while the data is made', async () => {
    const gate = gateBefore('initdb', await embeddedBinDir(), newFolder());
    const child = recoup({ throwaway: true, binDir: gate.binDir });
    await until(gate.reached);
    const folder = dirname(gate.target());
    expect(existsSync(folder)).toBe(true);
    await child.kill();
    await until(() => !existsSync(folder));
    gate.open();
    await until(() => !runs(gate.pid()));
    expect(existsSync(folder)).toBe(false);
  });

  test('leaves nothing when it cannot start', async () => {
    const gate = gateBefore('initdb', await embeddedBinDir(), newFolder());
    gate.open();
    const settings = { shared_buffers: 'plenty' };
    const failed = startEmbedded({ throwaway: true, binDir: gate.binDir, settings });
    await expect(failed).rejects.toMatchObject({ code: 'start_failed' });
    await expect(failed).rejects.toThrow('invalid value for parameter "shared_buffers": "plenty"');
    expect(existsSync(dirname(gate.target()))).toBe(false);
  });
});

describe.runIf(isRoot)('started by root', () => {
  test('runs as an unprivileged user, from a copy that only root can change', async () => {
    const server = await start({ throwaway: true });
    const binDir = await binDirOf(server.url);
    expect(statSync(join(server.dataDir, 'data')).uid).not.toBe(0);
    expect(statSync(join(server.dataDir, 'data')).mode & 0o777).toBe(0o700);
    for (const folder of [binDir, dirname(binDir), dirname(dirname(binDir))]) {
      expect(statSync(folder).uid).toBe(0);
      expect(statSync(folder).mode & 0o777).toBe(0o755);
    }
    expect(dirname(dirname(binDir))).toBe('/var/lib/recoup');
    const copied = readdirSync(join(dirname(binDir), 'lib'));
    expect(copied.filter((name) => name.endsWith('.a'))).toEqual([]);
    const links = JSON.parse(readFileSync(join(dirname(binDir), 'pg-symlinks.json'), 'utf8')) as { target: string }[];
    expect(copied).toEqual(expect.arrayContaining(links.map(({ target }) => basename(target))));
  });

  test('below a folder that only root may enter: the data lies elsewhere, and the folder names the place', async () => {
    const dataDir = join(newFolder(0o700), 'recoup');
    const server = await start({ dataDir });
    elsewhere.push(server.dataDir);
    expect(dirname(server.dataDir)).toBe('/var/lib/recoup');
    expect(statSync(server.dataDir).mode & 0o777).toBe(0o700);
    expect(statSync(server.dataDir).uid).not.toBe(0);
    expect(readFileSync(join(dataDir, 'location'), 'utf8')).toBe(`${server.dataDir}\n`);
    await query(server.url, 'create table kept ()');
    await expect(startEmbedded({ dataDir })).rejects.toMatchObject({ code: 'data_directory_in_use' });
    await server.stop();
    const again = await start({ dataDir });
    expect(again.dataDir).toBe(server.dataDir);
    expect(await query(again.url, 'select from kept')).toEqual([]);
  });

  test('two first starts below such a folder agree on the place', async () => {
    const dataDir = join(newFolder(0o700), 'recoup');
    const said = await Promise.all([recoup({ dataDir }), recoup({ dataDir })].map((child) => child.outcome()));
    const winner = said.find((one) => one.started)!.started!;
    elsewhere.push(winner.dataDir);
    expect(said.find((one) => one.refused)?.refused).toMatchObject({ code: 'data_directory_in_use' });
    await Promise.all(children.map((child) => child.stop()));
  });

  test('a folder that names any other place is refused', async () => {
    const dataDir = newFolder(0o755);
    writeFileSync(join(dataDir, 'location'), `${newFolder(0o755)}\n`);
    await expect(startEmbedded({ dataDir })).rejects.toMatchObject({ code: 'data_directory_unusable' });
  });

  test('in a folder of another user: runs as that user', async () => {
    const dataDir = newFolder(0o700);
    const daemon = 1;
    chownSync(dataDir, daemon, daemon);
    await start({ dataDir });
    expect(statSync(join(dataDir, 'data')).uid).toBe(daemon);
  });

  test('programs that only root may enter are copied', async () => {
    const closed = newFolder(0o700);
    cpSync(dirname(await embeddedBinDir()), join(closed, 'postgres'), { recursive: true, verbatimSymlinks: true });
    const server = await start({ throwaway: true, binDir: join(closed, 'postgres', 'bin') });
    const copy = dirname(await binDirOf(server.url));
    elsewhere.push(copy);
    expect(dirname(copy)).toBe('/var/lib/recoup');
  });
});

describe('started by an ordinary user', () => {
  test.runIf(isRoot)('keeps the programs in the cache of that user, and is adopted by that user', async () => {
    const { uid, gid } = statSync(join(await dataOf(inject('servers')[0]!.url)));
    const [own, cache] = [newFolder(0o755), newFolder(0o755)];
    for (const folder of [own, cache]) chownSync(folder, uid, gid);
    const user = { uid, gid, cache };
    const first = recoup({ dataDir: join(own, 'recoup') }, user);
    const { pid, url } = await first.started();
    expect(await binDirOf(url)).toMatch(join(cache, 'recoup', 'postgres-'));
    await first.kill();
    const second = recoup({ dataDir: join(own, 'recoup') }, user);
    expect(await second.started()).toMatchObject({ pid, adopted: true });
    await second.stop();
    expect(runs(pid)).toBe(false);
  });

  test.runIf(isRoot)('hears which folder it may not use', async () => {
    const { uid, gid } = statSync(await dataOf(inject('servers')[0]!.url));
    const [closed, open] = [newFolder(0o700), newFolder(0o777)];
    const { refused } = await recoup({ dataDir: join(closed, 'recoup') }, { uid, gid, cache: open }).outcome();
    expect(refused).toMatchObject({ code: 'permission_denied', exitCode: 3 });
    expect(refused?.message).toContain(join(closed, 'recoup'));
    const other = await recoup({ dataDir: join(open, 'recoup') }, { uid, gid, cache: closed }).outcome();
    expect(other.refused?.message).toContain('Set XDG_CACHE_HOME');
  });

  async function dataOf(url: string): Promise<string> {
    return String((await query(url, "select current_setting('data_directory') as path"))[0]?.path);
  }
});

describe('refused with a sentence', () => {
  test('a port that is taken; without one asked for, a free one is taken', async () => {
    const { port, server } = await listen();
    const dataDir = newFolder();
    await expect(startEmbedded({ dataDir, port })).rejects.toMatchObject({ code: 'port_in_use', exitCode: 3 });
    server.close();
    const other = await freePort();
    expect(await start({ dataDir, port: other })).toMatchObject({ port: other });
    expect((await start({ throwaway: true })).port).not.toBe(other);
  });

  test('programs that cannot run here', async () => {
    const binDir = newFolder(0o755);
    const absent = startEmbedded({ throwaway: true, binDir });
    await expect(absent).rejects.toMatchObject({ code: 'embedded_unavailable' });
    // As on musl: the file is there, and what should load it is not.
    writeFileSync(join(binDir, 'postgres'), '#!/lib/no-such-loader\n', { mode: 0o755 });
    await expect(startEmbedded({ throwaway: true, binDir })).rejects.toThrow(/glibc.*Set DATABASE_URL/);
    rmSync(join(binDir, 'postgres'));
    writeFileSync(join(binDir, 'postgres'), '#!/bin/sh\necho "libx.so: cannot open" >&2; exit 127\n', { mode: 0o755 });
    const broken = startEmbedded({ throwaway: true, binDir });
    await expect(broken).rejects.toThrow(/cannot run here: libx.so: cannot open. Set DATABASE_URL/);
  });

  test('a folder with other things in it, which stays as it is', async () => {
    const dataDir = newFolder(0o755);
    writeFileSync(join(dataDir, 'thesis.txt'), '');
    const { uid, mode } = statSync(dataDir);
    await expect(startEmbedded({ dataDir })).rejects.toMatchObject({ code: 'data_directory_unusable' });
    expect(statSync(dataDir)).toMatchObject({ uid, mode });
  });

  test('a folder that cannot be made', async () => {
    const file = join(newFolder(0o755), 'file');
    writeFileSync(file, '');
    const refused = startEmbedded({ dataDir: join(file, 'recoup') });
    await expect(refused).rejects.toMatchObject({ code: 'data_directory_unusable', exitCode: 2 });
    await expect(refused).rejects.toThrow(`${join(file, 'recoup')} is a file, or lies below one`);
  });

  test.runIf(existsSync('/proc/self'))('a folder, with its parents, on a file system that makes none', async () => {
    const refused = startEmbedded({ dataDir: '/proc/recoup/a/b' });
    await expect(refused).rejects.toMatchObject({ code: 'permission_denied' });
  });

  test('data of another version', async () => {
    const dataDir = newFolder();
    await (await start({ dataDir })).stop();
    writeFileSync(join(dataDir, 'data', 'PG_VERSION'), '14\n');
    const refused = startEmbedded({ dataDir });
    await expect(refused).rejects.toMatchObject({ code: 'data_directory_unusable' });
    await expect(refused).rejects.toThrow('written by PostgreSQL 14');
  });

  test('a log that is a link: root must not write where it leads', async () => {
    const dataDir = newFolder();
    await (await start({ dataDir })).stop();
    const log = join(dataDir, 'postgres.log');
    rmSync(log);
    symlinkSync(join(scratch.path, 'victim'), log);
    await expect(startEmbedded({ dataDir })).rejects.toBeInstanceOf(EmbeddedError);
    expect(existsSync(join(scratch.path, 'victim'))).toBe(false);
  });

  test('a full disk and a missing permission, whoever met them', () => {
    const full = Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC', path: '/x/y' });
    expect(asEmbeddedError(full)).toMatchObject({
      code: 'disk_full',
      message: 'The disk is full: /x/y could not be written.',
    });
    const wal = 'FATAL:  could not write to file "pg_wal/xlogtemp.4": No space left on device';
    expect(fromOutput(wal, 'Starting')).toMatchObject({ code: 'disk_full' });
    const closed = 'initdb: error: could not create directory "/x": Permission denied';
    expect(fromOutput(closed, 'Creating')).toMatchObject({
      code: 'permission_denied',
      message: 'Creating was not permitted: could not create directory "/x": Permission denied.',
    });
  });
});
