// `recoup import balances` where it must change nothing: keys that may not do a step, files that are not right.

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Api, newId } from './support/api.ts';
import { Books, HEAD, lines } from './support/books.ts';
import { cli } from './support/cli.ts';

const books = new Books();
const { file } = books;

test('a key that may not do a step is refused before anything is changed, also in a dry run', async () => {
  const guarded = await Api.start({ requireKeys: true });
  const { secret } = await guarded.service.keys.create({ name: 'app', scopes: ['app'] });
  const env = { RECOUP_SERVER: guarded.service.url, RECOUP_KEY: secret };
  const debts = await file(lines(HEAD, 'a,ann,5', 'b,bob,-5'));
  for (const more of [['--dry-run'], []]) {
    expect(await cli(['import', 'balances', debts, ...more], env)).toMatchObject({
      code: 3,
      err: expect.stringContaining('wallets.adjustMany takes a key of one of the scopes support, operator, admin.'),
    });
  }
  expect(await guarded.db.query('select * from recoup.wallets')).toEqual([]);
  const credits = await file(lines(HEAD, 'a,ann,5'));
  expect(await cli(['import', 'balances', credits, '--dry-run'], env)).toMatchObject({ code: 0 });
  await guarded.close();
});

test('a file that is not right is refused whole, by line and column, and nothing of it comes in', async () => {
  const wallet = newId('never');
  const good = `${wallet},ann,5`;
  const wrong: [content: string | Uint8Array, says: RegExp][] = [
    ['', /wallet, customer, balance is missing/],
    ['\n\n', /wallet, customer, balance is missing/],
    [lines('wallet,customer'), /balance is missing/],
    [lines('wallet;customer;balance'), /is missing in "wallet;customer;balance"/],
    [lines(`${HEAD},colour`, `${good},red`), /"colour" is not known/],
    [lines(`${HEAD},wallet`, `${good},x`), /wallet is there twice/],
    [lines(HEAD, good, `${wallet},ann,6`), /line 3, wallet: is there already, in line 2/],
    [lines(HEAD, good, 'a,b,1.5'), /line 3, balance: must be an integer .*got "1\.5"/],
    [lines(HEAD, good, 'a,b,1e3'), /line 3, balance: .*got "1e3"/],
    [lines(HEAD, good, 'a,b,+1'), /line 3, balance: .*got "\+1"/],
    [lines(HEAD, good, 'a,b, 1'), /line 3, balance: .*got " 1"/],
    [lines(HEAD, good, 'a,b,0x10'), /line 3, balance/],
    [lines(HEAD, good, 'a,b,٣'), /line 3, balance/],
    [lines(HEAD, good, 'a,b,'), /line 3, balance: .*got ""/],
    [lines(HEAD, good, 'a,b,9007199254740992'), /line 3, balance: .*9007199254740991/],
    [lines(HEAD, good, `a,b,${'9'.repeat(5000)}`), /line 3, balance: .*a text of 5000 characters/],
    [lines(HEAD, good, ',b,1'), /line 3, wallet: must be 1 to 200 printable/],
    [lines(HEAD, good, 'a,,1'), /line 3, customer: must be 1 to 200 printable/],
    [lines(HEAD, good, `${'x'.repeat(201)},b,1`), /line 3, wallet: .*got 201 characters/],
    [lines(HEAD, good, 'a\u0000,b,1'), /line 3, wallet/],
    [lines(HEAD, good, 'a,b'), /line 3: has 2 fields, the first line has 3/],
    [lines(HEAD, good, 'a,b,1,000'), /line 3: has 4 fields/],
    [lines(HEAD, good, '"a,b,1'), /is not CSV: a quote is not closed/],
    [lines(HEAD, good, '"a"x,b,1'), /line 3: is not CSV: something stands behind a closing quote/],
    [lines(HEAD, good, `"${'y'.repeat(20_000)}`), /is not CSV: it is longer than 10000/],
    [
      Buffer.concat([Buffer.from(lines(HEAD, good)), Buffer.from([0x61, 0xff]), Buffer.from(',b,1\n')]),
      /line 3: is not UTF-8/,
    ],
    [Buffer.concat([Buffer.from(lines(HEAD, good)), Buffer.from([0xc3])]), /line 3: is not UTF-8/],
    [Buffer.from(lines(HEAD, good), 'utf16le'), /is missing|is not UTF-8/],
  ];
  for (const [content, says] of wrong) {
    const { code, out, err } = await cli(['import', 'balances', await file(content)], {
      DATABASE_URL: books.api.db.url,
    });
    expect({ code, out, err }, String(says)).toMatchObject({ code: 2, out: '', err: expect.stringMatching(says) });
  }
  const many = lines(HEAD, ...Array.from({ length: 50 }, (_, n) => `w${n},c,x`));
  const { err } = await cli(['import', 'balances', await file(many)], { DATABASE_URL: books.api.db.url });
  expect(err).toMatch(/50 problems[\s\S]*line 21, balance[\s\S]*and 30 more/);
  expect((await cli(['wallets', 'balance', wallet], { DATABASE_URL: books.api.db.url })).code).toBe(4);
  for (const argv of [
    [],
    [join(books.folder, 'absent.csv')],
    [books.folder],
    ['x.csv', '--from', 'postgres://x/y'],
    ['--query', 'select 1'],
    ['x.csv', '--name', ''],
    ['x.csv', '--delimiter', ';;'],
  ]) {
    expect(
      await cli(['import', 'balances', ...argv], { DATABASE_URL: books.api.db.url }),
      argv.join(' '),
    ).toMatchObject({
      code: 2,
      out: '',
    });
  }
  const right = await file(lines(HEAD, good));
  expect(await cli(['import', 'balances', right], { DATABASE_URL: 'postgres://127.0.0.1:1/none' })).toMatchObject({
    code: 7,
  });
});
