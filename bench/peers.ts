// Peers: installs them in their own folder, runs each in a process and a database of its own, on the bench's server.
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import pg from 'pg';

const FOLDER = new URL('peers', import.meta.url).pathname;
/** What the newest peers need: graphile-worker 0.18. */
const NEWER_NODE = [22, 18];

/** A peer that lost a job would never be done with it. */
const PATIENCE_MS = 240_000;

export interface Peer {
  name: string;
  file: string;
  /** Its folder in node_modules, where its version stands. */
  package: string;
  newerNode: boolean;
}

const PEERS: readonly Peer[] = [
  { name: 'graphile-worker', file: 'graphile-worker.mjs', package: 'graphile-worker', newerNode: true },
  { name: 'pg-boss 12', file: 'pg-boss-12.mjs', package: 'pg-boss-12', newerNode: true },
  { name: 'pg-boss 10', file: 'pg-boss-10.mjs', package: 'pg-boss-10', newerNode: false },
  { name: 'BullMQ on PostgreSQL', file: 'bullmq.mjs', package: 'bullmq', newerNode: false },
];

export type Mode = 'calls' | 'batch';
export interface Life {
  enqueueMs: number;
  drainMs: number;
  ms: number;
}

/** The peers that can run here; those that cannot, or failed in a round, are named with the reason. */
export interface Peers {
  peers: readonly Peer[];
  /** Name and version of each, and of its Node. */
  versions: Record<string, string>;
  leftOut: Record<string, string>;
}

/** Installs what is not there, unless told not to. */
export async function findPeers(mayInstall: boolean, say: (line: string) => void): Promise<Peers> {
  const found: Peers = {
    peers: [],
    versions: {},
    leftOut: {
      'BullMQ on Redis': 'another server with another durability; its PostgreSQL backend stands here instead',
    },
  };
  const missing = await installed(mayInstall, say);
  const peers: Peer[] = [];
  for (const peer of PEERS) {
    const node = nodeOf(peer);
    const reason =
      missing ?? (node ? undefined : `needs Node ${NEWER_NODE.join('.')}, for which there is no npm package here`);
    if (reason === undefined) {
      peers.push(peer);
      found.versions[peer.name] = `${versionOf(peer)}, Node ${nodeVersion(node!)}`;
    } else {
      found.leftOut[peer.name] = reason;
      say(`${peer.name} is left out: ${reason}`);
    }
  }
  return { ...found, peers };
}

/** Undefined once they are there, else why not. */
async function installed(mayInstall: boolean, say: (line: string) => void): Promise<string | undefined> {
  const stamp = join(FOLDER, 'node_modules', '.package-lock.json');
  if (existsSync(stamp) && sameVersions(stamp)) return undefined;
  if (!mayInstall) return 'not installed, and --quick installs nothing: run without it once';
  say('installing the peers in bench/peers (npm ci), once');
  // No script of a package runs: none is needed.
  const child = spawn('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel', 'error'], {
    cwd: FOLDER,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  const failed = await new Promise<string | undefined>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code) => resolve(code === 0 ? undefined : `npm ci ended with ${code}`));
  });
  return failed && `they could not be installed (${failed}); is there a network?`;
}

/** Whether what lies there is what the lock file says. */
function sameVersions(stamp: string): boolean {
  const packages = (path: string) =>
    JSON.parse(readFileSync(path, 'utf8')).packages as Record<string, { version: string }>;
  const there = packages(stamp);
  const locked = packages(join(FOLDER, 'package-lock.json'));
  return PEERS.every(({ package: name }) => {
    const path = `node_modules/${name}`;
    return there[path]?.version === locked[path]?.version;
  });
}

const versionOf = (peer: Peer): string =>
  JSON.parse(readFileSync(join(FOLDER, 'node_modules', peer.package, 'package.json'), 'utf8')).version;

