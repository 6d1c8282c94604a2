// Lane: webhooks whose payloads lie and whose signatures are nearly right.
import { createHash, sign } from 'node:crypto';
import fc, { type Arbitrary } from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { type Lane, lane } from './hold.ts';
import { Broken, judgeAnswer } from './judge.ts';
import { shown } from './requests.ts';
import type { Stand } from './stand.ts';
import { hostile, textOf } from './values.ts';
import { send } from './wire.ts';

type Provider = 'generic' | 'replicate' | 'fal' | 'runpod';
type Signing = 'right' | 'none' | 'old' | 'other body' | 'other key' | 'twice' | 'garbage';

interface Hook {
  path: string;
  provider: Provider;
  body: string;
  signing: Signing;
  /** Whether the address proves what it may: a URL of ours, as it is, or none at all. */
  token: 'none' | 'ours' | 'tampered';
}

const FIELDS: Record<Provider, Record<string, readonly string[]>> = {
  generic: {
    upstreamRef: ['"ref-w1"', '"ref-w2"', '"ref-none"'],
    status: ['"succeeded"', '"failed"', '"progress"'],
    result: ['{"n":1}'],
    finalPrice: ['5', '0'],
    reason: ['"no"'],
    retryable: ['true', 'false'],
    retryAfterMs: ['1'],
  },
  replicate: {
    id: ['"ref-w1"', '"ref-a/b"', '"ref-none"'],
    status: ['"succeeded"', '"failed"', '"canceled"', '"processing"', '"aborted"'],
    output: ['["x"]'],
    error: ['"no"', 'null'],
  },
  fal: {
    request_id: ['"ref-w1"', '"ref-w2"', '"ref-none"'],
    status: ['"OK"', '"ERROR"'],
    payload: ['{}', 'null'],
    error: ['"no"'],
    payload_error: ['"large"'],
  },
  runpod: {
    id: ['"run-1"'],
    status: ['"COMPLETED"', '"FAILED"', '"CANCELLED"', '"IN_QUEUE"', '"TIMED_OUT"'],
    output: ['{}'],
    error: ['"no"'],
  },
};

function payload(provider: Provider): Arbitrary<string> {
  const fields = Object.entries(FIELDS[provider]).map(([name, good]) => {
    const value = fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...good) }, { weight: 1, arbitrary: hostile });
    return fc.option(value, { freq: 8 }).map((text) => (text === null ? [] : [[name, text] as [string, string]]));
  });
  const right = fc.tuple(...fields).map((parts) => textOf(parts.flat()));
  const nearly = right.map((text) => `\ufeff${text}`);
  return fc.oneof(
    { weight: 15, arbitrary: right },
    { weight: 1, arbitrary: nearly },
    { weight: 1, arbitrary: hostile },
    { weight: 1, arbitrary: fc.constantFrom('', ' ', '[]', 'null', '{') },
  );
}

const TAMPERING: ((token: string) => string)[] = [
  (token) => token.slice(0, -1),
  (token) => `${token}x`,
  (token) => `${token}.${token.split('.')[1]}`,
  (token) => token.replace('.', '..'),
  (token) => `${token}=`,
  (token) => token.split('.')[0]!,
  (token) => `.${token.split('.')[1]}`,
  (token) => `${Buffer.from('["runpod","w2","dead",null,9999999999999]').toString('base64url')}.${token.split('.')[1]}`,
  () => '.',
  (token) => token.toUpperCase(),
];

function headersOf({ provider, body, signing }: Hook, stand: Stand): [string, string][] {
  if (signing === 'none' || provider === 'runpod') return [];
  const at = new Date(Date.now() - (signing === 'old' ? 600_000 : 0));
  const seconds = String(Math.floor(at.getTime() / 1000));
  const signed = signing === 'other body' ? `${body} ` : body;
  if (provider === 'fal') {
    const digest = createHash('sha256').update(signed).digest('hex');
    const signature =
      signing === 'garbage'
        ? 'zz'.repeat(64)
        : sign(null, Buffer.from(['r', 'u', seconds, digest].join('\n')), stand.fal).toString('hex');
    const altered =
      signing === 'other key' ? signature.replace(/^../, signature.startsWith('00') ? '01' : '00') : signature;
    const headers: [string, string][] = [
      ['x-fal-webhook-request-id', 'r'],
      ['x-fal-webhook-user-id', 'u'],
      ['x-fal-webhook-timestamp', seconds],
      ['x-fal-webhook-signature', altered],
    ];
    return signing === 'twice' ? [...headers, ['x-fal-webhook-signature', altered]] : headers;
  }
  const secret = signing === 'other key' ? `whsec_${Buffer.alloc(24).toString('base64')}` : stand.standardSecret;
  const signature = signing === 'garbage' ? 'v1,%%%' : new Webhook(secret).sign('m', at, signed);
  const headers: [string, string][] = [
    ['webhook-id', 'm'],
    ['webhook-timestamp', seconds],
    ['webhook-signature', signature],
  ];
  return signing === 'twice' ? [...headers, ['webhook-timestamp', '1']] : headers;
}

export function webhookLane(stand: Stand): Lane {
  const cases = fc.constantFrom<Provider[]>('generic', 'replicate', 'fal', 'runpod').chain((provider) => {
    const own = stand.tokens.filter((path) => path.includes(`/${provider}/`));
    const tampered = fc
      .tuple(fc.constantFrom(...own), fc.constantFrom(...TAMPERING))
      .map(([path, tamper]) => path.replace(/[^/]+$/, (token) => encodeURIComponent(tamper(token))));
    const elsewhere = fc
      .constantFrom(...stand.tokens.filter((path) => !own.includes(path)))
      .map((path) => `/v1/webhooks/${provider}/${path.split('/').at(-1)}`);
    const address = fc.oneof(
      fc.constant({ path: `/v1/webhooks/${provider}`, token: 'none' as const }),
      fc.constantFrom(...own).map((path) => ({ path, token: 'ours' as const })),
      fc.oneof(tampered, elsewhere).map((path) => ({ path, token: 'tampered' as const })),
    );
    const signing = fc.constantFrom<Signing[]>(
      'right',
      'right',
      'right',
      'right',
      'none',
      'old',
      'other body',
      'other key',
      'twice',
      'garbage',
    );
    return fc
      .tuple(address, payload(provider), signing)
      .map(([at, body, how]): Hook => ({ ...at, provider, body, signing: how }));
  });
  const bytesOf = (hook: Hook) => {
    const headers = headersOf(hook, stand).map(([name, value]) => `${name}: ${value}\r\n`);
    return Buffer.from(
      `POST ${hook.path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(hook.body)}\r\n${headers.join('')}\r\n${hook.body}`,
    );
  };
  const check = async (hook: Hook) => {
    const before = await stand.digest();
    const heard = await send(stand.url, { pieces: [[bytesOf(hook), 0]], end: 'leave', patienceMs: 10_000 });
    const [answer] = heard.answers;
    if (!answer) throw new Broken('no answer in time');
    const code = judgeAnswer(answer, stand);
    // RunPod signs nothing: its address is the proof, and nothing else is.
    const proven =
      hook.provider === 'runpod' ? hook.token === 'ours' : hook.signing === 'right' && hook.token !== 'tampered';
    if (!proven && answer.status < 400) throw new Broken(`taken without proof: ${answer.body}`);
    if (code && (await stand.digest()) !== before) throw new Broken(`refused as ${code}, and something was changed`);
  };
  return lane(
    'webhooks',
    cases,
    check,
    (hook) => `${shown(bytesOf(hook))}\n(signature: ${hook.signing}, address: ${hook.token})`,
  );
}
