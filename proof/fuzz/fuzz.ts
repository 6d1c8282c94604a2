// A run of the fuzzer: every lane from one seed, and what must hold when all of them are over.
import { byteLane, stalled } from './bytes.ts';
import { commandLanes } from './command-line.ts';
import type { Finding, Ran } from './hold.ts';
import { requestLane } from './requests.ts';
import { type Stand, startStand } from './stand.ts';
import { webhookLane } from './webhooks.ts';

export interface Options {
  /** A server of PostgreSQL, for databases of its own. */
  postgres: string;
  seed: number;
  seconds: number;
  /** Of a finding: this lane alone, and in it this case alone. */
  lane?: string | undefined;
  path?: string | undefined;
  onRan?: (ran: Ran) => void;
}

export interface Report {
  seed: number;
  lanes: { lane: string; cases: number }[];
  findings: Finding[];
  /** What did not hold at the end. */
  afterwards: string[];
  rssMb: number;
}

/** A part of the time for each lane: requests have the most to try. */
const SHARES: Record<string, number> = { requests: 4, bytes: 2, webhooks: 2, commands: 1.5, settings: 0.5, imports: 1 };
/** Documented: 10 s for headers, 30 s for a request, looked at every 5 s. */
const STALL_LIMIT_MS = 40_000;
const MAX_RSS_MB = 700;
const MAX_FILES = 200;

export async function fuzz(options: Options): Promise<Report> {
  const { seed, seconds, path } = options;
  const stand = await startStand(options.postgres);
  try {
    const all = [await requestLane(stand), byteLane(stand), webhookLane(stand), ...commandLanes(stand)];
    const lanes = all.filter(({ name }) => options.lane === undefined || name === options.lane);
    const shares = lanes.reduce((sum, { name }) => sum + SHARES[name]!, 0);
    // Beside the lanes: nothing else has that much time.
    const stalling = seconds * 1000 > STALL_LIMIT_MS ? stalled(stand, STALL_LIMIT_MS) : Promise.resolve([]);
    const report: Report = { seed, lanes: [], findings: [], afterwards: [], rssMb: 0 };
    for (const lane of lanes) {
      const ran = await lane.run({ seed, path, ms: (seconds * 1000 * SHARES[lane.name]!) / shares });
      options.onRan?.(ran);
      report.lanes.push({ lane: ran.lane, cases: ran.cases });
      if (ran.finding) report.findings.push(ran.finding);
    }
    report.afterwards.push(...(await stalling), ...(await afterwards(stand)));
    report.rssMb = Math.round((await stand.gauge('process_resident_memory_bytes').catch(() => Number.NaN)) / 1e6);
    return report;
  } finally {
    await stand[Symbol.asyncDispose]();
  }
}

/** The server lives, has given back what it took, kept its log in order, and the books are right. */
async function afterwards(stand: Stand): Promise<string[]> {
  const wrong: string[] = [];
  const alive = await fetch(`${stand.url}/readyz`).then(
    ({ status }) => status,
    () => 0,
  );
  if (alive !== 200) return [`the server is not ready any more (${alive}): ${stand.server.told().slice(-500)}`];
  const rss = (await stand.gauge('process_resident_memory_bytes')) / 1e6;
  if (!(rss < MAX_RSS_MB)) wrong.push(`the server holds ${Math.round(rss)} MB`);
  const files = await stand.gauge('process_open_fds');
  if (files > MAX_FILES) wrong.push(`the server holds ${files} files and connections open`);
  const waiting = await stand.gauge('recoup_http_waiting');
  if (waiting > 5) wrong.push(`${waiting} requests still wait`);
  wrong.push(...logsOf(stand));
  await stand.recoup.sweep();
  const { problems } = await stand.recoup.verify({ limit: 3 });
  wrong.push(...problems.map((problem) => `verify: ${JSON.stringify(problem)}`));
  return wrong;
}

function logsOf({ server, keys, tokens }: Stand): string[] {
  const lines = server.logs().split('\n').filter(Boolean);
  const isJson = (line: string) => {
    try {
      return typeof JSON.parse(line) === 'object';
    } catch {
      return false;
    }
  };
  const broken = lines.filter((line) => !isJson(line));
  const secrets = [...Object.values(keys), ...tokens.map((path) => path.split('/').at(-1)!)];
  const leaks = lines.filter((line) => secrets.some((secret) => line.includes(secret)));
  const internal = lines.filter((line) => line.includes('"code":"internal"'));
  return [
    ...broken.slice(0, 3).map((line) => `a line of the log is no JSON: ${line.slice(0, 300)}`),
    ...leaks.slice(0, 3).map((line) => `the log holds a secret: ${line.slice(0, 100)}…`),
    ...internal.slice(0, 3).map((line) => `the log tells of an internal error: ${line.slice(0, 500)}`),
  ];
}
