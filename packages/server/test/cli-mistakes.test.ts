// Mistakes on the command line: settings a command cannot use, addresses that are none, logins, ports, values that look like JSON.
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Api } from './support/api.ts';
import { CliProcess, cli } from './support/cli.ts';

let api: Api;
let folder: string;
beforeAll(async () => {
  api = await Api.start();
  folder = await mkdtemp(join(tmpdir(), 'recoup-mistakes-'));
});
afterAll(async () => {
  await api.close();
  await rm(folder, { recursive: true });
});
const env = () => ({ DATABASE_URL: api.db.url });
interface Told extends Record<string, unknown> {
  exit: unknown;
  out: string;
}
const toldOf = (exit: unknown, out: string, err: string): Told => {
  const last = err.trim().split('\n').at(-1)!;
  return { exit, out, ...(exit === 0 ? {} : JSON.parse(last)) };
};
const told = async (argv: readonly string[], given: NodeJS.ProcessEnv = env()): Promise<Told> => {
  const { code, err, out } = await cli(['--json', ...argv], given);
  return toldOf(code, out, err);
};
/** As a process: a start that came as far as the database ends the one that it is in. */
const toldByStart = async (argv: readonly string[], given: NodeJS.ProcessEnv = env()): Promise<Told> => {
  const started = new CliProcess(['--json', 'start', ...argv], given);
  return toldOf(await started.ended, started.out, started.err);
};

describe('settings that a command cannot use', () => {
  test.each([
    [['demo', '--server', 'http://127.0.0.1:1'], 'server'],
    [['demo', '--data-dir', 'x'], 'dataDir'],
    [['verify', '--server', 'http://127.0.0.1:1'], 'server'],
    [['verify', '--port', '1'], 'port'],
    [['migrate', '--key', 'rcp_x'], 'key'],
    [['start', '--server', 'http://127.0.0.1:1'], 'server'],
    [['queues', 'list', '--port', '1'], 'port'],
    [['work', '--queue', 'q', '--exec', 'true', '--bind', '127.0.0.1'], 'bind'],
    [['openapi', '--schema', 'x'], 'schema'],
    [['queues', 'list', '--server', 'http://127.0.0.1:1', '--schema', 'x'], 'schema'],
    [['queues', 'list', '--server', 'http://127.0.0.1:1', '--database-url', 'postgres://127.0.0.1/x'], 'databaseUrl'],
  ] as const)('%j is refused, naming %s', async (argv, field) => {
    expect(await told(argv)).toMatchObject({ exit: 2, code: 'invalid', field, out: '' });
  });

  test.each([
    [['queues', 'list', '--server', 'http://user:password@127.0.0.1:1'], 'server'],
    [['queues', 'list', '--server', 'http://127.0.0.1:1', '--key', 'two\nlines'], 'key'],
    [['work', '--queue', 'q', '--exec', 'true', '--server', 'http://user:password@127.0.0.1:1'], 'server'],
    [['work', '--queue', 'q', '--url', 'http://user:password@127.0.0.1:1'], '--url'],
  ] as const)('%j is a request that cannot be made: refused, and no password is told', async (argv, field) => {
    const refused = await told(argv);
    expect(refused).toMatchObject({ exit: 2, code: 'invalid', field, out: '' });
    expect(JSON.stringify(refused)).not.toContain('user:password');
  });

  test('a worker at an address of the server where there is nothing ends', async () => {
    const argv = ['work', '--queue', 'q', '--exec', 'true', '--server', `${api.service.url}/nowhere`];
    expect(await told(argv, {})).toMatchObject({ exit: 4, code: 'not_found' });
  });

  test('the environment may name what only other commands use; a server there is never silently left out', async () => {
    expect(await cli(['queues', 'list'], { ...env(), RECOUP_PORT: '1', RECOUP_BIND: '127.0.0.1' })).toMatchObject({
      code: 0,
    });
    const served = { ...env(), RECOUP_SERVER: 'http://127.0.0.1:1' };
    expect(await told(['verify'], served)).toMatchObject({ exit: 2, field: 'server' });
    expect(await told(['queues', 'list', '--schema', 'x'], served)).toMatchObject({ exit: 2, field: 'schema' });
  });

  test('the help of a command names the settings that it takes', async () => {
    expect((await cli(['verify', '--help'], {})).out).toMatch(/--database-url, --data-dir, --schema, --pooler\.\s/);
    expect((await cli(['verify', '--help'], {})).out).not.toContain('--server');
    expect((await cli(['demo', '--help'], {})).out).toContain('--port');
    expect((await cli(['openapi', '--help'], {})).out).toContain('no settings');
    expect((await cli(['queues', 'list', '--help'], {})).out).toContain('--server');
  });

  test('a variable that looks like a setting and is none is told', async () => {
    const misspelt = await cli(['config'], {
      RECOUP_PROT: '1',
      RECOUP_PORT: '2',
      RECOUP_WALLET: 'w',
      RECOUP_CONFIG: undefined,
    });
    expect(misspelt).toMatchObject({ code: 0 });
    expect(misspelt.err.trim().split('\n')).toEqual([expect.stringMatching(/^RECOUP_PROT is in the environment/)]);
  });
});

