// Webhooks of providers settle jobs directly: real shapes, real signatures, forgeries, repeats, late ones, signed URLs.
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, Api, type Json, newId } from './support/api.ts';

const fixture = (name: string): Json =>
  JSON.parse(readFileSync(new URL(`fixtures/${name}.json`, import.meta.url), 'utf8'));
const secret = () => `whsec_${randomBytes(24).toString('base64')}`;
const secrets = { replicate: secret(), generic: secret(), old: secret() };
const falKeys = generateKeyPairSync('ed25519');
const strangers = generateKeyPairSync('ed25519');
const x = falKeys.publicKey.export({ format: 'jwk' }).x!;
const otherX = strangers.publicKey.export({ format: 'jwk' }).x!;

let api: Api;
beforeAll(async () => {
  // Keys are asked for: webhooks carry none.
  api = await Api.start({
    requireKeys: true,
    webhookSecrets: { replicate: [secrets.old, secrets.replicate], generic: [secrets.generic], fal: [otherX, x] },
  });
  api.use((await api.service.keys.create({ name: 'root', scopes: ['admin'] })).secret);
});
afterAll(async () => {
  expect((await api.service.recoup.verify()).problems).toEqual([]);
  await api.close();
});

type Headers = Record<string, string>;
const now = () => Math.floor(Date.now() / 1000);

function standardHeaders(key: string, body: string, at = now()): Headers {
  const id = newId('msg');
  const signature = new Webhook(key).sign(id, new Date(at * 1000), body);
  return { 'webhook-id': id, 'webhook-timestamp': String(at), 'webhook-signature': signature };
}

function falHeaders(body: string, at = now(), key = falKeys.privateKey): Headers {
  const [id, user] = ['5b1f0e62', 'user-1'];
  const digest = createHash('sha256').update(body).digest('hex');
  const signature = sign(null, Buffer.from(`${id}\n${user}\n${at}\n${digest}`), key).toString('hex');
  return {
    'x-fal-webhook-request-id': id!,
    'x-fal-webhook-user-id': user!,
    'x-fal-webhook-timestamp': String(at),
    'x-fal-webhook-signature': signature,
  };
}

/** As a provider posts it: without a key of ours. */
const post = (path: string, body: string, headers: Headers = {}): Promise<Answer> =>
  api.send('POST', path, body, { authorization: '', ...headers });

const ofProvider = {
  replicate: {
    fields: { ok: {}, failed: { status: 'failed', error: 'CUDA out of memory', output: null } },
    ref: 'id',
    headers: (body: string) => standardHeaders(secrets.replicate, body),
  },
  generic: {
    fields: { ok: {}, failed: { status: 'failed', reason: 'CUDA out of memory' } },
    ref: 'upstreamRef',
    headers: (body: string) => standardHeaders(secrets.generic, body),
  },
  fal: {
    fields: { ok: {}, failed: { status: 'ERROR', error: 'CUDA out of memory', payload: null } },
    ref: 'request_id',
    headers: (body: string) => falHeaders(body),
  },
} as const;

/** A job that was handed over to a provider under a reference of its own. */
async function handedOver(price = 40) {
  const running = await api.running(price);
  const upstreamRef = `${newId('ref')}-${running.wallet}`;
  const { queue: _, ...key } = running;
  await api.call('jobs.handOver', { ...key, upstreamRef });
  return { ...key, upstreamRef };
}
const jobOf = async ({ wallet, job }: { wallet: string; job: string }) => api.call('jobs.get', { wallet, job });

