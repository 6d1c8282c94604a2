// Callbacks: signed URLs that name an attempt, the job behind an upstream_ref, and what a webhook does to it.
import { InvalidInput, type Recoup, Refusal } from 'recoup';
import { Signing } from '../keys/signing.ts';
import { fal } from './fal.ts';
import { generic } from './generic.ts';
import type { Hook, Provider, Report } from './provider.ts';
import { replicate } from './replicate.ts';
import { runpod } from './runpod.ts';

export const PROVIDERS = { generic, replicate, fal, runpod } as const satisfies Record<string, Provider>;
export type ProviderName = keyof typeof PROVIDERS;

/** What verifies the webhooks of each provider: secrets (`whsec_…`), for fal public keys. Several, for rotation. */
export type WebhookSecrets = Partial<Record<ProviderName, readonly string[]>>;

interface Target {
  wallet: string;
  job: string;
  attempt?: number;
}

export interface Settled {
  /** The transition's outcome; `ignored` where nothing ended; `canceled` where the job had been given up. */
  outcome: string;
  wallet: string;
  job: string;
}

/** A webhook whose job is not here: the reference was not recorded yet, or the job was lost in a restore. */
export interface UnknownJob {
  provider: ProviderName;
  /** Null where a signed URL alone names the job. */
  upstreamRef: string | null;
  /** What a signed URL names; null without one. */
  wallet: string | null;
  job: string | null;
}

const PATH = '/v1/webhooks';

export class Callbacks {
  readonly #recoup: Recoup;
  readonly #secrets: WebhookSecrets;
  readonly #publicUrl: string | null;
  readonly #onUnknown: (unknown: UnknownJob) => void;
  readonly #signing: Signing;

  constructor(
    recoup: Recoup,
    options: { secrets?: WebhookSecrets; publicUrl?: string; onUnknown?: (unknown: UnknownJob) => void } = {},
  ) {
    this.#recoup = recoup;
    this.#signing = new Signing(recoup, 'callbacks');
    this.#secrets = checked(options.secrets ?? {});
    this.#publicUrl = options.publicUrl?.replace(/\/+$/, '') ?? null;
    this.#onUnknown = options.onUnknown ?? (() => {});
  }

  /**
   * Makes the signing key where there is none yet. When a service starts, not at the first URL: a backup of in between
   * would not know the key of URLs that are out.
   */
  async prepare(): Promise<void> {
    await this.#signing.sign('');
  }

  /** The one job, and the attempt, that carries an upstream's reference. Refuses `no_job`, and `conflict` where there are several. */
  async find(upstreamRef: string): Promise<Required<Target>> {
    const found = await this.#recoup.jobs.byUpstreamRef(upstreamRef);
    const [first] = found;
    if (!first) throw new Refusal('no_job', 'No job carries this upstream_ref.', { upstreamRef });
    if (found.some(({ job }) => job.id !== first.job.id || job.wallet !== first.job.wallet)) {
      throw new Refusal('conflict', 'Several jobs carry this upstream_ref: name the job.', { upstreamRef });
    }
    return { wallet: first.job.wallet, job: first.job.id, attempt: first.attempt };
  }

