// What a provider of webhooks is: how its request proves itself, and what its payload says of a job.

/** A webhook as it came. */
export interface Hook {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** What a payload says. It names the job by `upstreamRef`, unless the URL has named it. */
export type Report =
  | { kind: 'succeeded'; upstreamRef?: string; result?: unknown; finalPrice?: number }
  | { kind: 'failed'; upstreamRef?: string; reason: string; retryable: boolean; retryAfterMs?: number }
  /** Nothing that ends a job: progress, a start. */
  | { kind: 'progress'; upstreamRef?: string };

export interface Provider {
  readonly name: string;
  /** Throws where a configured secret or key cannot be one. */
  checkSecret(secret: string): void;
  /** Whether its requests carry a signature that can be verified with what is configured (`signed`), or never do. */
  readonly signs: boolean;
  /** Throws `bad_signature`. `secrets`: what is configured, any one of them may fit, so that secrets can be rotated. */
  verify(hook: Hook, secrets: readonly string[]): void;
  /** Throws InvalidInput where the payload is not one of this provider's. `named`: the URL has named the job already. */
  read(payload: Record<string, unknown>, named: boolean): Report;
}
