// Asks about one block: the prober of its pool, within its time; what it used is booked, what it found is recorded.
import type { Runner } from '../db/runner.ts';
import { scopesInput } from '../upstreams/inputs.ts';
import { type Decoding, Reporting } from '../upstreams/reporting.ts';
import { bookUse } from '../upstreams/uses.ts';
import { answerProbe } from './answer.ts';
import type { ClaimedRow } from './claim.ts';
import type { HttpProbe } from './http.ts';
import type { ProbeQuestion, Prober, ProbeSaid } from './inputs.ts';
import { type Verdict, verdictOf } from './verdict.ts';

/** Sends the request of a pool that is asked over HTTP; the service has one. */
export type HttpProber = (question: ProbeQuestion, http: HttpProbe) => ProbeSaid | Promise<ProbeSaid>;

/** What became of a probe. */
export type ProbeOutcome = 'confirmed' | 'denied' | 'unavailable' | 'superseded' | 'lapsed';

/** As the metrics call it. */
const RECOVERY: Partial<Record<string, string>> = {
  confirmed: 'probe_confirmed',
  denied: 'probe_negative',
  unavailable: 'probe_unavailable',
};

/** More than any honest crowd needs. */
const MAX_ROUNDS = 20;

type Claim = ClaimedRow & { probe: number };

export class Asking {
  readonly #runner: Runner;
  readonly #decoding: Decoding;
  readonly #probers: ReadonlyMap<string, Prober>;
  readonly #http: HttpProber | undefined;

  constructor(runner: Runner, decoding: Decoding, probers: ReadonlyMap<string, Prober>, http: HttpProber | undefined) {
    this.#runner = runner;
    this.#decoding = decoding;
    this.#probers = probers;
    this.#http = http;
  }

  /** Whether there is any to ask with. */
  get able(): boolean {
    return this.#probers.size > 0 || this.#http !== undefined;
  }

  /** What this process can ask, as a claim takes it. */
  get with(): { pools: string[]; http: boolean } {
    return { pools: [...this.#probers.keys()], http: this.#http !== undefined };
  }

  /** Null: the process stops, and whoever is left asks again when the lease is over. */
  async ask(claim: Claim, stop: AbortSignal): Promise<ProbeOutcome | null> {
    const began = performance.now();
    const [model, capability] = ['model', 'capability'].map((kind) =>
      claim.scope.startsWith(`${kind}:`) ? claim.scope.slice(kind.length + 1) : null,
    );
    const asked = { model: model!, capability: capability! };
    const { said, answer } = await this.#said(claim, asked, stop);
    if (stop.aborted && said.result === 'unavailable') return null;
    const latency_ms = Math.round(performance.now() - began);
    const cost = said.cost ?? claim.cost;
    const scopes = scopesInput({ ...(model && { model }), ...(capability && { capability }) });
    await bookUse(this.#runner, claim.upstream, scopes, cost, { key: `probe ${claim.probe}` });
    const { result, hintMs: hint_ms, reason } = said;
    const row = { probe_id: claim.probe, result, hint_ms, reason, latency_ms, cost };
    const outcome = await this.#answer(row);
    if (said.manual && answer && outcome === 'denied') {
      // It found what only a person can change: that is in the inbox from now on.
      const report = { upstream: claim.upstream, answer, elapsedMs: latency_ms, actor: 'probe' };
      await new Reporting(this.#runner, this.#decoding).report({ ...report, ...(model && { model }) });
    }
    return outcome;
  }

  async #said(claim: Claim, asked: { model: string | null; capability: string | null }, stop: AbortSignal) {
    const { provider, scope: _, subject, policy: __, outcome: ___, cost: ____, timeoutMs, http, ...rest } = claim;
    const signal = AbortSignal.any([stop, AbortSignal.timeout(timeoutMs)]);
    const question: ProbeQuestion = { ...rest, ...asked, provider, signal };
    try {
      const asking = http ? this.#http!(question, http) : this.#probers.get(claim.pool)!(question);
      const got = await Promise.race([asking, aborted(signal, timeoutMs)]);
      const of = { ...asked, provider, ofRoute: subject === 'route', rules: this.#decoding.rules };
      const answer = typeof got === 'object' && got !== null && 'answer' in got ? got.answer : undefined;
      return { said: verdictOf(got, of), answer };
    } catch (error) {
      const reason = (error instanceof Error ? error.message : String(error)).slice(0, 500);
      const said: Verdict = { result: 'unavailable', reason, hintMs: null, cost: null, manual: false };
      return { said, answer: undefined };
    }
  }

  async #answer(row: Record<string, unknown>): Promise<ProbeOutcome> {
    for (let round = 0; ; round++) {
      const { outcome, policy } = (await this.#runner.read(answerProbe, [row]))[0]!;
      if (outcome === 'again' && round < MAX_ROUNDS) continue;
      this.#runner.observe('probe.answer', outcome);
      const how = RECOVERY[outcome];
      if (how) this.#runner.observe('block.recover', how, { policy });
      return outcome as ProbeOutcome;
    }
  }
}

function aborted(signal: AbortSignal, ms: number): Promise<never> {
  return new Promise((_, reject) => {
    const onAbort = () => reject(new Error(`no answer within ${ms / 1000} s`));
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}
