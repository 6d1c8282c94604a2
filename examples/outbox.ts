// When Recoup is down: refuse, go on without, or keep the order and submit it later by its key.
import { mkdtemp, open as openFile, readdir, readFile, rename, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open, type Recoup, Refusal } from 'recoup';
import { type Order, openShop, run } from './support.ts';

// docs: is-down
/** Whether nothing is known of the call: not refused, only not heard. The same call may be repeated, any number of times. */
const isDown = (error: unknown) => error instanceof Refusal && error.retryable;
// end

const submit = (recoup: Recoup, { customer, id, price }: Order) =>
  recoup.jobs.submit({ wallet: customer, job: id, queue: null, price, deadlineMs: 3_600_000 });

// docs: fail-closed
/** Closed: no charge, no work. Nobody gets anything for nothing, and nobody gets anything. */
async function placeOrRefuse(recoup: Recoup, order: Order) {
  try {
    return { status: 200, ...(await submit(recoup, order)) };
  } catch (error) {
    if (isDown(error)) return { status: 503 };
    throw error;
  }
}
// end

// docs: fail-open
/** Open: the work is done, and charged later if it can be. What the wallet does not hold by then was given away. */
async function placeAnyway(recoup: Recoup, outbox: Outbox, order: Order) {
  try {
    await submit(recoup, order);
  } catch (error) {
    if (!isDown(error)) throw error;
    await outbox.keep(order);
  }
  return { status: 200 };
}
// end

// docs: fail-later
/** Queued: taken, and neither charged nor begun before Recoup has answered. The customer may still hear a no, later. */
async function placeLater(recoup: Recoup, outbox: Outbox, order: Order) {
  try {
    return { status: 200, ...(await submit(recoup, order)) };
  } catch (error) {
    if (!isDown(error)) throw error;
    await outbox.keep(order);
    return { status: 202 };
  }
}
// end

// docs: outbox
/** Orders that Recoup has not answered yet, a file each: named by the order, so that keeping it twice keeps it once. */
class Outbox {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async keep(order: Order): Promise<void> {
    const path = join(this.#folder, encodeURIComponent(order.id));
    const file = await openFile(`${path}.part`, 'w');
    await file.writeFile(JSON.stringify(order));
    await file.sync();
    await file.close();
    await rename(`${path}.part`, path);
  }

  /** Submits what is kept, until one is not heard. A lost answer is no matter: the repeat is a `duplicate`. */
  async drain(recoup: Recoup, told: (order: Order, outcome: string) => Promise<void>): Promise<void> {
    for (const name of (await readdir(this.#folder)).filter((one) => !one.endsWith('.part'))) {
      const path = join(this.#folder, name);
      const order = JSON.parse(await readFile(path, 'utf8')) as Order;
      const outcome = await submit(recoup, order).then(
        (answer) => answer.outcome,
        (error: unknown) => {
          if (!(error instanceof Refusal) || error.retryable) throw error;
          return error.code;
        },
      );
      // Told before it is forgotten: after a crash in between it is told again.
      await told(order, outcome);
      await rm(path);
    }
  }
}
// end

/** A way to the database that can be cut. */
async function cuttable(url: string) {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let cut = false;
  const server = createServer((near) => {
    if (cut) return void near.destroy();
    const far = connect(Number(target.port || 5432), target.hostname);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.pipe(other);
      one.on('error', () => {}).on('close', () => other.destroy());
    }
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const own = new URL(url);
  own.hostname = '127.0.0.1';
  own.port = String((server.address() as { port: number }).port);
  return {
    url: own.href,
    cut: () => {
      cut = true;
      for (const socket of sockets) socket.destroy();
    },
    mend: () => {
      cut = false;
    },
    close: () => new Promise((done) => server.close(done)),
  };
}

export async function main(url: string) {
  const shop = await openShop(url);
  const line = await cuttable(url);
  const folder = await mkdtemp(join(tmpdir(), 'recoup-outbox-'));
  const recoup = await open({ connection: line.url, sweep: false, onError: () => {} });
  const outbox = new Outbox(folder);
  try {
    const orders = [shop.order(10), shop.order(20), shop.order(30), shop.order(500)] as const;
    line.cut();
    const closed = (await placeOrRefuse(recoup, orders[0])).status;
    const anyway = (await placeAnyway(recoup, outbox, orders[1])).status;
    const later = (await placeLater(recoup, outbox, orders[2])).status;
    await placeLater(recoup, outbox, orders[2]);
    await placeLater(recoup, outbox, orders[3]);
    const told: Record<number, string> = {};
    const tell = async ({ price }: Order, outcome: string) => {
      told[price] = outcome;
    };
    const early = await outbox.drain(recoup, tell).catch((error: Refusal) => error.retryable);
    line.mend();
    // Its first answer gets lost.
    await submit(shop.recoup, orders[2]);
    await outbox.drain(recoup, tell);
    const left = (await readdir(folder)).length;
    const { booked } = await shop.recoup.wallets.balance(shop.customer);
    return { closed, anyway, later, early, told, left, booked };
  } finally {
    await recoup.close();
    await shop.close();
    line.cut();
    await line.close();
    await rm(folder, { recursive: true });
  }
}

await run(import.meta, main);
