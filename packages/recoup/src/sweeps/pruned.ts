// Sweep: jobs that ended long ago, where a retention is set. A bounded number each pass.
import type { Runner } from '../db/runner.ts';
import { pruneJobs } from '../jobs/prune.ts';

const COUNT = 1000;
const STEPS = 20;

export async function sweepPruned(runner: Runner, pruneAfterMs: number | null, signal: AbortSignal): Promise<number> {
  if (pruneAfterMs === null) return 0;
  let pruned = 0;
  for (let step = 0; step < STEPS && !signal.aborted; step++) {
    const [answer] = await runner.read(pruneJobs, [{ older_than_ms: pruneAfterMs, count: COUNT }]);
    pruned += answer?.pruned ?? 0;
    if ((answer?.pruned ?? 0) < COUNT) break;
  }
  return pruned;
}
