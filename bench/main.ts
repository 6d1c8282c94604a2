// npm run bench: what a job's life costs, beside floors and other queues, in one run on one server with full durability. Prints tables or --json.
import { parseArgs } from 'node:util';
import pg from 'pg';
import { balances } from './balances.ts';
import { Figures } from './figures.ts';
import { full } from './full.ts';
import { http } from './http.ts';
import { joined } from './joined.ts';
import { latencies } from './latency.ts';
import { findPeers } from './peers.ts';
import { probes } from './probes.ts';
import { asJson, printTables } from './report.ts';
import { round, tuneConnections } from './rounds.ts';
import { startServer } from './server.ts';
import { upstreams } from './upstreams.ts';

const { values: options } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    full: { type: 'boolean', default: false },
    only: { type: 'string' },
    rounds: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
const { quick } = options;
const ROUNDS = Number(options.rounds ?? (quick ? 1 : 10));
/** What can be asked for by itself. */
const PARTS = { http, upstreams, joined, probes };
if (options.help || !Number.isInteger(ROUNDS) || ROUNDS < 1 || (options.only && !Object.hasOwn(PARTS, options.only))) {
  console.log(`npm run bench -- [--quick] [--rounds N] [--full] [--only PART] [--json]
  --quick   few jobs, one round; installs no peers, uses those that are there
  --rounds  how often everything is timed, ${quick ? 1 : 10} unless set
  --full    also on a database with a million waiting jobs, a million finished ones and ten million entries (takes minutes)
  --only    one of ${Object.keys(PARTS).join(', ')}
  --json    one object instead of tables`);
  process.exit(options.help ? 0 : 2);
}
const JOBS = quick ? 2_000 : 20_000;
const say = (line: string) => console.error(line);

const server = await startServer();
const client = new pg.Client({ connectionString: server.url });
try {
  if (options.only) {
    const found = await PARTS[options.only as keyof typeof PARTS](server, quick, say);
    console.log(options.json ? JSON.stringify(found) : found);
  } else await everything();
} finally {
  await client.end();
  await server.stop();
}

async function everything(): Promise<void> {
  const peers = await findPeers(!quick, say);
  await client.connect();
  say(`PostgreSQL ${server.version}, default settings, fsync on; ${JOBS} jobs, ${ROUNDS} round(s)`);
  const figures = new Figures({ pid: server.pid, client }, say);
  // What the full run finds on most machines; finding it takes a fifth of a quick one.
  const connections = quick ? 32 : await tuneConnections(server.url, 3000, say);
  const bench = { serverUrl: server.url, figures, jobs: JOBS, peers, connections, say };
  let sizes: Record<string, number> = {};
  for (let index = 0; index < ROUNDS; index++) sizes = await round(bench, index);
  say('latencies');
  const run = {
    jobs: JOBS,
    rounds: ROUNDS,
    figures,
    peers,
    sizes,
    latencies: await latencies(server.url, peers, quick ? 30 : 200, say),
    balance: await balances(server.url, quick ? 50_000 : 1_000_000, say),
    http: await http(server, quick, say),
    upstreams: await upstreams(server, quick, say),
    joined: await joined(server, quick, say),
    probes: await probes(server, quick, say),
    full: options.full
      ? await full(server.url, figures, { jobs: JOBS, rounds: Math.min(ROUNDS, 5), size: quick ? 1 : 10 }, say)
      : undefined,
  };
  if (options.json) console.log(asJson(run));
  else printTables(run);
}
