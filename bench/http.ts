// The service under load: submits through HTTP against a bare handler, latency at half load, memory, time to the first answer.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import autocannon from 'autocannon';
import { open } from '../packages/recoup/src/index.ts';
import { testDatabase } from '../packages/recoup/src/testing.ts';
import { median } from './figures.ts';
import { openWallets } from './lives.ts';
import { type BenchServer, processCpu, serverCpu } from './server.ts';

const CONNECTIONS = 64;
const WALLETS = 1000;
/** As deploy/ starts it, for both. */
const NODE_FLAGS = ['--max-semi-space-size=32'];
const ROOT = new URL('..', import.meta.url).pathname;

export interface HttpFigures {
  per_second: number;
  bare_per_second: number;
  /** CPU of a request, in µs: what the wall clock of a machine that is shared cannot tell. */
  node_cpu_us: number;
  server_cpu_us: number;
  bare_node_cpu_us: number;
  bare_server_cpu_us: number;
  half_load_p99_ms: number;
  idle_mb: number;
  loaded_mb: number;
  first_answer_empty_ms: number;
  first_answer_existing_ms: number;
}

interface Served extends AsyncDisposable {
  url: string;
  pid: number;
}

/** A process that serves HTTP, once it answers. */
async function serve(args: string[], url: string | undefined, cwd = ROOT): Promise<Served> {
  const child = spawn(process.execPath, [...NODE_FLAGS, ...args], { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
  const served = url ?? (await firstLine(child));
  await untilAnswers(child, url === undefined ? served : `${served}/readyz`);
  return { url: served, pid: child.pid!, [Symbol.asyncDispose]: () => stop(child) };
}

async function firstLine(child: ChildProcess): Promise<string> {
  for await (const chunk of child.stdout!) return String(chunk).trim();
  throw new Error('the server said nothing');
}

async function untilAnswers(child: ChildProcess, url: string): Promise<void> {
  while (child.exitCode === null) {
    const response = await fetch(url).catch(() => undefined);
    if (response && response.status < 500) return;
    await sleep(5);
  }
  throw new Error(`the server ended with ${child.exitCode}`);
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

const start = (port: number) => [
  'packages/server/bin/recoup.mjs',
  'start',
  '--port',
  `${port}`,
  '--log-level',
  'error',
];

/** Resident memory in MB; NaN where /proc is not there. */
function residentMb(pid: number): number {
  try {
    return Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024);
  } catch {
    return Number.NaN;
  }
}

let counter = 0;

/** Submits for so long, at most so many a second; every job is a new one. */
async function submits(url: string, seconds: number, perSecond?: number) {
  const body = JSON.stringify({ queue: 'bench', price: 40, payload: { prompt: 'a lighthouse at dusk', seconds: 5 } });
  const result = await autocannon({
    url,
    connections: CONNECTIONS,
    duration: seconds,
    ...(perSecond === undefined ? {} : { overallRate: perSecond }),
    requests: [
      {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body,
        setupRequest: (request) => {
          const n = counter++;
          return { ...request, path: `/v1/wallets/wallet-${n % WALLETS}/jobs/job-${n}` };
        },
      },
    ],
  });
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${result.non2xx} refusals and ${result.errors} errors under load`);
  }
  return { requests: result.requests.total, perSecond: result.requests.average, p99: result.latency.p99 };
}

interface Load {
  perSecond: number;
  nodeUs: number;
  serverUs: number;
}

/** A run of submits, and what a request of it took of the process and of the database server. */
async function loaded(served: Served, postmaster: number, seconds: number): Promise<Load> {
  const cpu = () => [processCpu(served.pid), serverCpu(postmaster)].map((ms) => ms ?? Number.NaN);
  const before = cpu();
  const { requests, perSecond } = await submits(served.url, seconds);
  const [nodeUs, serverUs] = cpu().map((ms, i) => ((ms - before[i]!) * 1000) / requests);
  return { perSecond, nodeUs: nodeUs!, serverUs: serverUs! };
}

/** How long a start takes until it answers, from spawn to the first 200 of /readyz. */
async function firstAnswer(folder: string): Promise<number> {
  const port = await freePort();
  const began = performance.now();
  await using _served = await serve([...start(port), '--data-dir', folder], `http://127.0.0.1:${port}`);
  return Math.round(performance.now() - began);
}

/** Needs what `npm run build` builds. */
export async function http(server: BenchServer, quick: boolean, say: (line: string) => void): Promise<HttpFigures> {
  const seconds = quick ? 2 : 8;
  await using db = await testDatabase(server.url);
  await using recoup = await open({ connection: db.url, sweep: false });
  await openWallets(recoup, WALLETS);
  const port = await freePort();
  const ours = await serve([...start(port), '--database-url', db.url], `http://127.0.0.1:${port}`);
  await using _ours = ours;
  await using bare = await serve(['--import', 'tsx', 'bench/bare-server.ts', db.url], undefined);
  await sleep(1000);
  const idle = residentMb(ours.pid);
  await submits(ours.url, 2);
  await submits(bare.url, 2);
  const rounds = quick ? 1 : 3;
  const figures = { ours: [] as Load[], bare: [] as Load[] };
  for (let i = 0; i < rounds; i++) {
    // Each round the other one first.
    for (const which of i % 2 === 0 ? (['ours', 'bare'] as const) : (['bare', 'ours'] as const)) {
      const load = await loaded(which === 'ours' ? ours : bare, server.pid, seconds);
      figures[which].push(load);
      const cpu = `CPU of a request: Node ${load.nodeUs.toFixed(1)} µs, PostgreSQL ${load.serverUs.toFixed(1)} µs`;
      const name = which === 'ours' ? 'Recoup      ' : 'bare handler';
      say(`  submit through HTTP, ${name} ${Math.round(load.perSecond)}/s, ${cpu}`);
    }
  }
  const middle = (all: readonly Load[], of: keyof Load) => Number(median(all.map((load) => load[of])).toFixed(1));
  const filled = residentMb(ours.pid);
  const half = await submits(ours.url, seconds, Math.round(middle(figures.ours, 'perSecond') / 2));
  say(`  p99 at half of that load: ${half.p99} ms; memory ${idle} MB idle, ${filled} MB loaded`);
  return {
    per_second: middle(figures.ours, 'perSecond'),
    bare_per_second: middle(figures.bare, 'perSecond'),
    node_cpu_us: middle(figures.ours, 'nodeUs'),
    server_cpu_us: middle(figures.ours, 'serverUs'),
    bare_node_cpu_us: middle(figures.bare, 'nodeUs'),
    bare_server_cpu_us: middle(figures.bare, 'serverUs'),
    half_load_p99_ms: half.p99,
    idle_mb: idle,
    loaded_mb: filled,
    ...(await starts(say)),
  };
}

async function starts(say: (line: string) => void) {
  const folder = mkdtempSync(join(tmpdir(), 'recoup-bench-'));
  try {
    const empty = await firstAnswer(join(folder, 'data'));
    const existing = await firstAnswer(join(folder, 'data'));
    say(`  recoup start to the first answer: ${empty} ms in an empty folder, ${existing} ms in an existing one`);
    return { first_answer_empty_ms: empty, first_answer_existing_ms: existing };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
