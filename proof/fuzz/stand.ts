// The stand: a database with something of everything in it, and the service on it as a process of its own.
import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open, type Recoup } from 'recoup';
import { type TestDatabase, testDatabase } from 'recoup/testing';
import { Keys } from '../../packages/server/src/keys/keys.ts';
import { SCOPES } from '../../packages/server/src/operations/operation.ts';
import { Callbacks } from '../../packages/server/src/webhooks/callbacks.ts';
import { type ServerProcess, startServer } from '../../packages/server/test/support/server-process.ts';
import type { Schema } from './values.ts';

const PROGRAM = join(import.meta.dirname, '../../packages/server/bin/recoup.mjs');
/** What the process may use: growth without bound would end it. */
const HEAP_MB = 256;

export interface Document {
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, Schema> };
}
export interface Described {
  operationId: string;
  parameters: { name: string; in: 'path' | 'query'; required: boolean; schema: Schema }[];
  requestBody?: { content: { 'application/json': { schema: Schema } } };
  responses: Record<string, { description: string }>;
}

export interface Stand extends AsyncDisposable {
  readonly url: string;
  /** For files that commands are given. */
  readonly folder: string;
  readonly databaseUrl: string;
  readonly recoup: Recoup;
  readonly server: ServerProcess;
  readonly document: Document;
  /** Statuses by code. */
  readonly statuses: ReadonlyMap<string, number>;
  /** Secrets of keys, by scope; `ann` is bound to a customer. */
  readonly keys: Readonly<Record<string, string>>;
  readonly fal: KeyObject;
  readonly standardSecret: string;
  /** Signed URLs of ours, as paths. */
  readonly tokens: readonly string[];
  /** What is there, as one text: the same before and after a request that changed nothing. */
  digest(): Promise<string>;
  /** Of /metrics. */
  gauge(name: string): Promise<number>;
}

export const WALLETS = ['w1', 'w2', 'closed', 'a/b', 'absent'];
export const JOBS = ['queued', 'running', 'waiting', 'dead', 'done', 'external', 'new-1', 'new-2', 'absent'];

/** A wallet with a job in every state. */
async function fill(recoup: Recoup): Promise<void> {
  for (const wallet of WALLETS.slice(0, 4)) {
    await recoup.wallets.open({ wallet, customer: wallet === 'w1' ? 'ann' : 'bob', overdraftLimit: 10 });
    await recoup.wallets.grant({ wallet, key: 'start', amount: 1_000_000 });
  }
  await recoup.wallets.change('closed', { status: 'closed' });
  for (const wallet of ['w1', 'w2', 'a/b']) {
    const submit = (job: string, queue: string | null, price = 10) =>
      recoup.jobs.submit({ wallet, job, queue, price, payload: { n: 1 } });
    for (const job of ['running', 'waiting', 'dead', 'done']) {
      await submit(job, `prepare-${job}`);
      await recoup.jobs.lease({ queue: `prepare-${job}` });
    }
    const attempt = 1;
    await recoup.jobs.handOver({ wallet, job: 'waiting', attempt, upstreamRef: `ref-${wallet}` });
    await recoup.jobs.fail({ wallet, job: 'dead', attempt, verdict: 'definitive', retryable: false, reason: 'no' });
    await recoup.jobs.succeed({ wallet, job: 'done', attempt, result: { n: 2 } });
    await submit('queued', 'q1');
    await submit('external', null);
  }
}

export const UPSTREAMS = ['u1', 'u2', 'u/3', 'gone', 'absent'];

/** A pool with an upstream that works, one that is blocked each way, one that is retired. */
async function fillPools(recoup: Recoup): Promise<void> {
  for (const upstream of UPSTREAMS.slice(0, 4))
    await recoup.upstreams.register({ upstream, pool: 'p1', provider: 'acme', quotaGroup: 'g1' });
  await recoup.upstreams.change('gone', { status: 'retired' });
  await recoup.upstreams.block('u2', { reason: 'by hand' });
  const limited = { kind: 'rate_limited', policy: 'auto', scope: 'model:m1' } as const;
  await recoup.upstreams.report({ upstream: 'u/3', success: false, block: limited });
  await recoup.upstreams.select({ pool: 'p1', lease: 'l1' });
}

