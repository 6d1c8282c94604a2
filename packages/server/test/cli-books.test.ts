// Commands about other books, as somebody types them: import, compare, export, explain, prune; on a database and through a server.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import { newId } from './support/api.ts';
import { Books, HEAD, lines } from './support/books.ts';
import { cli } from './support/cli.ts';

const books = new Books();
const { file } = books;

describe.each(['a database', 'a server'])('on %s', (kind) => {
  const run = (...argv: string[]) =>
    cli(argv, kind === 'a server' ? { RECOUP_SERVER: books.api.service.url } : { DATABASE_URL: books.api.db.url });
  const json = async (...argv: string[]) => {
    const { code, out, err } = await run('--json', ...argv);
    return { code, err, said: out === '' ? null : JSON.parse(out) };
  };

  test('balances come in once, whatever is repeated; a dry run changes nothing', async () => {
    const [a, b, c] = [newId('w'), `${newId('w')}, "b" ä`, newId('w')];
    const quoted = `"${b.replaceAll('"', '""')}"`;
    const bom = await file(
      `\ufeffwallet,customer,balance,unit\r\n${a},ann,100,\r\n${quoted},bob,-5,token\r\n${c},ann,0,\r\n`,
    );
    const dry = await json('import', 'balances', bom, '--dry-run');
    expect(dry).toMatchObject({
      code: 0,
      said: { dryRun: true, wallets: 3, sum: 95, opened: 3, granted: 1, adjusted: 1, empty: 1 },
    });
    expect((await run('wallets', 'balance', a)).code).toBe(4);
    const key = 'opening:import';
    expect(await json('import', 'balances', bom)).toMatchObject({
      code: 0,
      said: { key, opened: 3, granted: 1, adjusted: 1 },
    });
    expect(await json('import', 'balances', bom)).toMatchObject({
      code: 0,
      said: { opened: 0, granted: 0, duplicates: 2, empty: 1 },
    });
    expect((await json('wallets', 'balance', b)).said).toMatchObject({ booked: -5, unit: 'token', customer: 'bob' });
    expect(await json('import', 'compare', bom)).toMatchObject({
      code: 0,
      said: { wallets: 3, equal: 3, sumTheirs: 95, sumOurs: 95 },
    });
    const grants = await run('export', 'grants', '--wallet', a);
    expect(parse(grants.out, { columns: true })).toMatchObject([{ wallet: a, key, amount: '100', remaining: '100' }]);
  });

  test('a dry run says what the run then does: of what is there, of another amount, of wallets that hold something', async () => {
    const [a, b, c, d, e, f] = [newId('w'), newId('w'), newId('w'), newId('w'), newId('w'), newId('w')];
    await json('import', 'balances', await file(lines(HEAD, `${a},ann,10`, `${b},bob,-20`, `${f},ann,5`)));
    for (const wallet of [c, d]) await json('wallets', 'open', wallet, '--customer', 'ann');
    await json('wallets', 'grant', c, 'paid', '--amount', '482');
    await json('wallets', 'grant', d, 'paid', '--amount', '9007199254740991');
    const rows = [`${a},ann,10`, `${b},bob,-21`, `${c},ann,10`, `${d},ann,1`, `${e},eve,3`, `${f},ann,0`];
    const source = await file(lines(HEAD, ...rows));
    const dry = await json('import', 'balances', source, '--dry-run');
    expect((await json('wallets', 'balance', c)).said.booked).toBe(482);
    const ran = await json('import', 'balances', source);
    const { dryRun, ...figures } = dry.said;
    const byLine = (problems: { line: number }[]) => [...problems].sort((x, y) => x.line - y.line);
    expect(dryRun).toBe(true);
    expect({ ...figures, problems: null }).toEqual({ ...ran.said, problems: null });
    expect(byLine(figures.problems)).toEqual(byLine(ran.said.problems));
    expect(dry.code).toBe(ran.code);
    expect(ran).toMatchObject({ code: 5, said: { duplicates: 1, opened: 1, granted: 2, refused: 3, addedTo: 1 } });
    expect(figures.warnings).toMatchObject([{ line: 4, wallet: c, warning: expect.stringContaining('it holds 492') }]);
    expect(dry.err).toContain('1 of 6 wallets hold something already');
    expect(await json('import', 'balances', source, '--dry-run')).toMatchObject({
      code: 5,
      said: { opened: 0, granted: 0, duplicates: 3, refused: 3, addedTo: 0 },
    });
  });

  test('what differs is named and exits 8; a wallet of somebody else, or another amount, is refused alone', async () => {
    const [a, b, c] = [newId('w'), newId('w'), newId('w')];
    await json('import', 'balances', await file(lines(HEAD, `${a},ann,10`, `${b},bob,20`)));
    const other = await file(lines(HEAD, `${a},eve,10`, `${b},bob,21`, `${c},cid,30`));
    const compared = await json('import', 'compare', other);
    expect(compared).toMatchObject({ code: 8, said: { equal: 0, different: 2, missing: 1 } });
    expect(compared.said.differences).toMatchObject([
      { line: 2, wallet: a, difference: 0, why: 'the wallet is there, of customer "ann"' },
      { line: 3, wallet: b, theirs: 21, ours: 20, difference: -1, held: 0 },
      { line: 4, wallet: c, ours: null },
    ]);
    const imported = await json('import', 'balances', other);
    expect(imported).toMatchObject({ code: 5, said: { opened: 1, granted: 1, refused: 2 } });
    expect(imported.said.problems).toMatchObject([
      { line: 2, wallet: a, code: 'conflict' },
      { line: 3, wallet: b, problem: 'opening:import was booked already, with 20' },
    ]);
    expect((await json('wallets', 'balance', b)).said.booked).toBe(20);
    await json('jobs', 'submit', c, 'j', '--queue', newId('q'), '--price', '30');
    const rest = await file(lines(HEAD, `${c},cid,30`));
    expect((await json('import', 'compare', rest)).said.differences).toMatchObject([{ ours: 0, held: 30 }]);
  });

  test('a query on another database is read like a file, and can only read', async () => {
    const [a, b] = [newId('w'), newId('w')];
    await books.api.db.query(
      'create table if not exists old_accounts (id text, who text, credits bigint, price numeric)',
    );
    await books.api.db.query('insert into old_accounts values ($1, $2, 9007199254740991, 1.5), ($3, $2, -3, 2)', [
      a,
      'ann',
      b,
    ]);
    const query = `select id as wallet, who as customer, credits as balance from old_accounts where id in ('${a}', '${b}');`;
    const source = ['--query', query, '--from', books.api.db.url];
    expect(await json('import', 'balances', ...source)).toMatchObject({ code: 0, said: { granted: 1, adjusted: 1 } });
    expect((await json('wallets', 'balance', a)).said.booked).toBe(9_007_199_254_740_991);
    expect(await json('import', 'compare', ...source)).toMatchObject({ code: 0, said: { equal: 2 } });
    const fraction = query.replace('credits as', 'price as');
    const wrong: [query: string, says: RegExp][] = [
      [fraction, /line 1, balance: must be an integer .*got "1\.5"/],
      ['select 1 as wallet', /customer, balance is missing/],
      ['select nonsense', /--query: column "nonsense" does not exist/],
      ['select 1; drop table old_accounts', /--query: /],
      ['delete from old_accounts returning id as wallet', /--query: /],
      [`select wallet, customer, balance from (select nextval('pg_catalog.x')) x`, /--query: /],
    ];
    for (const [text, says] of wrong) {
      const { code, err } = await run('import', 'balances', '--query', text, '--from', books.api.db.url);
      expect({ code, err }, text).toMatchObject({ code: 2, err: expect.stringMatching(says) });
    }
    expect(await books.api.db.query('select count(*)::int as n from old_accounts')).not.toEqual([{ n: 0 }]);
    const nowhere = await run('import', 'balances', '--query', query, '--from', 'postgres://127.0.0.1:1/none');
    expect(nowhere).toMatchObject({ code: 7, out: '' });
  });

  test('the ledger comes out as CSV and as JSON lines, and goes on behind a cursor', async () => {
    const wallet = `=cmd ${newId('w')}`;
    await json('import', 'balances', await file(lines(HEAD, `${wallet},"c, ""x""",7`)));
    await json('wallets', 'adjust', wallet, 'k', '--amount', '-9', '--actor', 'ann');
    const csv = await run('export', 'entries', '--wallet', wallet);
    expect(csv.code, csv.err).toBe(0);
    const rows = parse(csv.out, { columns: true }) as Record<string, string>[];
    expect(rows.map(({ seq, type, amount, balance, actor }) => [seq, type, amount, balance, actor])).toEqual([
      ['1', 'grant', '7', '7', ''],
      ['2', 'adjust', '-9', '-2', 'ann'],
    ]);
    expect(rows[0]).toMatchObject({
      wallet,
      customer: 'c, "x"',
      unit: 'credit',
      createdAt: expect.stringMatching(/^\d{4}-.*\.\d{6}Z$/),
    });
    const escaped = await run('export', 'entries', '--wallet', wallet, '--escape-formulas');
    expect(parse(escaped.out, { columns: true })).toMatchObject([
      { wallet: `'${wallet}`, amount: '7' },
      { amount: '-9' },
    ]);
    const kept = join(books.folder, newId('cursor'));
    const all = await run('export', 'entries', '--format', 'jsonl', '--cursor-file', kept);
    expect(
      all.out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toContainEqual(expect.objectContaining({ wallet, seq: 2, amount: -9 }));
    await json('wallets', 'grant', wallet, 'k2', '--amount', '4');
    const more = await run('export', 'entries', '--cursor-file', kept);
    // No second heading: it is appended.
    expect(more.out).toMatch(/^[^\n]*,3,grant,4,2,[^\n]*\n$/);
    expect(more.err).toContain(readFileSync(kept, 'utf8').trim());
    expect(
      (await run('export', 'entries', '--wallet', wallet, '--to', '2001-01-01')).out.trim().split('\n'),
    ).toHaveLength(1);
    expect(
      (await run('export', 'entries', '--wallet', wallet, '--from', '2001-01-01T00:00:00Z')).out.trim().split('\n'),
    ).toHaveLength(4);
    for (const argv of [
      ['--cursor', 'x'],
      ['--from', '2026-02-30'],
      ['--to', 'today'],
      ['--format', 'xml'],
      ['--cursor-file', books.folder],
      ['--cursor-file', await file('')],
    ]) {
      expect(await run('export', 'entries', ...argv), argv.join(' ')).toMatchObject({ code: 2 });
    }
  });

  test('explain tells each entry, now and at an instant', async () => {
    const { wallet, job } = await books.api.running(40);
    await books.api.call('jobs.fail', { wallet, job, attempt: 1, reason: 'no answer' });
    const before = new Date((await books.api.call('jobs.entries', { wallet, job })).entries[1].createdAt);
    await new Promise((done) => setTimeout(done, 5));
    await books.api.call('jobs.succeed', { wallet, job });
    const { out, code } = await run('explain', wallet);
    expect(code).toBe(0);
    const columns = out.split('\n').map((line) => line.trim().split(/ {2,}/));
    expect(columns[0]).toEqual(['seq', 'at', 'type', 'amount', 'balance', 'why']);
    expect(columns.slice(1, 5).map(([seq, , ...rest]) => [seq, ...rest])).toEqual([
      ['1', 'grant', '+100', '100', 'start'],
      ['2', 'charge', '-40', '60', `job ${job} was submitted (succeeded now)`],
      ['3', 'refund', '+40', '100', `job ${job} failed, given back: no answer`],
      ['4', 'reclaim', '-40', '60', `job ${job} succeeded after that: taken again`],
    ]);
    expect(out).toContain(`${wallet} holds 60 credits`);
    expect((await run('explain', wallet, '--at', before.toISOString())).out).toContain(`${wallet} held 100 credits`);
    expect((await json('explain', wallet, '--last', '2')).said).toMatchObject({
      booked: 60,
      entries: [{ seq: 3 }, { seq: 4 }],
    });
    expect((await json('explain', wallet, '--at', '2001-01-01')).said).toMatchObject({ booked: 0, entries: [] });
    expect(await run('explain', 'nobody')).toMatchObject({
      code: 4,
      out: '',
      err: expect.stringContaining('Where that is a customer: recoup wallets list --customer nobody'),
    });
    expect((await run('explain', "it's")).err).toContain(`recoup wallets list --customer 'it'\\''s'`);
  });

  test('prune says how many there are before it deletes', async () => {
    for (let n = 0; n < 3; n++) {
      const { wallet, job } = await books.api.running(1);
      await books.api.call('jobs.succeed', { wallet, job });
    }
    const dry = await json('prune', '--older-than', '0s', '--dry-run');
    expect(dry.said.prunable).toBeGreaterThanOrEqual(3);
    expect((await json('prune', '--older-than', '0s', '--state', 'canceled', '--batch', '1')).code).toBe(0);
    const { said } = await json('prune', '--older-than', '0s', '--batch', '2');
    expect(said.pruned).toBeGreaterThanOrEqual(3);
    expect((await json('prune', '--older-than', '0s')).said).toEqual({ pruned: 0 });
    for (const argv of [[], ['--older-than', '5'], ['--older-than', '366d'], ['--older-than', '1d', '--batch', '0']]) {
      expect(await run('prune', ...argv)).toMatchObject({ code: 2 });
    }
  });
});
