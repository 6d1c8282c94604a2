// From a column of credits to wallets: every balance once, however often it is run, and with the column as it was.
import pg from 'pg';
import { open, type Recoup, Refusal } from 'recoup';
import { run } from './support.ts';

// docs: moving-in
/** Opens a wallet for each user and grants what the column says, under a key that is used once for ever. */
async function moveIn(pool: pg.Pool, recoup: Recoup): Promise<{ granted: number; refused: string[] }> {
  const moved = { granted: 0, refused: [] as string[] };
  let after = '';
  for (;;) {
    const page = 'select id, credits::int from example_users where id > $1 order by id limit 500';
    const { rows } = await pool.query<{ id: string; credits: number }>(page, [after]);
    if (rows.length === 0) return moved;
    after = rows.at(-1)!.id;
    for (const { id } of rows) await recoup.wallets.open({ wallet: id, customer: id });
    // A debt is an adjust; nothing is nothing.
    const debts = rows.filter(({ credits }) => credits < 0);
    for (const { id, credits } of debts) {
      await recoup.wallets.adjust({ wallet: id, key: 'opening:import', amount: credits });
    }
    const grants = rows.filter(({ credits }) => credits > 0);
    const answers = await recoup.wallets.grantMany(
      grants.map(({ id, credits }) => ({ wallet: id, key: 'opening:import', amount: credits })),
    );
    for (const [i, answer] of answers.entries()) {
      // `conflict`: the column has moved since the first run; freeze it before, or correct by an adjust.
      if (answer instanceof Refusal) moved.refused.push(`${grants[i]!.id}: ${answer.code}`);
      else if (answer.outcome === 'granted') moved.granted += 1;
    }
  }
}
// end

export async function main(url: string) {
  const recoup = await open({ connection: url, migrate: true });
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  try {
    await pool.query(`drop table if exists example_users;
      create table example_users (id text primary key, credits bigint not null);
      insert into example_users select 'user ' || i, i * 10 - 10 from generate_series(0, 999) i`);
    const first = await moveIn(pool, recoup);
    const second = await moveIn(pool, recoup);
    await pool.query(`update example_users set credits = 7 where id = 'user 5'`);
    const third = await moveIn(pool, recoup);
    const { ok, sumOfBalances } = await recoup.verify();
    const debt = (await recoup.wallets.balance('user 0')).booked;
    const { booked } = await recoup.wallets.balance('user 5');
    return { first, second, third, ok, positive: sumOfBalances > 0, debt, booked };
  } finally {
    await pool.end();
    await recoup.close();
  }
}

await run(import.meta, main);
