// The demo from start to end: a database of its own, the story, the replay with both designs, verify.
import { Children } from './children.ts';
import { untilLost } from './connections.ts';
import { openDatabase } from './database.ts';
import { rules } from './design.ts';
import { judge } from './judge.ts';
import { openNaive } from './naive.ts';
import { bundledTrace, type Options } from './options.ts';
import { type ReplayContext, replay } from './replay.ts';
import { type Result, showAccounts, showComparison, showReconciling, showReplayed, showVerified } from './report.ts';
import { many, type Screen } from './screen.ts';
import { tellStory } from './story.ts';
import { Tally } from './tally.ts';
import { type DemoJob, grantsOf } from './trace.ts';
import { openRecoup } from './with-recoup.ts';

/**
 * Runs it all, and then `conclude` on the database that it filled. However it ends, also when `signal` fires, its processes
 * and its database are gone when this settles. What an interrupted part of it still says is not heard; `conclude` ends by
 * itself.
 */
export async function runDemo(
  jobs: readonly DemoJob[],
  options: Options,
  screen: Screen,
  signal: AbortSignal,
  databaseUrl: string | undefined,
  conclude: (result: Result, url: string) => Promise<void>,
): Promise<void> {
  const { bold, dim } = screen.colors;
  screen.line(`${bold('Recoup')}  ${dim(`the demo, with seed ${options.seed}`)}`);
  const server = await openDatabase(databaseUrl, (line) => screen.passing(line));
  const children = new Children();
  try {
    signal.throwIfAborted();
    screen.line(dim(`        ${server.what}`));
    const context = { database: server.url, children, options, screen, tally: new Tally(), signal };
    const interrupted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
    const lost = untilLost(server.url);
    const result = await Promise.race([interrupted, children.crash, lost, play(jobs, context)]);
    await Promise.race([lost, conclude(result, server.url)]);
  } finally {
    await children.killAll();
    await server.stop();
  }
}

async function play(jobs: readonly DemoJob[], context: ReplayContext): Promise<Result> {
  const { screen, options, database, signal, tally } = context;
  const { dim } = screen.colors;
  screen.heading(1, 'The story of 40 credits: refunded, and then the work comes back finished');
  await tellStory(database, screen, signal);

  const grants = grantsOf(jobs);
  const source = options.trace === bundledTrace ? 'real request' : 'request';
  screen.heading(2, `${many(jobs.length, source)}, ${options.speed} times as fast as they came`);
  const cast = `${many(grants.size, 'wallet')}, ${rules.workers} worker processes`;
  screen.line(dim(`   ${cast}, and for both designs the same upstream: it is`));
  screen.line(
    dim('   slow, fails, hangs up, and loses, doubles and mixes up its callbacks. Its five accounts get limited,'),
  );
  screen.line(dim('   used up, revoked and overloaded meanwhile, and come back.'));
  screen.line();
  await using design = await openRecoup(database, grants, tally);
  const recoup = await replay(design, jobs, context);
  const duplicatesIgnored = tally.ignored;
  showReplayed(screen, 'Recoup', recoup, duplicatesIgnored);
  const naive = await replayNaive(jobs, grants, { ...context, tally: new Tally() });
  showReplayed(screen, 'naive', naive, undefined);
  showReconciling(screen, [recoup, naive]);
  showAccounts(screen, recoup.accounts);

  screen.heading(3, 'Both against what the upstream really did');
  const judged = {
    recoup: judge(jobs, grants, recoup.books, recoup.truth),
    naive: judge(jobs, grants, naive.books, naive.truth),
  };
  const verified = await design.recoup.verify();
  const result = {
    jobs: jobs.length,
    wallets: grants.size,
    recoup,
    naive,
    judged,
    verified,
    duplicatesIgnored,
  };
  showComparison(screen, result);
  screen.line();
  showVerified(screen, verified);
  return result;
}

async function replayNaive(jobs: readonly DemoJob[], grants: Map<string, number>, context: ReplayContext) {
  await using design = await openNaive(context.database, grants);
  return await replay(design, jobs, context);
}