async function schemaTables(recoup: Recoup): Promise<string[]> {
  return recoup.transaction(async (_, client) => {
    const sql = `select relname from pg_class where relnamespace = 'recoup'::regnamespace and relkind = 'r'`;
    const { rows } = await client.query<{ relname: string }>(sql);
    return rows.map(({ relname }) => relname);
  });
}

async function makeKeys(recoup: Recoup): Promise<Record<string, string>> {
  const keys = new Keys(recoup);
  const made: Record<string, string> = {};
  for (const scope of SCOPES) made[scope] = (await keys.create({ name: scope, scopes: [scope] })).secret;
  made.ann = (await keys.create({ name: 'ann', scopes: ['viewer'], customer: 'ann' })).secret;
  return made;
}

async function signed(callbacks: Callbacks): Promise<string[]> {
  const targets = [
    { wallet: 'w1', job: 'running', attempt: 1 },
    { wallet: 'w2', job: 'waiting' },
    { wallet: 'w1', job: 'dead' },
    { wallet: 'w1', job: 'absent' },
  ];
  const made = ['runpod', 'generic', 'fal', 'replicate'].flatMap((provider) =>
    targets.map((target) => callbacks.sign(provider as 'fal', target, 86_400_000)),
  );
  return (await Promise.all(made)).map(({ path }) => path);
}

/** Starts it on a server of PostgreSQL; `more`: arguments for `recoup start`. */
export async function startStand(postgres: string, more: readonly string[] = []): Promise<Stand> {
  const database: TestDatabase = await testDatabase(postgres);
  const recoup = await open({ connection: database.url, sweep: false, onError: () => {} });
  await fill(recoup);
  await fillPools(recoup);
  const keys = await makeKeys(recoup);
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const standardSecret = `whsec_${randomBytes(24).toString('base64')}`;
  const tokens = await signed(new Callbacks(recoup));
  const server = await startServer(database.url, {
    program: PROGRAM,
    node: [`--max-old-space-size=${HEAP_MB}`],
    // Sweeps change things of their own accord: they run at the end, when nobody compares.
    argv: ['--sweep', 'false', '--require-keys', ...more],
    env: {
      RECOUP_WEBHOOK_GENERIC: standardSecret,
      RECOUP_WEBHOOK_REPLICATE: standardSecret,
      RECOUP_WEBHOOK_FAL: String(publicKey.export({ format: 'jwk' }).x),
    },
  });
  const document = (await (await fetch(`${server.url}/openapi.json`)).json()) as Document;
  const tables = await schemaTables(recoup);
  // Every change writes a row anew, with its transaction's id; that a key was used is no change of the request's.
  const sums = tables.map((name) =>
    name === 'api_keys'
      ? `select count(*) || '.' || count(revoked_at) from recoup.api_keys`
      : `select count(*) || '.' || coalesce(sum(xmin::text::bigint), 0) from recoup.${name}`,
  );
  const sql = sums.map((sum, index) => `(${sum}) as t${index}`).join(', ');
  const metrics = async () => {
    const response = await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${keys.admin}` } });
    return response.text();
  };
  const folder = await mkdtemp(join(tmpdir(), 'recoup-fuzz-'));
  return {
    url: server.url,
    folder,
    databaseUrl: database.url,
    recoup,
    server,
    document,
    statuses: await statusesOf(server.url, document),
    keys,
    fal: privateKey,
    standardSecret,
    tokens,
    digest: async () => Object.values((await database.query(`select ${sql}`))[0]!).join(' '),
    gauge: async (name) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(await metrics())?.[1]),
    [Symbol.asyncDispose]: async () => {
      server.signal('SIGKILL');
      await server.ended;
      await recoup.close();
      await database.drop();
      await rm(folder, { recursive: true });
    },
  };
}

/** From the server itself: what each code means. */
async function statusesOf(url: string, document: Document): Promise<ReadonlyMap<string, number>> {
  const codes = document.components.schemas.Problem!.properties!.code!.enum as string[];
  const ask = async (code: string) =>
    ((await (await fetch(`${url}/errors/${code}`)).json()) as { status: number }).status;
  return new Map(await Promise.all(codes.map(async (code) => [code, await ask(code)] as const)));
}