describe('addresses', () => {
  test.each([
    ['mysql://u:p@127.0.0.1/db', 'scheme'],
    ['127.0.0.1:5432/db', 'postgres://'],
    ['postgres://recoup_app:p@ss/w@127.0.0.1/db', '%40'],
    ['postgres://u:p#x@127.0.0.1/db', '%23'],
    ['postgres://u:1?x@127.0.0.1/db', '%3F'],
    ['postgres://u:p%zz@127.0.0.1/db', '%25'],
    ['postgres://127.0.0.1:99999/x', 'postgres://'],
  ])('%s is refused before anything connects, and not repeated', async (url, hint) => {
    for (const command of [
      ['doctor'],
      ['migrate'],
      ['start', '--port', '0'],
      ['queues', 'list'],
      ['demo', '--jobs', '1'],
    ]) {
      const answer = await told(command, { DATABASE_URL: url });
      expect(answer, command[0]!).toMatchObject({ exit: 2, code: 'invalid', field: 'databaseUrl' });
      expect(answer.message).toContain(hint);
      expect(answer.message).not.toContain('p@ss');
    }
    const from = await told(['import', 'balances', '--query', 'select 1', '--from', url]);
    expect(from).toMatchObject({ exit: 2, code: 'invalid', field: '--from' });
  });

  test.each(['127.0.0.1:7420', 'ftp://x', 'http://', 'http://x?y'])('%s is no server', async (server) => {
    expect(await told(['queues', 'list', '--server', server], {})).toMatchObject({ exit: 2, field: 'server' });
  });

  test('a role, a password, a database that the server refuses: which, and exit code 3', async () => {
    const url = (change: (url: URL) => void) => {
      const changed = new URL(api.db.url);
      change(changed);
      return changed.href;
    };
    const cases: [string, RegExp][] = [
      [url((one) => Object.assign(one, { username: 'nobody_here' })), /nobody_here/],
      [url((one) => Object.assign(one, { pathname: '/no_such_database' })), /no_such_database/],
    ];
    for (const [databaseUrl, what] of cases) {
      for (const command of [['doctor'], ['migrate'], ['start', '--port', '0'], ['queues', 'list'], ['verify']]) {
        const ask =
          command[0] === 'start' ? () => toldByStart(command.slice(1), { DATABASE_URL: databaseUrl }) : undefined;
        const answer = ask ? await ask() : await told(command, { DATABASE_URL: databaseUrl });
        expect([command[0], answer.exit, answer.code]).toEqual([command[0], 3, 'database_refused']);
        expect(answer.message).toMatch(what);
      }
    }
  });

  test('a database that does not answer is named', async () => {
    const answer = await told(['queues', 'list'], { DATABASE_URL: 'postgres://u:pw@127.0.0.1:1/db' });
    expect(answer).toMatchObject({ exit: 7, code: 'database_unavailable' });
    expect(answer.message).toContain('127.0.0.1:1');
    expect(answer.message).not.toContain('pw');
  });

  test('a port that is taken is named; an address of another machine is refused', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as AddressInfo;
    const taken = await toldByStart(['--port', `${port}`]);
    expect(taken).toMatchObject({ exit: 3, code: 'port_in_use', port });
    expect(taken.message).toContain(String(port));
    holder.close();
    expect(await toldByStart(['--port', '0', '--bind', '192.0.2.1', '--insecure'])).toMatchObject({
      exit: 2,
      field: 'bind',
    });
  });

  test('a data folder that is a file is refused', async () => {
    const file = join(folder, 'file');
    await writeFile(file, '');
    for (const dataDir of [file, join(file, 'below')]) {
      const answer = await told(['queues', 'list', '--data-dir', dataDir], {});
      expect(answer).toMatchObject({ exit: 2, code: 'data_directory_unusable' });
    }
  });

  test('secrets of webhooks that cannot be ones name their setting', async () => {
    for (const [flag, field, value] of [
      ['--webhook-generic', 'webhookGeneric', 'hello'],
      ['--webhook-generic', 'webhookGeneric', 'whsec_zz'],
      ['--webhook-replicate', 'webhookReplicate', 'whsec_c2hvcnQ='],
      ['--webhook-fal', 'webhookFal', 'short'],
    ] as const) {
      expect(await told(['start', flag, value])).toMatchObject({ exit: 2, field });
    }
  });
});

