// Beside BullMQ, SQS and Temporal (`queue: null`): they deliver, at least once; Recoup sees to it that it is paid for once.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Recoup, Refusal } from 'recoup';
import { type Order, openShop, run } from './support.ts';

interface Key {
  wallet: string;
  job: string;
}
type Render = (key: Key) => Promise<string>;

// docs: charge
/** Before anything is sent. The order's id is the job's: a repeat answers `duplicate` and moves nothing. */
function charge(recoup: Recoup, { customer, id, price }: Order) {
  // Not heard of within a day, it counts as failed and is refunded: the net under a message that got lost.
  return recoup.jobs.submit({ wallet: customer, job: id, queue: null, price, deadlineMs: 86_400_000 });
}
// end

// docs: perform
/** What a delivery does, whichever queue brings it, and however often. Null: there is nothing to be done any more. */
async function perform(recoup: Recoup, key: Key, render: Render): Promise<string | null> {
  const { job, result } = await recoup.jobs.get(key);
  // Its success was reported, the acknowledgment got lost: the provider is not paid twice.
  if (job.state === 'succeeded') return (result as { file: string }).file;
  if (job.state === 'canceled') return null;
  const file = await render(key);
  // `reclaimed` where it had been given up and refunded meanwhile: the work is done, so it is owed.
  await recoup.jobs.succeed({ ...key, result: { file } });
  return file;
}
// end

/** What is used of BullMQ's `Queue` and of the `Job` that its events carry. */
export interface BullQueue {
  add(name: string, data: Key, options: { jobId: string; attempts: number }): Promise<unknown>;
}
export interface BullJob {
  data: Key;
  attemptsMade: number;
  opts: { attempts?: number };
}

// docs: bullmq
/** Charge, then add; after a crash between the two do both again. BullMQ ignores a `jobId` that it still has. */
async function placeWithBullmq(recoup: Recoup, queue: BullQueue, order: Order) {
  await charge(recoup, order);
  await queue.add('render', { wallet: order.customer, job: order.id }, { jobId: order.id, attempts: 3 });
}

/** For `worker.on('failed', …)`: the price goes back when no delivery is left, not at each one that failed. */
async function failedInBullmq(recoup: Recoup, { data, attemptsMade, opts }: BullJob, error: Error) {
  if (attemptsMade >= (opts.attempts ?? 1)) await recoup.jobs.fail({ ...data, reason: error.message });
}
// end

/** What is used of the `SQS` client of @aws-sdk/client-sqs, and of its messages. */
export interface Sqs {
  sendMessage(input: { QueueUrl: string; MessageBody: string }): Promise<unknown>;
  deleteMessage(input: { QueueUrl: string; ReceiptHandle: string }): Promise<unknown>;
}
export interface SqsMessage {
  Body: string;
  ReceiptHandle: string;
}

// docs: sqs
async function placeWithSqs(recoup: Recoup, sqs: Sqs, QueueUrl: string, order: Order) {
  await charge(recoup, order);
  // Sent twice is no matter: the second delivery finds the job done.
  await sqs.sendMessage({ QueueUrl, MessageBody: JSON.stringify({ wallet: order.customer, job: order.id }) });
}

/** Deleted last: what is thrown before comes again after the visibility time-out. */
async function takeFromSqs(recoup: Recoup, sqs: Sqs, QueueUrl: string, message: SqsMessage, render: Render) {
  await perform(recoup, JSON.parse(message.Body) as Key, render);
  await sqs.deleteMessage({ QueueUrl, ReceiptHandle: message.ReceiptHandle });
}

/** What came into the dead-letter queue: no delivery is left, the price goes back. */
async function takeFromDeadLetters(recoup: Recoup, sqs: Sqs, QueueUrl: string, message: SqsMessage) {
  await recoup.jobs.fail({ ...(JSON.parse(message.Body) as Key), reason: 'deliveries used up' });
  await sqs.deleteMessage({ QueueUrl, ReceiptHandle: message.ReceiptHandle });
}
// end

// docs: temporal
/** Activities: Temporal runs them again until they return. `workflowId` is the order's id. */
const activitiesOf = (recoup: Recoup, render: Render, refuse: (code: string) => Error) => ({
  charge: async (order: Order) => {
    await charge(recoup, order).catch((error: unknown) => {
      // Not worth another try: ApplicationFailure.nonRetryable(message, code).
      throw error instanceof Refusal && !error.retryable ? refuse(error.code) : error;
    });
  },
  perform: ({ customer, id }: Order) => perform(recoup, { wallet: customer, job: id }, render),
  refund: async ({ customer, id }: Order, reason: string) => {
    await recoup.jobs.fail({ wallet: customer, job: id, reason });
  },
});