describe.each(Object.entries(ofProvider))('%s', (name, { fields, ref, headers }) => {
  const path = `/v1/webhooks/${name}`;
  const body = (upstreamRef: string, more: object = {}) =>
    JSON.stringify({ ...fixture(name), [ref]: upstreamRef, ...more });

  test('success: the job succeeds with its result; repeats are duplicates', async () => {
    const job = await handedOver();
    const text = body(job.upstreamRef);
    const answer = await post(path, text, headers(text));
    expect(answer).toMatchObject({ status: 200, body: { outcome: 'succeeded', wallet: job.wallet, job: job.job } });
    expect(await post(path, text, headers(text))).toMatchObject({ status: 200, body: { outcome: 'duplicate' } });
    const { job: done, result } = await jobOf(job);
    const { output, payload, result: own } = fixture(name);
    expect(done).toMatchObject({ state: 'succeeded', succeededAttempt: 1, finalPrice: name === 'generic' ? 25 : null });
    expect(result).toEqual(output ?? payload ?? own);
  });

  test('failure: refunded and retried, definitive; a success afterwards reclaims', async () => {
    const job = await handedOver();
    const failed = body(job.upstreamRef, fields.failed);
    expect(await post(path, failed, headers(failed))).toMatchObject({ body: { outcome: 'retrying' } });
    expect((await jobOf(job)).job).toMatchObject({ verdict: 'definitive', reason: 'CUDA out of memory', failures: 1 });
    expect(await post(path, failed, headers(failed))).toMatchObject({ body: { outcome: 'duplicate' } });
    const late = body(job.upstreamRef);
    expect(await post(path, late, headers(late))).toMatchObject({ status: 200, body: { outcome: 'reclaimed' } });
  });

  test('a success of a job that was canceled is taken note of, and takes nothing', async () => {
    const job = await handedOver();
    await api.call('jobs.cancel', { wallet: job.wallet, job: job.job });
    const text = body(job.upstreamRef);
    expect(await post(path, text, headers(text))).toMatchObject({ status: 200, body: { outcome: 'canceled' } });
    expect((await api.call('wallets.balance', { wallet: job.wallet })).booked).toBe(100);
  });

  test('a reference that nobody carries (yet) is 404, so that it is sent again', async () => {
    const text = body(newId('unknown'));
    expect(await post(path, text, headers(text))).toMatchObject({ status: 404, body: { code: 'no_job' } });
  });

  test('forgeries, another body, old signatures and no signature are refused, and nothing changes', async () => {
    const job = await handedOver();
    const text = body(job.upstreamRef);
    const right = headers(text);
    const old =
      name === 'fal' ? falHeaders(text, now() - 400) : standardHeaders(secrets[name as 'generic'], text, now() - 400);
    const stranger = name === 'fal' ? falHeaders(text, now(), strangers.privateKey) : standardHeaders(secret(), text);
    if (name === 'fal') stranger['x-fal-webhook-timestamp'] = String(now() + 1);
    const cases: [string, Headers][] = [
      [text, {}],
      [text.replace(/"status"/, ' "status"'), right],
      [text, old],
      [text, stranger],
      ...Object.keys(right).map((one): [string, Headers] => [text, { ...right, [one]: '' }]),
      ...Object.keys(right).map((one): [string, Headers] => [text, { ...right, [one]: `${right[one]}0` }]),
    ];
    for (const [given, sent] of cases) {
      expect(await post(path, given, sent)).toMatchObject({ status: 401, body: { code: 'bad_signature' } });
    }
    expect((await jobOf(job)).job.state).toBe('waiting');
  });

  test('a payload of another shape is refused with the field', async () => {
    const job = await handedOver();
    for (const [more, field] of [
      [{ status: 'confused' }, 'status'],
      [{ [ref]: 7 }, ref],
      [{ [ref]: '' }, ref],
    ] as const) {
      const text = body(job.upstreamRef, more);
      expect(await post(path, text, headers(text))).toMatchObject({ status: 400, body: { code: 'invalid', field } });
    }
  });

  test('a result with a key that only looks dangerous is kept, and settles the job', async () => {
    const job = await handedOver();
    const odd = JSON.parse('{"__proto__":{"a":1},"constructor":{"prototype":2}}') as object;
    const text = body(job.upstreamRef, ref === 'upstreamRef' ? { result: odd } : { output: odd, payload: odd });
    expect(await post(path, text, headers(text))).toMatchObject({ status: 200, body: { outcome: 'succeeded' } });
    expect(JSON.stringify((await jobOf(job)).result)).toBe(JSON.stringify(odd));
  });

  test('a result that cannot be stored does not keep the money from being right', async () => {
    const job = await handedOver();
    // The generic one is of our own words and takes no other fields.
    const bad = 'x\u0000';
    const text = body(job.upstreamRef, ref === 'upstreamRef' ? { result: bad } : { output: bad, payload: bad });
    expect(await post(path, text, headers(text))).toMatchObject({ status: 200, body: { outcome: 'succeeded' } });
    expect((await jobOf(job)).result.omitted).toContain('U+0000');
  });
});

test('what a provider sends before the end is ignored', async () => {
  const job = await handedOver();
  for (const status of ['starting', 'processing']) {
    const text = JSON.stringify({ ...fixture('replicate'), id: job.upstreamRef, status, output: null });
    expect(await post('/v1/webhooks/replicate', text, standardHeaders(secrets.old, text))).toMatchObject({
      status: 200,
      body: { outcome: 'ignored' },
    });
  }
  expect((await jobOf(job)).job.state).toBe('waiting');
});

test('what was canceled there is dead here: a person decides', async () => {
  const job = await handedOver();
  const text = JSON.stringify({ ...fixture('replicate'), id: job.upstreamRef, status: 'canceled', output: null });
  expect(await post('/v1/webhooks/replicate', text, standardHeaders(secrets.replicate, text))).toMatchObject({
    body: { outcome: 'dead' },
  });
});

test('fal says what was wrong', async () => {
  const job = await handedOver();
  const text = JSON.stringify({ ...fixture('fal-error'), request_id: job.upstreamRef });
  expect(await post('/v1/webhooks/fal', text, falHeaders(text))).toMatchObject({ body: { outcome: 'retrying' } });
  expect((await jobOf(job)).job.reason).toBe('Invalid status code: 422');
});

