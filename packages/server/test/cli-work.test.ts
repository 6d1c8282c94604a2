// `recoup work` and a killed import, as processes: what exit codes and statuses mean, what ends a command, drain and hurry.
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../recoup/test/support/waiting.ts';
import { runs } from './embedded/processes.ts';
import { Api, type Input, type Json, newId } from './support/api.ts';
import { CliProcess, cli } from './support/cli.ts';

let api: Api;
let folder: string;
const started: CliProcess[] = [];
beforeAll(async () => {
  api = await Api.start();
  folder = await mkdtemp(join(tmpdir(), 'recoup-work-'));
});
afterAll(async () => {
  for (const { child } of started) child.kill('SIGKILL');
  expect((await api.service.recoup.verify()).problems).toEqual([]);
  await api.close();
  await rm(folder, { recursive: true });
});

const jobOf = async (key: Input): Promise<Json> => (await api.call('jobs.get', key)) as Json;
const until1 = (key: Input, holds: (job: Json) => boolean) =>
  until(async () => {
    const found = await jobOf(key);
    return holds(found.job) && found;
  });

describe.each(['a database', 'a server'])('on %s', (kind) => {
  const env = () => (kind === 'a server' ? { RECOUP_SERVER: api.service.url } : { DATABASE_URL: api.db.url });
  const work = (queue: string, ...argv: string[]) => {
    const worker = new CliProcess(['work', '--queue', queue, '--poll-ms', '50', ...argv], env());
    started.push(worker);
    return worker;
  };
  /** Jobs of a queue and a wallet of their own. */
  const submit = async (...names: string[]) => {
    const [wallet, queue] = [await api.wallet(1000), newId('q')];
    for (const job of names) await api.call('jobs.submit', { wallet, job, queue, price: 10, payload: { of: job } });
    return { wallet, queue };
  };

  test('a command: its exit code says how it went, stdout is the result, what it says beside goes to descriptor 3', async () => {
    const { wallet, queue } = await submit(
      'json',
      'text',
      'none',
      'bad',
      'again',
      'later',
      'wait',
      'price',
      'huge',
      'plain',
    );
    const script = join(folder, `${queue}.sh`);
    await writeFile(
      script,
      `case $RECOUP_JOB in
  json) cat; printf '%s' "$RECOUP_WALLET $RECOUP_ATTEMPT $RECOUP_QUEUE" > ${folder}/${queue} ;;
  text) echo 'not { json' ;;
  none) : ;;
  bad) echo 'the input is wrong' >&2; exit 65 ;;
  again) exit 69 ;;
  later) echo '{"delayMs":3600000,"reason":"busy"}' >&3; exit 75 ;;
  wait) echo '{"retryAfterMs":3000000}' >&3; exit 1 ;;
  price) echo '{"finalPrice":4,"upstreamRef":"ref-${queue}"}' >&3; echo 1 ;;
  huge) head -c 3000000 /dev/zero | tr '\\0' x ;;
  plain) echo nonsense >&3; exit 3 ;;
esac`,
    );
    const worker = work(queue, '--exec', `sh ${script}`);
    const of = (job: string, holds: (job: Json) => boolean) => until1({ wallet, job }, holds);
    const done = (job: Json) => job.state === 'succeeded';
    expect((await of('json', done)).result).toEqual({ of: 'json' });
    expect(readFileSync(`${folder}/${queue}`, 'utf8')).toBe(`${wallet} 1 ${queue}`);
    expect((await of('text', done)).result).toBe('not { json');
    expect((await of('none', done)).result).toBeNull();
    const dead = (job: Json) => job.state === 'dead';
    expect((await of('bad', dead)).job).toMatchObject({
      verdict: 'definitive',
      reason: 'the input is wrong',
      failures: 1,
    });
    const failed = (job: Json) => job.failures === 1 && job.state === 'queued';
    expect((await of('again', failed)).job).toMatchObject({ verdict: 'definitive', reason: 'exit code 69' });
    const released = await of('later', (job) => job.releases === 1);
    expect(released.job).toMatchObject({ failures: 0, state: 'queued' });
    expect(Date.parse(released.job.notBefore) - Date.now()).toBeGreaterThan(3_000_000);
    const waiting = await of('wait', failed);
    expect(Date.parse(waiting.job.notBefore) - Date.now()).toBeGreaterThan(2_000_000);
    expect(waiting.job).toMatchObject({ verdict: 'presumed', reason: 'exit code 1' });
    expect((await of('price', done)).job).toMatchObject({ finalPrice: 4, upstreamRef: `ref-${queue}` });
    expect((await of('huge', dead)).job.reason).toMatch(/larger than 1 MiB/);
    expect((await of('plain', failed)).job.reason).toBe('exit code 3');
    expect(worker.err).toMatch(/file descriptor 3 is no JSON object/);
    expect(worker.err).toContain(`${wallet} json, attempt 1: done`);
    worker.child.kill('SIGTERM');
    expect(await worker.ended, worker.err).toBe(0);
  });

  test('a success stays one: what cannot be kept as JSON is kept as text, at worst as null', async () => {
    const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`;
    const outputs: Record<string, [string, unknown]> = {
      integer: [`echo '{"id": 1234567890123456789}'`, '{"id": 1234567890123456789}'],
      escape: [`printf '%s' '"a\\u0000"'`, '"a\\u0000"'],
      surrogate: [`printf '%s' '"\\ud800"'`, '"\\ud800"'],
      deep: [`echo '${deep}'`, deep],
      nul: [`printf 'a\\000b'`, null],
    };
    const { wallet, queue } = await submit(...Object.keys(outputs));
    const script = join(folder, `${queue}.sh`);
    const cases = Object.entries(outputs).map(([job, [command]]) => `${job}) ${command} ;;`);
    await writeFile(script, `case $RECOUP_JOB in\n${cases.join('\n')}\nesac`);
    const worker = work(queue, '--exec', `sh ${script}`);
    for (const [job, [, result]] of Object.entries(outputs)) {
      const ended = await until1({ wallet, job }, ({ state }) => !['queued', 'running'].includes(state));
      expect([job, ended.job.state, ended.result]).toEqual([job, 'succeeded', result]);
    }
    expect(worker.err).toContain('has a NUL byte');
    worker.child.kill('SIGTERM');
    expect(await worker.ended, worker.err).toBe(0);
  });

  test('a command that exits is done, also where something in the background holds its outputs open', async () => {
    const { wallet, queue } = await submit('j');
    const worker = work(queue, '--exec', `sleep 1000 & echo $! > ${folder}/${queue}; echo '"ok"'; exit 0`);
    try {
      expect((await until1({ wallet, job: 'j' }, ({ state }) => state === 'succeeded')).result).toBe('ok');
      worker.child.kill('SIGTERM');
      expect(await worker.ended, worker.err).toBe(0);
    } finally {
      process.kill(Number(readFileSync(`${folder}/${queue}`, 'utf8')));
    }
  });

  test('a URL: the status says how it went; who the job is stands in headers', async () => {
    const { wallet, queue } = await submit('json', 'text', 'bad', 'busy', 'locked', 'down', 'callback', 'moved');
    const seen: IncomingMessage[] = [];
    const statuses: Record<string, [number, Record<string, string>, string]> = {
      json: [200, { 'content-type': 'application/json', 'recoup-final-price': '3' }, '{"a":1}'],
      text: [201, {}, 'done'],
      bad: [422, {}, 'no'],
      busy: [429, { 'retry-after': '3600' }, ''],
      locked: [401, {}, ''],
      down: [503, { 'retry-after': '3000' }, ''],
      callback: [202, { 'recoup-upstream-ref': `cb-${queue}` }, ''],
      moved: [302, { location: '/' }, ''],
    };
    const upstream = createServer((request, response) => {
      seen.push(request);
      const [status, headers, body] = statuses[String(request.headers['recoup-job'])]!;
      request.resume().on('end', () => response.writeHead(status, headers).end(body));
    });
    await new Promise<void>((done) => upstream.listen(0, '127.0.0.1', done));
    const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}/jobs`;
    const worker = work(queue, '--url', url, '--header', 'authorization: Bearer x');
    const of = (job: string, holds: (job: Json) => boolean) => until1({ wallet, job }, holds);
    const done = (job: Json) => job.state === 'succeeded';
    expect(await of('json', done)).toMatchObject({ result: { a: 1 }, job: { finalPrice: 3 } });
    expect((await of('text', done)).result).toBe('done');
    expect((await of('bad', (job) => job.state === 'dead')).job).toMatchObject({
      verdict: 'definitive',
      reason: 'status 422',
    });
    for (const job of ['busy', 'locked']) {
      const released = await of(job, ({ releases }) => releases === 1);
      expect(Date.parse(released.job.notBefore) - Date.now()).toBeGreaterThan(50_000);
    }
    const down = await of('down', ({ failures }) => failures === 1);
    expect(down.job.verdict).toBe('presumed');
    expect(Date.parse(down.job.notBefore) - Date.now()).toBeGreaterThan(2_000_000);
    expect((await of('callback', ({ state }) => state === 'waiting')).job.upstreamRef).toBe(`cb-${queue}`);
    expect((await of('moved', ({ failures }) => failures === 1)).job.reason).toBe('status 302');
    expect(seen[0]!.headers).toMatchObject({
      authorization: 'Bearer x',
      'recoup-wallet': wallet,
      'recoup-attempt': '1',
    });
    worker.child.kill('SIGTERM');
    expect(await worker.ended, worker.err).toBe(0);
    upstream.close();
  });

  /** A command that tells its process, and that of something it started, and then works on. */
  const stubborn = (name: string) => `trap '' TERM; sleep 1000 & echo $$ $! > ${folder}/${name}; wait; sleep 1000`;
  const pidsOf = async (name: string) => {
    await until(() => existsSync(`${folder}/${name}`) && readFileSync(`${folder}/${name}`, 'utf8').trim() !== '');
    return readFileSync(`${folder}/${name}`, 'utf8').trim().split(' ').map(Number);
  };

  test('canceled, or too slow: the command is ended with all that it started, also where it will not hear', async () => {
    const { wallet, queue } = await submit('j');
    const worker = work(queue, '--exec', stubborn(queue), '--lease-ms', '600', '--grace-ms', '100');
    const pids = await pidsOf(queue);
    await api.call('jobs.cancel', { wallet, job: 'j' });
    await until(() => !pids.some(runs));
    const slow = await submit('j');
    const timed = work(slow.queue, '--exec', stubborn(slow.queue), '--timeout-ms', '300', '--grace-ms', '100');
    const others = await pidsOf(slow.queue);
    const { job } = await until1({ wallet: slow.wallet, job: 'j' }, ({ failures }) => failures === 1);
    expect(job).toMatchObject({ verdict: 'presumed', reason: 'the time-out passed' });
    await until(() => !others.some(runs));
    for (const one of [worker, timed]) {
      one.child.kill('SIGTERM');
      expect(await one.ended, one.err).toBe(0);
    }
  });

  test('SIGTERM lets what runs finish and leases nothing more; a second one gives it back', async () => {
    const { wallet, queue } = await submit('first', 'second');
    const go = join(folder, `${queue}-go`);
    const command = `touch ${folder}/${queue}; while [ ! -e ${go} ]; do sleep 0.05; done; echo '"finished"'`;
    const worker = work(queue, '--exec', command, '--concurrency', '1');
    await until(() => existsSync(`${folder}/${queue}`));
    worker.child.kill('SIGTERM');
    await worker.says(/Stopping: 1 jobs may finish/);
    await writeFile(go, '');
    expect(await worker.ended, worker.err).toBe(0);
    expect((await jobOf({ wallet, job: 'first' })).result).toBe('finished');
    expect((await jobOf({ wallet, job: 'second' })).job).toMatchObject({ state: 'queued', attempt: 0 });

    const hurried = work(queue, '--exec', stubborn(`${queue}-2`), '--grace-ms', '100');
    const pids = await pidsOf(`${queue}-2`);
    hurried.child.kill('SIGTERM');
    await hurried.says(/Stopping/);
    hurried.child.kill('SIGTERM');
    expect(await hurried.ended, hurried.err).toBe(0);
    expect(pids.some(runs)).toBe(false);
    expect((await jobOf({ wallet, job: 'second' })).job).toMatchObject({ state: 'queued', failures: 0, releases: 1 });
  });

  test('before it runs again, a check may find that it was done', async () => {
    const { wallet, queue } = await submit('j');
    const { jobs } = await api.call('queues.lease', { queue });
    const key = { wallet, job: 'j', attempt: jobs[0].job.attempt };
    await api.call('queues.configure', { queue, backoffBaseMs: 0, backoffMaxMs: 0 });
    await api.call('jobs.fail', { ...key, upstreamRef: 'earlier' });
    const worker = work(queue, '--exec', 'exit 65', '--check', `echo "\\"$RECOUP_EARLIER_REF\\""`);
    expect(await until1({ wallet, job: 'j' }, ({ state }) => state === 'succeeded')).toMatchObject({
      result: 'earlier',
      job: { succeededAttempt: 1 },
    });
    worker.child.kill('SIGINT');
    expect(await worker.ended, worker.err).toBe(0);
  });
});