  /** A URL that lets its holder report one job (or one attempt of it) until it expires, and nothing else. */
  async sign(provider: ProviderName, target: Target, expiresInMs: number) {
    const expiresAt = new Date(Date.now() + expiresInMs);
    const claim = [provider, target.wallet, target.job, target.attempt ?? null, expiresAt.getTime()];
    const text = Buffer.from(JSON.stringify(claim)).toString('base64url');
    const path = `${PATH}/${provider}/${await this.#signing.seal(text)}`;
    return { path, url: this.#publicUrl === null ? null : `${this.#publicUrl}${path}`, expiresAt };
  }

  /** Takes a webhook: proves it, reads it, settles its job. A repeat gets `duplicate`. */
  async take(name: ProviderName, hook: Hook, token?: string): Promise<Settled> {
    const provider = PROVIDERS[name];
    const signedFor = token === undefined ? undefined : await this.#open(name, token);
    const secrets = this.#secrets[name] ?? [];
    // A signature is asked for wherever it can be verified; a signed URL alone is enough where it cannot.
    if (signedFor === undefined || (provider.signs && secrets.length > 0))
      prove(provider, hook, secrets, token !== undefined);
    // The payload as it came: what the address says is not mixed into it.
    const report = provider.read(payloadOf(hook), signedFor !== undefined);
    try {
      const target = signedFor ?? (await this.find(report.upstreamRef!));
      return { outcome: await this.#apply(target, report), wallet: target.wallet, job: target.job };
    } catch (error) {
      if (error instanceof Refusal && error.code === 'no_job') {
        const { wallet = null, job = null } = signedFor ?? {};
        this.#onUnknown({ provider: name, upstreamRef: report.upstreamRef ?? null, wallet, job });
      }
      throw error;
    }
  }

  async #apply(target: Target, report: Report): Promise<string> {
    if (report.kind === 'progress') return 'ignored';
    if (report.kind === 'failed') {
      const { kind, ...rest } = report;
      const attempt = target.attempt === undefined ? await this.#attemptOf(target, report.upstreamRef) : {};
      return (await this.#recoup.jobs.fail({ ...target, ...attempt, ...rest, verdict: 'definitive' })).outcome;
    }
    const { kind, result, ...rest } = report;
    try {
      return await this.#succeed({ ...target, ...rest, result });
    } catch (error) {
      // The work is done and its money is due, whether or not its result can be stored here.
      if (!(error instanceof InvalidInput) || !/^result\b/.test(String(error.details.field))) throw error;
      return this.#succeed({ ...target, ...rest, result: { omitted: error.message } });
    }
  }

  /** The attempt of this job that carries a reference, where a signed URL names none. */
  async #attemptOf({ wallet, job }: Target, upstreamRef: string | undefined): Promise<{ attempt?: number }> {
    if (upstreamRef === undefined) return {};
    const found = await this.#recoup.jobs.byUpstreamRef(upstreamRef);
    const own = found.find((one) => one.job.wallet === wallet && one.job.id === job);
    return own ? { attempt: own.attempt } : {};
  }

  async #succeed(input: Parameters<Recoup['jobs']['succeed']>[0]): Promise<string> {
    try {
      return (await this.#recoup.jobs.succeed(input)).outcome;
    } catch (error) {
      // Final: a sender that repeats it would only hear it again.
      if (error instanceof Refusal && error.code === 'canceled') return 'canceled';
      throw error;
    }
  }

  async #open(provider: ProviderName, token: string): Promise<Target> {
    const text = await this.#signing.open(token);
    if (text !== undefined) {
      const claim = JSON.parse(Buffer.from(text, 'base64url').toString()) as [
        string,
        string,
        string,
        number | null,
        number,
      ];
      const [of, wallet, job, attempt, expires] = claim;
      if (of === provider && Date.now() < expires) return { wallet, job, ...(attempt === null ? {} : { attempt }) };
    }
    throw new Refusal('bad_signature', 'The callback URL is not one of ours, or it has expired.');
  }
}

/** Says what is missing beside the signature that fits: no secret to verify it with, or that the URL alone is not enough. */
function prove(provider: Provider, hook: Hook, secrets: readonly string[], byUrl: boolean): void {
  try {
    provider.verify(hook, secrets);
  } catch (error) {
    if (!(error instanceof Refusal) || !provider.signs) throw error;
    if (secrets.length === 0)
      throw new Refusal('bad_signature', `This server has no secret of ${provider.name} to verify a signature with.`);
    if (!byUrl) throw error;
    const message = `A secret of ${provider.name} is set here: a post to a signed URL must be signed with it as well.`;
    throw new Refusal('bad_signature', message);
  }
}

/** The body as it was signed, read once more: that it is a JSON object was seen at the door, unless there was none. */
function payloadOf({ body }: Hook): Record<string, unknown> {
  // A byte order mark is no JSON, though the door puts up with one.
  const text = body.toString().replace(/^\ufeff/, '');
  const payload: unknown = text === '' ? undefined : JSON.parse(text);
  if (typeof payload !== 'object' || payload === null) throw new InvalidInput('body', 'must be a JSON object');
  return payload as Record<string, unknown>;
}

/** Refuses a secret that cannot be one when the server starts, not when a webhook comes. */
function checked(secrets: WebhookSecrets): WebhookSecrets {
  for (const [name, values] of Object.entries(secrets)) {
    for (const value of values) {
      try {
        PROVIDERS[name as ProviderName].checkSecret(value);
      } catch {
        throw new InvalidInput(
          `webhookSecrets.${name}`,
          'must hold secrets (base64, whsec_…), for fal public keys (x)',
        );
      }
    }
  }
  return secrets;
}
