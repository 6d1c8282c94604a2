// A consumer of the feed that keeps its place with what it made of the events, and goes on after a restore or a failover.
import pg from 'pg';
import { type FeedEvent, type Recoup, Refusal } from 'recoup';
import { openShop, run } from './support.ts';

const TABLES = `
create table if not exists example_spent (wallet text, seq bigint, amount bigint not null, primary key (wallet, seq));
create table if not exists example_place (one boolean primary key default true check (one), cursor text)`;

// docs: feed-consumer
/** Reads what is new. Effects and place commit together, and an event that comes again changes nothing. */
async function follow(recoup: Recoup, pool: pg.Pool, reconcile: (why: unknown) => Promise<void>): Promise<void> {
  const { rows } = await pool.query('select cursor from example_place');
  let cursor: string | null = rows[0]?.cursor ?? null;
  for (;;) {
    let events: FeedEvent[] = [];
    try {
      const page = await recoup.feed.read(cursor, 1000);
      if (page.events.length === 0) return;
      ({ events, cursor } = page);
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== 'epoch_changed') throw error;
      // Some of what was read may be gone from the ledger: compare, then go on where the answer says (null: the beginning).
      await reconcile(error.details);
      cursor = error.details.cursor as string | null;
    }
    await keep(pool, events, cursor);
  }
}

async function keep(pool: pg.Pool, events: readonly FeedEvent[], cursor: string | null): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    for (const event of events) {
      if (event.kind !== 'entry') continue;
      // The newest word on an entry wins: after a restore its number may be another entry's.
      const upsert = `insert into example_spent values ($1, $2, $3)
        on conflict (wallet, seq) do update set amount = excluded.amount`;
      await client.query(upsert, [event.wallet, event.seq, event.amount]);
    }
    const place =
      'insert into example_place (cursor) values ($1) on conflict (one) do update set cursor = excluded.cursor';
    await client.query(place, [cursor]);
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.release();
  }
}
// end

// docs: feed-reconcile
/** What was read and is not in the ledger any more goes: entries above the last one that each wallet has. */
async function reconcile(recoup: Recoup, pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<{ wallet: string }>('select distinct wallet from example_spent');
  for (const { wallet } of rows) {
    const lastSeq = await recoup.wallets.balance(wallet).then(
      (balance) => balance.lastSeq,
      // The wallet itself was opened in what was lost.
      (error: Refusal) => (error.code === 'no_wallet' ? 0 : Promise.reject(error)),
    );
    await pool.query('delete from example_spent where wallet = $1 and seq > $2', [wallet, lastSeq]);
  }
}
// end

export async function main(url: string) {
  const shop = await openShop(url);
  const { recoup, customer } = shop;
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  try {
    await pool.query(TABLES);
    const reasons: unknown[] = [];
    const sum = async () => {
      const { rows } = await pool.query(`select sum(amount)::int as sum from example_spent where wallet = $1`, [
        customer,
      ]);
      return rows[0].sum as number;
    };
    /** Events are final a little after they were written. */
    const until = async (expected: number) => {
      while ((await sum()) !== expected) {
        await follow(recoup, pool, async (why) => {
          reasons.push((why as { reason: string }).reason);
          await reconcile(recoup, pool);
        });
      }
      return expected;
    };
    await recoup.jobs.submit({ wallet: customer, job: 'one', queue: null, price: 30 });
    const before = await until(70);
    // As if it had read an entry that a restore has lost.
    await pool.query('insert into example_spent values ($1, 3, -55)', [customer]);
    await recoup.epochs.open({ reason: 'backup of 11:00' });
    await recoup.jobs.submit({ wallet: customer, job: 'two', queue: null, price: 20 });
    return { before, after: await until(50), reasons };
  } finally {
    await pool.end();
    await shop.close();
  }
}

await run(import.meta, main);