test('a secret or key that cannot be one is refused at the start', async () => {
  for (const webhookSecrets of [{ fal: ['short'] }, { replicate: [''] }, { generic: ['%'] }]) {
    const field = `webhookSecrets.${Object.keys(webhookSecrets)[0]}`;
    await expect(Api.replica(api.db, { webhookSecrets })).rejects.toMatchObject({
      code: 'invalid',
      details: { field },
    });
  }
});

describe('a signed URL', () => {
  const runpod = (more: object = {}) => JSON.stringify({ ...fixture('runpod'), ...more });
  const sign = async (job: { wallet: string; job: string; attempt?: number }, more: object = {}) => {
    const { wallet, job: id, attempt } = job;
    return (await api.call('callbacks.sign', { wallet, job: id, attempt, provider: 'runpod', ...more })).path as string;
  };

  test('lets a provider that signs nothing report its job, on every replica', async () => {
    const job = await handedOver();
    const path = await sign(job);
    const other = await Api.replica(api.db, { requireKeys: true });
    const init = { method: 'POST', body: runpod(), headers: { 'content-type': 'application/json' } };
    const there = await fetch(`${other.url}${path}`, init);
    expect(await there.json()).toMatchObject({ outcome: 'succeeded', job: job.job });
    await other.close();
    expect(await post(path, runpod())).toMatchObject({ status: 200, body: { outcome: 'duplicate' } });
    expect((await jobOf(job)).result).toEqual(fixture('runpod').output);
  });

  test('the end of an earlier attempt is stale; without an attempt in it the reference says which', async () => {
    const job = await handedOver();
    const path = await sign(job);
    const anyAttempt = await sign({ wallet: job.wallet, job: job.job });
    const failed = runpod({ id: job.upstreamRef, status: 'FAILED', error: 'boom', output: undefined });
    expect(await post(path, failed)).toMatchObject({ body: { outcome: 'retrying' } });
    expect(await post(anyAttempt, failed)).toMatchObject({ body: { outcome: 'duplicate' } });
    expect((await jobOf(job)).job.reason).toBe('boom');
  });

  test('one that is changed, of another provider, or expired is refused', async () => {
    const job = await handedOver();
    const other = await handedOver();
    const path = await sign(job);
    const [claim, mac] = path.slice('/v1/webhooks/runpod/'.length).split('.') as [string, string];
    const forged = Buffer.from(JSON.stringify(['runpod', other.wallet, other.job, null, Date.now() + 60_000])).toString(
      'base64url',
    );
    const gone = await sign(job, { expiresInMs: 1000 });
    await new Promise((done) => setTimeout(done, 1100));
    const bad = [
      `/v1/webhooks/runpod/${forged}.${mac}`,
      `/v1/webhooks/runpod/${claim}.${mac.slice(0, -2)}`,
      `/v1/webhooks/runpod/${claim}`,
      '/v1/webhooks/runpod/x',
      path.replace('/runpod/', '/generic/'),
      '/v1/webhooks/runpod',
      gone,
    ];
    for (const one of bad) {
      expect(await post(one, runpod()), one).toMatchObject({ status: 401, body: { code: 'bad_signature' } });
    }
    expect((await jobOf(job)).job.state).toBe('waiting');
    expect((await jobOf(other)).job.state).toBe('waiting');
    expect(await post('/v1/webhooks/stripe', '{}')).toMatchObject({ status: 400, body: { field: 'provider' } });
  });

  test('where a signature can be verified the URL alone is not enough', async () => {
    const job = await handedOver();
    const path = await sign(job, { provider: 'generic' });
    // The URL names the job: its reference may be left out.
    const text = JSON.stringify({ ...fixture('generic'), finalPrice: undefined, upstreamRef: undefined });
    const refused = await post(path, text);
    expect(refused).toMatchObject({ status: 401, body: { code: 'bad_signature', instance: '/v1/webhooks/generic/…' } });
    expect(JSON.stringify(refused.body)).not.toContain(path.split('/').at(-1));
    expect(refused.body.detail).toContain('must be signed with it as well');
    expect(await post(path, text, standardHeaders(secrets.generic, text))).toMatchObject({
      body: { outcome: 'succeeded' },
    });
  });

  test('a field of our own sender that is misspelt is refused by name, and the job waits on', async () => {
    const job = await handedOver();
    const path = await sign(job, { provider: 'generic' });
    const { finalPrice, ...rest } = fixture('generic');
    const text = JSON.stringify({ ...rest, final_price: finalPrice });
    expect(await post(path, text, standardHeaders(secrets.generic, text))).toMatchObject({
      status: 400,
      body: { code: 'invalid', field: 'final_price' },
    });
    expect((await jobOf(job)).job.state).toBe('waiting');
  });

  test('is not given for a job that is not there', () =>
    api.refused('callbacks.sign', 'no_job', { wallet: 'w', job: 'j', provider: 'runpod' }));
});
