// Dead letters by what they died of: many with one cause are one thing to do.
import type { Job } from '../../types.ts';

export interface Group {
  queue: string | null;
  reason: string | null;
  count: number;
  /** Refunded, so that a success would take it again. */
  atStake: number;
  newestAt: string;
  sample: Job;
}

/** The largest first. */
export function groupsOf(jobs: readonly Job[]): Group[] {
  const groups = new Map<string, Group>();
  for (const job of jobs) {
    const name = JSON.stringify([job.queue, job.reason]);
    const deadAt = job.deadAt ?? job.submittedAt;
    const stake = job.refundedAt === null ? 0 : job.price;
    const group = groups.get(name);
    if (!group)
      groups.set(name, {
        queue: job.queue,
        reason: job.reason,
        count: 1,
        atStake: stake,
        newestAt: deadAt,
        sample: job,
      });
    else {
      group.count += 1;
      group.atStake += stake;
      if (deadAt >= group.newestAt) Object.assign(group, { newestAt: deadAt, sample: job });
    }
  }
  return [...groups.values()].sort((a, b) => b.count - a.count);
}
