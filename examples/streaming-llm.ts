// A streaming LLM call whose price is known at the end: charged with the maximum, settled with what came.
import type { Recoup } from 'recoup';
import { openShop, run } from './support.ts';

/** What a model streams: text, and at the end what it counted. */
type Chunk = { text: string } | { usage: { tokens: number } };

interface Call {
  wallet: string;
  job: string;
  maxTokens: number;
  signal: AbortSignal;
}

const PRICE_PER_TOKEN = 2;

// docs: streaming
/** Charges for `maxTokens`, writes what comes, and settles. Returns what the customer pays in the end. */
async function stream(recoup: Recoup, call: Call, model: () => AsyncIterable<Chunk>, write: (text: string) => void) {
  const { maxTokens, signal, ...key } = call;
  // Dies this process in the middle, the deadline gives everything back.
  await recoup.jobs.submit({ ...key, queue: null, price: maxTokens * PRICE_PER_TOKEN, deadlineMs: 600_000 });
  let delivered = 0;
  let usage: { tokens: number } | undefined;
  try {
    for await (const chunk of model()) {
      signal.throwIfAborted();
      if ('usage' in chunk) usage = chunk.usage;
      else {
        write(chunk.text);
        // Until the model has counted, a chunk is taken for a token.
        delivered += 1;
      }
    }
  } catch (error) {
    if (signal.aborted) {
      // The customer went away: he pays for what he was given. A repeat of the cancel changes nothing.
      const { kept } = await recoup.jobs.cancel({ ...key, keep: delivered * PRICE_PER_TOKEN, reason: 'aborted' });
      return kept;
    }
    // Broken off before the model had said its last: nothing is charged for half an answer.
    if (!usage) {
      await recoup.jobs.fail({ ...key, reason: String(error) });
      throw error;
    }
    // Broken off behind the last chunk: the answer was complete, and goes on as if nothing had happened.
  }
  const finalPrice = (usage?.tokens ?? delivered) * PRICE_PER_TOKEN;
  return (await recoup.jobs.succeed({ ...key, finalPrice })).finalPrice;
}
// end

async function* chunks(count: number, end: 'usage' | 'break' | 'usage, then break'): AsyncGenerator<Chunk> {
  for (let i = 0; i < count; i++) yield { text: `${i} ` };
  if (end !== 'break') yield { usage: { tokens: count } };
  if (end !== 'usage') throw new Error('socket hang up');
}

export async function main(url: string) {
  const shop = await openShop(url);
  const { recoup, customer } = shop;
  const never = new AbortController().signal;
  const call = (signal = never) => ({ wallet: customer, job: shop.order(0).id, maxTokens: 20, signal });
  const paid = async (job: string) => {
    const entries = await recoup.wallets.entriesOf(customer, job);
    return entries.reduce((sum, { amount }) => sum - amount, 0);
  };
  const seen: Record<string, { said: unknown; paid: number }> = {};
  try {
    for (const end of ['usage', 'break', 'usage, then break'] as const) {
      const one = call();
      const said = await stream(
        recoup,
        one,
        () => chunks(7, end),
        () => {},
      ).catch((error: Error) => error.message);
      seen[end] = { said, paid: await paid(one.job) };
    }
    const leaving = new AbortController();
    const one = call(leaving.signal);
    let written = 0;
    const said = await stream(
      recoup,
      one,
      () => chunks(7, 'usage'),
      () => {
        written += 1;
        if (written === 3) leaving.abort();
      },
    );
    seen.aborted = { said, paid: await paid(one.job) };
    return { seen, booked: (await recoup.wallets.balance(customer)).booked };
  } finally {
    await shop.close();
  }
}

await run(import.meta, main);
