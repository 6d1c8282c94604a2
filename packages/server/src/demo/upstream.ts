// A process of its own: the provider that misbehaves, and the only one who knows what was really done.
import { type FlakyUpstream, flakyUpstream } from 'recoup/testing';
import { troubles } from './accounts.ts';
import { serveParent } from './child.ts';

export interface UpstreamTask {
  seed: number;
  slowMs: readonly [number, number];
  /** How long the requests take to arrive. */
  durationMs: number;
}

/** What the upstream knows in the end. */
export interface UpstreamRecord {
  done: [job: string, times: number][];
  counts: FlakyUpstream['counts'];
  /** What each key was asked, and refused. */
  accounts: [key: string, seen: { requests: number; refused: number }][];
}

serveParent(async ({ seed, slowMs, durationMs }: UpstreamTask) => {
  const upstream = await flakyUpstream({ seed, slowMs, refuse: troubles(durationMs) });
  return {
    url: () => upstream.url,
    idle: async () => {
      await upstream.idle();
      return true;
    },
    record: (): UpstreamRecord => ({
      done: [...upstream.runs].map(([job, run]) => [job, run.done]),
      counts: upstream.counts,
      accounts: [...upstream.accounts],
    }),
  };
});
