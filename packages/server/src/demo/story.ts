// The story of the 40 credits, live: charged, refunded at the time-out, reclaimed when the late result lands.
import { setTimeout as sleep } from 'node:timers/promises';
import { open, type Recoup, type Work } from 'recoup';
import { flakyUpstream, type Plan } from 'recoup/testing';
import { callUpstream } from './call-upstream.ts';
import { receiveCallbacks } from './callbacks.ts';
import { type Screen, signed } from './screen.ts';

const WALLET = 'wallet-1';
const JOB = 'video-1';
const PRICE = 40;
const TIMEOUT_MS = 1500;
const LATE_MS = 3000;
const GIVE_UP_MS = 30_000;

/** One late answer and its callback twice: nothing more is needed to get it wrong. */
const plan: Plan = {
  kind: 'slow',
  answer: 'result',
  answerMs: LATE_MS,
  doneMs: LATE_MS,
  callbacks: [
    { status: 'succeeded', ms: LATE_MS },
    { status: 'succeeded', ms: LATE_MS + 500 },
  ],
};

const says: Record<string, string> = {
  grant: 'what the customer has',
  charge: `${JOB} is sent to the upstream`,
  refund: `no answer for ${TIMEOUT_MS / 1000} s: given back`,
  reclaim: 'the result lands late: taken again',
  duplicate: 'its callback once more: ignored',
};

/** Tells it on a schema of its own; throws where it does not end as it must. */
export async function tellStory(database: string, screen: Screen, signal: AbortSignal): Promise<void> {
  await using recoup = await open({ connection: database, schema: 'story', migrate: true, pollMs: 200 });
  // One run is enough for the story: the retry would come much later.
  await recoup.queues.configure('videos', { backoffBaseMs: 60_000, backoffMaxMs: 60_000 });
  await recoup.wallets.open({ wallet: WALLET, customer: 'customer-1' });
  await recoup.wallets.grant({ wallet: WALLET, key: 'purchase-1', amount: 100 });
  await using upstream = await flakyUpstream({ plan: () => plan });
  const heard: string[] = [];
  let failed: Error | undefined;
  await using callbacks = await receiveCallbacks(
    async ({ wallet, job, attempt }) => {
      heard.push((await recoup.jobs.succeed({ wallet, job, attempt })).outcome);
    },
    (error) => {
      failed = error;
    },
  );
  const handler = ({ wallet, id, attempt, signal }: Work) => {
    const callback = `${callbacks.url}/${wallet}/${id}/${attempt}`;
    return callUpstream({ url: upstream.url, job: id, attempt, ms: 0, callback, signal });
  };
  recoup.work('videos', handler, { timeoutMs: TIMEOUT_MS, graceMs: 50 });
  const started = performance.now();
  const told = (type: string, amount: string, balance: number) => {
    const seconds = `${((performance.now() - started) / 1000).toFixed(1)} s`.padStart(6);
    const { dim, bold } = screen.colors;
    const figures = `${amount.padStart(6)}${bold(String(balance).padStart(9))}`;
    screen.line(`   ${dim(seconds)}   ${type.padEnd(9)}${figures}   ${dim(says[type] ?? '')}`);
  };
  screen.line(screen.colors.dim(`${'credits'.padStart(27)}${'balance'.padStart(9)}`));
  await recoup.jobs.submit({ wallet: WALLET, job: JOB, queue: 'videos', price: PRICE });
  const balance = await follow(
    recoup,
    told,
    () => heard.includes('duplicate'),
    signal,
    () => failed,
  );
  if (balance !== 60 || heard.join() !== 'reclaimed,duplicate') {
    throw new Error(`the story ended with ${balance} credits and ${heard.join(', ')}`);
  }
}

/** Shows each entry as it is written, and the duplicate, until that has come; gives the balance. */
async function follow(
  recoup: Recoup,
  told: (type: string, amount: string, balance: number) => void,
  ended: () => boolean,
  signal: AbortSignal,
  failed: () => Error | undefined,
): Promise<number> {
  const giveUp = performance.now() + GIVE_UP_MS;
  let seq = 0;
  let balance = 0;
  for (;;) {
    const over = ended();
    for await (const entry of recoup.wallets.replay(WALLET, { afterSeq: seq })) {
      seq = entry.seq;
      balance = entry.balance;
      told(entry.type, signed(entry.amount), balance);
    }
    const error = failed();
    if (error) throw error;
    if (over) break;
    if (performance.now() > giveUp) throw new Error(`the story did not end within ${GIVE_UP_MS / 1000} s`);
    await sleep(20, undefined, { signal });
  }
  told('duplicate', '–', balance);
  return balance;
}