describe('values', () => {
  test('a number is digits alone; what begins like JSON must be JSON', async () => {
    await cli(['wallets', 'open', 'v', '--customer', 'c'], env());
    await cli(['wallets', 'grant', 'v', 'k', '--amount', '100'], env());
    const submit = (job: string, ...flags: string[]) => told(['jobs', 'submit', 'v', job, '--queue', 'q', ...flags]);
    for (const price of ['1e2', '1.0', '0x10', '+1', '', '٣']) {
      expect(await submit('j', '--price', price), price).toMatchObject({ exit: 2, field: 'price' });
    }
    for (const payload of ['{"a":1', '[1', '"a', ' {a}', '{']) {
      expect(await submit('j', '--price', '1', '--payload', payload), payload).toMatchObject({
        exit: 2,
        field: 'payload',
      });
    }
    expect(await told(['jobs', 'submit', 'v', 'j', '--queue', 'q', '--price', '1', '--labels', 'x'])).toMatchObject({
      exit: 2,
      field: 'labels',
    });
    for (const [job, payload, kept] of [
      ['text', 'plain text', 'plain text'],
      ['quoted', '"{"', '{'],
      ['json', '{"a":1}', { a: 1 }],
      ['number', '1e2', 100],
    ] as const) {
      expect(await submit(job, '--price', '1', '--payload', payload), payload).toMatchObject({ exit: 0 });
      const [row] = await api.db.query(`select payload from recoup.jobs where wallet_id = 'v' and id = '${job}'`);
      expect(row?.payload).toEqual(kept);
    }
  });

  test('the help tells what stands for each value, and what null means', async () => {
    const { out } = await cli(['jobs', 'submit', '--help'], {});
    expect(out).toMatch(/--queue <name>\s+The queue it waits in; null:/);
    expect(out).toMatch(/--labels <json>\s+\S/);
    expect(out).toMatch(/--price <integer>/);
    expect((await cli(['keys', 'create', '--help'], {})).out).toMatch(/--scopes <a,b,…>\s+\S/);
  });
});

test('migrate looks for the role before it applies anything; a dry run lists what it would apply', async () => {
  const schema = `late_${process.pid}`;
  const there = async () => (await api.db.query(`select to_regnamespace('${schema}')::text as there`))[0]?.there;
  const wrong = await told(['migrate', '--schema', schema, '--grant-to', 'no_such_role']);
  expect(wrong).toMatchObject({ exit: 2, field: 'grantTo' });
  const owner = (await api.db.query('select current_user::text as name'))[0]!.name as string;
  expect(await told(['migrate', '--schema', schema, '--grant-to', owner])).toMatchObject({ exit: 2, field: 'grantTo' });
  expect(await there()).toBe(null);
  const dry = JSON.parse((await told(['migrate', '--schema', schema, '--dry-run'])).out);
  expect(dry).toMatchObject({ wouldApply: expect.arrayContaining(['0001_money_and_work']), state: { applied: 0 } });
  expect(await there()).toBe(null);
  expect(JSON.parse((await told(['migrate', '--schema', schema])).out).applied).toEqual(dry.wouldApply);
  expect(JSON.parse((await told(['migrate', '--schema', schema, '--dry-run'])).out).wouldApply).toEqual([]);
});

test('through a server too an id that an address cannot carry is refused', async () => {
  for (const wallet of ['.', '..']) {
    const served = await told(['wallets', 'balance', wallet, '--server', api.service.url], {});
    expect(served).toMatchObject({ exit: 2, code: 'invalid', field: 'wallet' });
  }
});

test('an import holds a row of 0 to what is booked under its key', async () => {
  const path = join(folder, 'zero.csv');
  const write = (balance: number) => writeFile(path, `wallet,customer,balance\nzero,c,${balance}\n`);
  await write(0);
  expect(JSON.parse((await told(['import', 'balances', path])).out)).toMatchObject({ opened: 1, empty: 1 });
  expect(JSON.parse((await told(['import', 'balances', path])).out)).toMatchObject({ opened: 0, empty: 1 });
  await write(5);
  expect(JSON.parse((await told(['import', 'balances', path])).out)).toMatchObject({ granted: 1 });
  await write(0);
  const differs = await told(['import', 'balances', path]);
  expect(differs).toMatchObject({ exit: 5, code: 'conflict' });
  expect(JSON.parse(differs.out)).toMatchObject({ empty: 0, refused: 1, problems: [{ wallet: 'zero', line: 2 }] });
  expect(JSON.parse((await told(['import', 'balances', path, '--name', 'second'])).out)).toMatchObject({ empty: 1 });
});
