// What a run says in the end: the ratios, and everything as tables or as one JSON object.
import type { BalanceFigures } from './balances.ts';
import type { Figures } from './figures.ts';
import { EMPTY, FULL, type FullFigures } from './full.ts';
import type { HttpFigures } from './http.ts';
import type { JoinedFigures } from './joined.ts';
import { BARE, type Latencies, type Latency, OURS } from './latency.ts';
import type { Peers } from './peers.ts';
import type { ProbeFigures } from './probes.ts';
import { AWAITED, BY_BATCHES, designRow, peerRow } from './rounds.ts';
import type { UpstreamFigures } from './upstreams.ts';

export interface Run {
  jobs: number;
  rounds: number;
  figures: Figures;
  peers: Peers;
  latencies: Latencies;
  balance: BalanceFigures;
  /** Bytes per row on disk, by table. */
  sizes: Record<string, number>;
  http: HttpFigures;
  upstreams: UpstreamFigures;
  probes: ProbeFigures;
  joined: JoinedFigures;
  full: FullFigures | undefined;
}

/** The fastest peer's row, of those that run on PostgreSQL and keep no money: all of them do. */
function bestQueue({ figures, peers }: Run, modes: readonly ('calls' | 'batch')[]): string | undefined {
  const rows = peers.peers.flatMap((peer) => modes.map((mode) => peerRow(peer, mode)));
  return rows.filter((row) => figures.rate(row) > 0).sort((a, b) => figures.rate(b) - figures.rate(a))[0];
}

const p50 = (all: readonly Latency[], name: string) => all.find((row) => row.name === name)?.p50_ms ?? Number.NaN;

/** Those that can be made of what was measured. Rates: ours over the other's. Times: ours over the other's too. */
export function ratios(run: Run): Record<string, number> {
  const { figures, latencies, http, upstreams } = run;
  const money = figures.rate('money life');
  const best = figures.rate(bestQueue(run, ['calls', 'batch']) ?? '');
  const bestByCalls = figures.rate(bestQueue(run, ['calls']) ?? '');
  const bestPickup = Math.min(
    ...run.peers.peers.map(({ name }) => p50(latencies.pickup, name)).filter(Number.isFinite),
  );
  const all = {
    money_life_vs_best_pg_queue: money / best,
    money_life_by_batches_vs_best_pg_queue: figures.rate(BY_BATCHES) / best,
    money_life_vs_best_pg_queue_by_calls: money / bestByCalls,
    refund_recover_vs_best_pg_queue: figures.rate('refund and recover') / best,
    money_life_vs_floor: money / figures.rate('floor, same tables'),
    money_life_vs_naked_floor: money / figures.rate('floor, naked tables'),
    without_money_vs_with: figures.rate('life without money') / money,
    one_wallet_vs_many: figures.rate('money life, one wallet') / money,
    refund_recover_vs_money_life: figures.rate('refund and recover') / money,
    batched_vs_single: figures.rate(AWAITED) / figures.rate(designRow('guarded update')),
    one_caller_vs_bare: p50(latencies.alone, OURS) / p50(latencies.alone, BARE),
    pickup_p50_vs_best: p50(latencies.pickup, OURS) / bestPickup,
    pickup_other_handle_p50_vs_best: p50(latencies.pickup, `${OURS}, another handle`) / bestPickup,
    full_vs_empty: figures.rate(FULL) / figures.rate(EMPTY),
    balance_1m_vs_10: run.balance.ratio,
    http_vs_bare: http.per_second / http.bare_per_second,
    joined_lease_vs_plain: run.joined.lease_joined / run.joined.lease_plain,
    select_100k_vs_10: upstreams.select_many / upstreams.select_few,
    // Not a ratio: ms, beside the others so that one place has all that is watched.
    due_to_usable_p99_ms: run.probes.due_to_usable_p99_ms,
    sweep_1m_vs_1k: upstreams.sweep_most_ms / upstreams.sweep_few_ms,
  };
  return Object.fromEntries(Object.entries(all).filter(([, ratio]) => Number.isFinite(ratio) && ratio > 0));
}

export function asJson(run: Run): string {
  return JSON.stringify({
    jobs: run.jobs,
    rounds: run.rounds,
    figures: run.figures.rows(),
    latencies: run.latencies,
    peers: run.peers.versions,
    left_out: run.peers.leftOut,
    best_pg_queue: bestQueue(run, ['calls', 'batch']) ?? null,
    verify_ms: run.balance.verifyMs,
    verify_entries: run.balance.entries,
    bytes_per_row: run.sizes,
    http: run.http,
    upstreams: run.upstreams,
    joined: run.joined,
    probes: run.probes,
    full: run.full ?? null,
    ratios: ratios(run),
  });
}

const byName = <T extends { name: string }>(rows: readonly T[]) =>
  Object.fromEntries(rows.map(({ name, ...rest }) => [name, rest]));
const inTable = ({ name, ...rest }: Latency) => ({
  name,
  p50_ms: Number(rest.p50_ms.toFixed(2)),
  p99_ms: Number(rest.p99_ms.toFixed(2)),
  times: rest.times,
});

export function printTables(run: Run): void {
  console.table(byName(run.figures.rows()));
  console.log('from submit to the handler’s start, on an idle worker:');
  console.table(byName(run.latencies.pickup.map(inTable)));
  console.log('one caller alone, one call after the other:');
  console.table(byName(run.latencies.alone.map(inTable)));
  console.log('peers:', run.peers.versions);
  for (const [name, reason] of Object.entries(run.peers.leftOut)) console.log(`left out: ${name}: ${reason}`);
  console.log('fastest queue on PostgreSQL:', bestQueue(run, ['calls', 'batch']) ?? 'none ran');
  console.log('bytes per row on disk, indexes included:', run.sizes);
  console.log('through HTTP:', run.http);
  console.log('upstreams:', run.upstreams);
  console.log('joined:', run.joined);
  console.log('probes:', run.probes);
  if (run.full) console.log('full database:', run.full);
  console.table(
    Object.fromEntries(Object.entries(ratios(run)).map(([name, ratio]) => [name, { ratio: Number(ratio.toFixed(2)) }])),
  );
}