/** The workflow; `proxyActivities` gives it the activities. */
async function renderWorkflow(activities: ReturnType<typeof activitiesOf>, order: Order): Promise<string | null> {
  await activities.charge(order);
  try {
    return await activities.perform(order);
  } catch (error) {
    // An activity that timed out may still finish: its `succeed` takes the refund back.
    await activities.refund(order, String(error));
    throw error;
  }
}
// end

/** Delivers as queues do: again after a failure, and sometimes once more although it went well. */
async function deliver(attempts: number, work: (attempt: number) => Promise<void>): Promise<void> {
  for (let attempt = 1; attempt <= attempts; attempt++) {
    try {
      await work(attempt);
      return await work(attempt);
    } catch {
      await sleep(1);
    }
  }
}

export async function main(url: string) {
  const shop = await openShop(url);
  const { recoup, customer } = shop;
  const rendered = new Map<string, number>();
  const plan = new Map<string, number>();
  /** Fails as often as planned for this job. */
  const render: Render = async ({ job }) => {
    const left = plan.get(job) ?? 0;
    plan.set(job, left - 1);
    if (left > 0) throw new Error('no answer');
    rendered.set(job, (rendered.get(job) ?? 0) + 1);
    return `${job}.mp4`;
  };
  const order = (failures: number) => {
    const one = shop.order(10);
    plan.set(one.id, failures);
    return one;
  };
  const entries = async ({ id }: Order) => (await recoup.wallets.entriesOf(customer, id)).map(({ type }) => type);
  try {
    const shown: Record<string, string[]> = {};
    const bull = new Map<string, BullJob>();
    const queue: BullQueue = {
      add: async (_name, data, { jobId, attempts }) => {
        if (!bull.has(jobId)) bull.set(jobId, { data, attemptsMade: 0, opts: { attempts } });
      },
    };
    for (const [name, one] of [
      ['bullmq', order(1)],
      ['bullmq, given up', order(9)],
    ] as const) {
      await placeWithBullmq(recoup, queue, one);
      await placeWithBullmq(recoup, queue, one);
      const message = bull.get(one.id)!;
      await deliver(3, async () => {
        try {
          await perform(recoup, message.data, render);
        } catch (error) {
          message.attemptsMade += 1;
          await failedInBullmq(recoup, message, error as Error);
          throw error;
        }
      });
      shown[name] = await entries(one);
    }
    const inQueue: SqsMessage[] = [];
    const sqs: Sqs = {
      sendMessage: async ({ MessageBody }) =>
        inQueue.push({ Body: MessageBody, ReceiptHandle: String(inQueue.length) }),
      deleteMessage: async () => {},
    };
    const [late, dead] = [order(1), order(9)];
    for (const one of [late, late, dead]) await placeWithSqs(recoup, sqs, 'renders', one);
    for (const message of inQueue) await deliver(3, () => takeFromSqs(recoup, sqs, 'renders', message, render));
    await deliver(1, () => takeFromDeadLetters(recoup, sqs, 'renders-dead', inQueue[2]!));
    shown.sqs = await entries(late);
    shown['sqs, dead letter'] = await entries(dead);

    const again = <A extends unknown[], T>(activity: (...args: A) => Promise<T>) => {
      return async (...args: A): Promise<T> => {
        await activity(...args).catch(() => {});
        return activity(...args);
      };
    };
    const activities = activitiesOf(recoup, render, (code) => new Error(code));
    const twice = {
      charge: again(activities.charge),
      perform: again(activities.perform),
      refund: again(activities.refund),
    };
    const [fine, lost, dear] = [order(1), order(9), { ...order(0), price: 1000 }];
    await renderWorkflow(twice, fine);
    const thrown = await renderWorkflow(twice, lost).catch((error: Error) => error.message);
    const refused = await renderWorkflow(twice, dear).catch((error: Error) => error.message);
    shown.temporal = await entries(fine);
    shown['temporal, given up'] = await entries(lost);
    const { booked } = await recoup.wallets.balance(customer);
    return { shown, most: Math.max(...rendered.values()), thrown, refused, booked };
  } finally {
    await shop.close();
  }
}

await run(import.meta, main);
