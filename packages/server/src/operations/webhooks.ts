// Operations of providers: their webhooks settle a job directly, found by upstream_ref or named by a signed URL.
import Type from 'typebox';
import { PROVIDERS, type ProviderName } from '../webhooks/callbacks.ts';
import { type Operation, operation } from './operation.ts';
import * as s from './schemas.ts';

const NAMES = Object.keys(PROVIDERS) as ProviderName[];
const provider = s.oneOf(NAMES, 'Who sends it.');
const DAY_MS = 86_400_000;
const payload = Type.Object({}, { additionalProperties: true, description: 'As the provider documents it.' });
const Settled = s.fields(
  {
    outcome: Type.String({ description: 'The outcome of job.succeed or job.fail; `ignored` where nothing ended.' }),
    wallet: Type.String(),
    job: Type.String(),
  },
  { title: 'WebhookSettled' },
);
const ERRORS = [
  'bad_signature',
  'no_job',
  'pruned',
  'conflict',
  'attempt_required',
  'balance_limit',
  'wallet_busy',
] as const;
const NOTHING = { headers: {}, body: Buffer.alloc(0) };

export const webhooks: readonly Operation[] = [
  operation({
    name: 'callbacks.sign',
    summary: 'A callback URL for one job, signed: give it to a provider that signs nothing',
    scopes: ['app', 'worker'],
    method: 'POST',
    path: '/v1/wallets/{wallet}/jobs/{job}/callback-url',
    params: s.jobKey,
    query: s.none,
    body: s.fields({
      provider,
      attempt: s.optional(s.attempt),
      expiresInMs: s.optional(s.durationMs('A week unless set.', 1000)),
    }),
    output: s.fields({
      path: Type.String(),
      url: s.orNull(Type.String({ description: 'Complete, where the public URL of the server is configured.' })),
      expiresAt: s.instant(),
    }),
    errors: ['no_job'],
    writes: false,
    run: async ({ recoup, callbacks }, { provider, expiresInMs, ...target }) => {
      // A URL for a job that is not there would only be found out by its provider.
      await recoup.jobs.get({ wallet: target.wallet, job: target.job });
      return callbacks.sign(provider, target, expiresInMs ?? 7 * DAY_MS);
    },
  }),
  operation({
    name: 'webhooks.take',
    summary: 'The webhook of a provider that signs: the job is found by its upstream_ref',
    scopes: 'signature',
    method: 'POST',
    path: '/v1/webhooks/{provider}',
    params: s.fields({ provider }),
    query: s.none,
    body: payload,
    output: Settled,
    errors: ERRORS,
    run: ({ callbacks, raw }, { provider }) => callbacks.take(provider, raw ?? NOTHING),
  }),
  operation({
    name: 'webhooks.takeSigned',
    summary: 'A webhook at a signed URL: the URL names the job',
    scopes: 'signature',
    method: 'POST',
    path: '/v1/webhooks/{provider}/{token}',
    params: s.fields({ provider, token: Type.String({ maxLength: 8000 }) }),
    query: s.none,
    body: payload,
    output: Settled,
    errors: ERRORS,
    run: ({ callbacks, raw }, { provider, token }) => callbacks.take(provider, raw ?? NOTHING, token),
  }),
];
