// What a prober said, as its answer is recorded: in its words, or by what the provider answered.
import type { Rules } from '../decoders/rules.ts';
import * as check from '../input.ts';
import { checkAnswer, type Decoded, decoded, wordsOf } from '../upstreams/answer.ts';
import { costInput, type ProbeResult, type ProbeSaid, RESULTS } from './inputs.ts';

export interface Verdict {
  result: ProbeResult;
  /** Of a no: how long it is still out. */
  hintMs: number | null;
  reason: string | null;
  /** Null: what the pool is set to. */
  cost: Record<string, number> | null;
  /** Whether the answer says what only a person can change. */
  manual: boolean;
}

/** Of what the question was. */
interface Asked {
  provider: string;
  model: string | null;
  capability: string | null;
  /** Whether the block is on the way there: else what is said of that says nothing. */
  ofRoute: boolean;
  rules: Rules | undefined;
}

const WORD = { hintMs: null, reason: null, cost: null, manual: false } as const;

export function verdictOf(said: ProbeSaid, asked: Asked): Verdict {
  if (typeof said === 'string') return { ...WORD, result: check.oneOf('probe', said, RESULTS) };
  check.onlyFields('probe', said, 'answer' in said ? ['answer', 'cost'] : ['result', 'forMs', 'reason', 'cost']);
  const cost = said.cost === undefined ? null : costInput(said.cost);
  if ('answer' in said)
    return { ...ofAnswer(decoded(checkAnswer(said.answer), { ...asked, now: Date.now() }), asked), cost };
  return {
    result: check.oneOf('result', said.result, RESULTS),
    hintMs: check.duration('forMs', said.forMs, 1),
    reason: check.text('reason', said.reason, 500, 'cut'),
    cost,
    manual: false,
  };
}

/** A success is a yes, unless it tells that a quota is used up: a usage page that answers is no account that works. */
function ofAnswer({ facts, windows, blocks }: Decoded, { ofRoute }: Asked): Omit<Verdict, 'cost'> {
  const spent = windows.filter(({ exhausted }) => exhausted);
  const manual = facts.policy === 'manual';
  const reason = wordsOf(facts.reason)?.slice(0, 500) ?? facts.class;
  if (facts.class === null) {
    if (spent.length === 0) return { ...WORD, result: 'yes' };
    const resets = spent.flatMap(({ reset_ms }) => (reset_ms !== null && reset_ms > 0 ? [reset_ms] : []));
    const said = spent.map(({ name }) => name).join(', ');
    return {
      ...WORD,
      result: 'no',
      hintMs: resets.length > 0 ? Math.max(...resets) : null,
      reason: `used up: ${said}`,
    };
  }
  if (facts.subject === 'none' || (facts.subject === 'route' && !ofRoute))
    return { ...WORD, result: 'unavailable', reason };
  return { result: 'no', hintMs: blocks[0]?.forMs ?? null, reason, manual };
}