test('what can never work ends at once', { timeout: 60_000 }, async () => {
  const env = { DATABASE_URL: api.db.url };
  for (const argv of [
    ['--exec', 'true'],
    ['--queue', 'q'],
    ['--queue', 'q', '--exec', 'true', '--url', 'http://x'],
    ['--queue', 'q', '--url', 'ftp://x'],
    ['--queue', 'q', '--url', 'http://x', '--header', 'no colon'],
    ['--queue', 'q', '--exec', 'true', '--concurrency', '0'],
    ['--queue', '..', '--exec', 'true'],
  ]) {
    expect(await cli(['work', ...argv], env), argv.join(' ')).toMatchObject({ code: 2, out: '' });
  }
  expect(
    await cli(['work', '--queue', 'q', '--exec', 'true'], { DATABASE_URL: 'postgres://127.0.0.1:1/none' }),
  ).toMatchObject({ code: 7 });
  const guarded = await Api.start({ requireKeys: true });
  const refused = new CliProcess(['work', '--queue', 'q', '--exec', 'true'], {
    RECOUP_SERVER: guarded.service.url,
    RECOUP_KEY: 'no',
  });
  expect(await refused.ended).toBe(3);
  expect(refused.err).toContain('(unauthorized)');
  await guarded.close();
});

