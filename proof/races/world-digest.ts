// One text for all that model and database both know of one wallet: equal texts are equal worlds.
import { keyOf, queueOf, type World } from '../../packages/recoup/model/world.ts';
import { ended, seen } from '../../packages/recoup/test/support/snapshot.ts';

export interface Known {
  wallets: Record<string, unknown>;
  entries: string[];
  jobs: Record<string, Record<string, unknown>>;
  attempts: string[];
}

/** Keys in order: JSON of SQL and of the model name the same things in different ones. */
export function textOf({ wallets, entries, jobs, attempts }: Known, paused: boolean): string {
  const sorted = Object.entries(jobs).map(([key, job]) => [
    key,
    Object.entries(job).sort(([a], [b]) => (a < b ? -1 : 1)),
  ]);
  // Entries in the order of their numbers.
  const numbered = entries.map((words) => ({ words, seq: Number(words.split(' ')[5]) })).sort((a, b) => a.seq - b.seq);
  return JSON.stringify([wallets, numbered.map(({ words }) => words), sorted, [...attempts].sort(), paused]);
}

/** The model's world in that text. */
export function digest(world: World): string {
  const { wallets, entries, jobs, attempts } = world;
  const known: Known = {
    wallets: Object.fromEntries(
      Object.entries(wallets).map(([id, w]) => [id, [w.status, w.balance, w.overdraftLimit, w.lastSeq]]),
    ),
    entries: entries.map((e) => `${e.wallet} ${e.type} ${e.amount} ${e.job} ${e.key} ${e.seq} ${e.balance}`),
    jobs: Object.fromEntries(Object.values(jobs).map((job) => [keyOf({ wallet: job.wallet, job: job.id }), seen(job)])),
    attempts: attempts.map(ended),
  };
  const queue = Object.keys(world.queues).find((name) => name !== '*') ?? '*';
  return textOf(known, queueOf(world, queue).paused);
}
