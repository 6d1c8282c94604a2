// A process of its own: the provider that misbehaves, and the only one who knows what was really done.
import { type FlakyUpstream, flakyUpstream } from 'recoup/testing';
import { serveParent } from './child.ts';

export interface UpstreamTask {
  seed: number;
  slowMs: readonly [number, number];
}

/** What the upstream knows in the end. */
export interface UpstreamRecord {
  done: [job: string, times: number][];
  counts: FlakyUpstream['counts'];
}

serveParent(async ({ seed, slowMs }: UpstreamTask) => {
  const upstream = await flakyUpstream({ seed, slowMs });
  return {
    url: () => upstream.url,
    idle: async () => {
      await upstream.idle();
      return true;
    },
    record: (): UpstreamRecord => ({
      done: [...upstream.runs].map(([job, run]) => [job, run.done]),
      counts: upstream.counts,
    }),
  };
});