test('an import that is killed in the middle and repeated leaves what one import would have', async () => {
  const path = join(folder, 'many.csv');
  const rows = Array.from({ length: 20_000 }, (_, n) => `killed-${n},c-${n % 7},${(n % 100) - 10}`);
  await writeFile(path, `wallet,customer,balance\n${rows.join('\n')}\n`);
  const killed = new CliProcess(['import', 'balances', path], { DATABASE_URL: api.db.url });
  const there = async () =>
    Number((await api.db.query(`select count(*)::int as n from recoup.entries where wallet_id like 'killed-%'`))[0]!.n);
  await until(async () => (await there()) > 0);
  killed.child.kill('SIGKILL');
  expect(await killed.ended).toBe('SIGKILL');
  const before = await there();
  const again = await cli(['--json', 'import', 'balances', path], { DATABASE_URL: api.db.url });
  const { granted, adjusted, duplicates, empty } = JSON.parse(again.out);
  expect({ before, duplicates }).toEqual({ before: expect.any(Number), duplicates: before });
  expect(before).toBeLessThan(19_800);
  expect(granted + adjusted + duplicates + empty).toBe(20_000);
  expect((await cli(['import', 'compare', path], { DATABASE_URL: api.db.url })).code).toBe(0);
  expect(await there()).toBe(19_800);
});