/** The Node that runs the bench where it is new enough, else the one that npm brought. */
function nodeOf(peer: Peer): string | undefined {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const [needMajor = 0, needMinor = 0] = NEWER_NODE;
  if (!peer.newerNode || major > needMajor || (major === needMajor && minor >= needMinor)) return process.execPath;
  const path = join(FOLDER, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin', 'node');
  return existsSync(path) ? path : undefined;
}

const nodeVersion = (path: string) =>
  path === process.execPath
    ? process.versions.node
    : spawnSync(path, ['--version'], { encoding: 'utf8' }).stdout.trim().slice(1);

let counter = 0;

/** Does something with a peer. One that fails is named with its reason, and the bench goes on without what it was asked for. */
export async function withPeer(
  serverUrl: string,
  { leftOut }: Peers,
  peer: Peer,
  when: string,
  say: (line: string) => void,
  work: (running: RunningPeer) => Promise<void>,
): Promise<void> {
  try {
    await using running = await RunningPeer.start(serverUrl, peer);
    await work(running);
  } catch (error) {
    const [reason = ''] = String((error as Error).message).split('\n');
    leftOut[`${peer.name}, ${when}`] = reason;
    say(`  ${peer.name} failed and is left out of ${when}: ${(error as Error).message}`);
  }
}

/** A peer at work: one process, one database; gone when it is disposed. */
class RunningPeer implements AsyncDisposable {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #answers: AsyncIterator<string>;
  readonly #drop: () => Promise<void>;
  readonly #name: string;
  #told = '';

  private constructor(peer: Peer, url: string, drop: () => Promise<void>) {
    this.#name = peer.name;
    this.#drop = drop;
    this.#child = spawn(nodeOf(peer)!, ['--no-warnings', peer.file, url], { cwd: FOLDER, stdio: 'pipe' });
    // What a peer has to say beside its figures is only of use when it fails.
    // One that died is found by the answer that does not come.
    this.#child.stdin.on('error', () => {});
    this.#child.stderr.on('data', (chunk) => {
      this.#told = (this.#told + String(chunk)).slice(-2000);
    });
    this.#answers = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  static async start(serverUrl: string, peer: Peer): Promise<RunningPeer> {
    const database = `peer_${process.pid}_${counter++}`;
    await onServer(serverUrl, `create database ${database}`);
    const url = new URL(serverUrl);
    url.pathname = `/${database}`;
    const running = new RunningPeer(peer, url.href, () =>
      onServer(serverUrl, `drop database if exists ${database} with (force)`),
    );
    try {
      await running.#answer();
    } catch (error) {
      await running[Symbol.asyncDispose]();
      throw error;
    }
    return running;
  }

  /** So many jobs, enqueued all and then drained. */
  life(jobs: number, mode: Mode): Promise<Life> {
    return this.#ask({ do: 'life', jobs, mode }) as Promise<Life>;
  }

  /** Ms of each time: from the call that enqueues to the handler's start, or of a call of one caller alone. */
  async latencies(what: 'pickup' | 'alone', times: number): Promise<number[]> {
    return ((await this.#ask({ do: what, times })) as { all: number[] }).all;
  }

  #ask(command: object): Promise<object> {
    this.#child.stdin.write(`${JSON.stringify(command)}\n`);
    return this.#answer();
  }

  async #answer(): Promise<object> {
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      this.#child.kill('SIGKILL');
    }, PATIENCE_MS);
    const { value, done } = await this.#answers.next();
    clearTimeout(timer);
    const silent = late ? `no answer for ${PATIENCE_MS / 1000} s` : 'it ended';
    const answer = done ? { error: silent } : (JSON.parse(value) as { error?: string });
    if ('error' in answer) throw new Error(`${this.#name}: ${answer.error}\n${this.#told}`);
    return answer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { exitCode, signalCode } = this.#child;
    const ended = exitCode === null && signalCode === null ? once(this.#child, 'exit') : undefined;
    this.#child.stdin.end();
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), 10_000);
    await ended;
    clearTimeout(timer);
    await this.#drop();
  }
}

async function onServer(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(text);
  await client.end();
}
