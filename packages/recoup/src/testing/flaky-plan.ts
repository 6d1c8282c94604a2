// What a flaky upstream does to a request: drawn from the seed, the job and the attempt, and from nothing else.

/** What one request meets. All times in ms after the request came in. */
export interface Plan {
  /** Its name, for `counts`. */
  kind: string;
  /** What the client gets: the result, an error of this status, or a connection that ends without an answer. */
  answer: 'result' | 'drop' | number;
  answerMs: number;
  /** The seconds of a Retry-After header. */
  retryAfter?: number;
  /** When the work is really done; null: never. */
  doneMs: number | null;
  /** What is told to the callback URL, in any order; empty where every callback is lost. */
  callbacks: readonly { status: 'succeeded' | 'failed'; ms: number }[];
}

/** How often (0 to 1) a request meets each kind; the rest succeeds, as fast as the work is. */
export interface FlakyRates {
  /** Done long after a client's time-out: the answer and the callback come late. 0.08 unless set. */
  slow: number;
  /** 500, nothing was done. 0.06 unless set. */
  error: number;
  /** 429 with Retry-After, nothing was done. 0.05 unless set. */
  rate_limited: number;
  /** 422: this request will never work. 0.02 unless set. */
  rejected: number;
  /** The work is done, and the connection ends before the answer. 0.05 unless set. */
  dropped: number;
  /** 500 and a callback that says failed, and then it was done after all. 0.03 unless set. */
  late_success: number;
  /** The result, and later a callback that says failed. 0.03 unless set. */
  late_failure: number;
}

export interface PlanOptions {
  /** The same seed gives the same plan for the same job and attempt; 1 unless set. */
  seed?: number;
  rates?: Partial<FlakyRates>;
  /** How often a callback is never sent; 0.08 unless set. */
  lost?: number;
  /** How often a callback is sent twice; 0.1 unless set. */
  doubled?: number;
  /** How long slow work takes: more than the client's time-out. 1,000 to 3,000 ms unless set. */
  slowMs?: readonly [number, number];
  /** How long after the fact a callback is sent. 5 to 300 ms unless set. */
  callbackMs?: readonly [number, number];
}

const RATES: FlakyRates = {
  slow: 0.08,
  error: 0.06,
  rate_limited: 0.05,
  rejected: 0.02,
  dropped: 0.05,
  late_success: 0.03,
  late_failure: 0.03,
};
const KINDS = Object.keys(RATES) as (keyof FlakyRates)[];

/** Gives the planner of a seed: the plan of a job and attempt whose work takes `ms`. */
export function planner(options: PlanOptions): (job: string, attempt: number, ms: number) => Plan {
  const { seed = 1, lost = 0.08, doubled = 0.1, slowMs = [1000, 3000], callbackMs = [5, 300] } = options;
  const rates = checkedRates(options.rates ?? {}, lost, doubled);
  return (job, attempt, ms) => {
    const random = randomOf(`${seed} ${attempt} ${job}`);
    const between = ([from, to]: readonly [number, number]) => Math.round(from + random() * (to - from));
    const later = () => between(callbackMs);
    let left = random();
    const kind = KINDS.find((one) => {
      left -= rates[one];
      return left < 0;
    });
    const plan = courseOf(kind, ms, ms + between(slowMs), later);
    const callbacks = plan.callbacks.flatMap((callback) => {
      const chance = random();
      const again = { ...callback, ms: callback.ms + later() };
      return chance < lost ? [] : chance < lost + doubled ? [callback, again] : [callback];
    });
    return { ...plan, callbacks };
  };
}

function checkedRates(given: Partial<FlakyRates>, lost: number, doubled: number): FlakyRates {
  const unknown = Object.keys(given).find((kind) => !(kind in RATES));
  if (unknown) throw new RangeError(`rates: ${unknown} is not a kind; known: ${KINDS.join(', ')}`);
  const rates = { ...RATES, ...given };
  for (const group of [KINDS.map((kind) => rates[kind]), [lost, doubled]]) {
    const sum = group.reduce((total, rate) => total + rate, 0);
    if (group.some((rate) => !(rate >= 0)) || sum > 1 + 1e-9) {
      throw new RangeError('rates: those of the kinds, and lost and doubled, must be at least 0 and sum to at most 1');
    }
  }
  return rates;
}

/** The course of each kind, before callbacks get lost or doubled. */
function courseOf(kind: keyof FlakyRates | undefined, ms: number, slowMs: number, later: () => number): Plan {
  const succeeded = (after: number) => ({ status: 'succeeded' as const, ms: after + later() });
  const failed = (after: number) => ({ status: 'failed' as const, ms: after + later() });
  const nothing = { answerMs: ms, doneMs: null, callbacks: [] };
  const done = { answer: 'result' as const, answerMs: ms, doneMs: ms };
  switch (kind) {
    case undefined:
      return { kind: 'success', ...done, callbacks: [succeeded(ms)] };
    case 'slow':
      return { kind, answer: 'result', answerMs: slowMs, doneMs: slowMs, callbacks: [succeeded(slowMs)] };
    case 'error':
      return { kind, answer: 500, ...nothing };
    case 'rate_limited':
      return { kind, answer: 429, retryAfter: 1, ...nothing };
    case 'rejected':
      return { kind, answer: 422, ...nothing };
    case 'dropped':
      return { kind, ...done, answer: 'drop', callbacks: [succeeded(ms)] };
    case 'late_success':
      return { kind, answer: 500, answerMs: ms, doneMs: slowMs, callbacks: [failed(ms), succeeded(slowMs)] };
    case 'late_failure':
      return { kind, ...done, callbacks: [succeeded(ms), failed(ms + 300)] };
  }
}

/** Numbers from 0 to 1 out of a text (FNV-1a, then mulberry32): the same on every machine. */
export function randomOf(text: string): () => number {
  let state = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) state = Math.imul(state ^ text.charCodeAt(i), 0x01000193);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
