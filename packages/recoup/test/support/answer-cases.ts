// Answers of a provider one after the other, and what is open after each: cases that have gone wrong in pools of upstreams elsewhere.
import type { ProviderAnswer } from '../../src/index.ts';
import { answerOf, codex, named } from './answers.ts';

export interface Step {
  /** Seconds after the step before. */
  after?: number;
  answer: ProviderAnswer;
  model?: string;
  /** What is open then, in words: the end in seconds from then. */
  open: string[];
}
export interface Case {
  name: string;
  provider: string;
  steps: Step[];
}
const bare: ProviderAnswer = { status: 429, body: '{}' };
const wait = (seconds: number): ProviderAnswer => ({ status: 429, headers: { 'retry-after': String(seconds) } });
const overloaded: ProviderAnswer = { status: 529, body: { error: { type: 'overloaded_error' } } };
const ok: ProviderAnswer = { status: 200 };

export const CASES: readonly Case[] = [
  {
    name: 'a Retry-After of 18 days counts an hour',
    provider: 'openai',
    steps: [{ answer: wait(1_587_827), open: ['upstream rate_limited retry_after +3600'] }],
  },
  {
    name: 'a reset counts only for a window that is used up: 30 % of 5 hours and 40 % of a week are a short back-off',
    provider: 'codex',
    steps: [
      {
        answer: {
          ...codex(429, [
            [300, 30, 7200],
            [10_080, 40, 432_000],
          ]),
          body: '{}',
        },
        open: ['upstream rate_limited backoff +30'],
      },
    ],
  },
  {
    name: '429 without any hint, each a trial that failed: 30, 60, 120, 240, 300',
    provider: 'generic',
    steps: [30, 60, 120, 240, 300].map((seconds, step) => ({
      after: step === 0 ? 0 : [31, 61, 121, 241][step - 1]!,
      answer: bare,
      open: [`upstream rate_limited backoff +${seconds}`],
    })),
  },
  {
    name: 'ten 529s never blame the upstream: its 429 starts at the first step',
    provider: 'anthropic',
    steps: [
      ...[30, 60, 120, 240, 300, 300, 300, 300, 300, 300].map((seconds) => ({
        after: 301,
        answer: overloaded,
        open: [`provider overloaded backoff +${seconds}`],
      })),
      { after: 301, answer: bare, open: ['provider overloaded backoff +-1', 'upstream rate_limited backoff +30'] },
    ],
  },
  {
    name: 'the same source never gets shorter: +60, then Retry-After 600, then 5',
    provider: 'generic',
    steps: [
      { answer: wait(60), open: ['upstream rate_limited retry_after +60'] },
      { after: 1, answer: wait(600), open: ['upstream rate_limited retry_after +600'] },
      { after: 1, answer: wait(5), open: ['upstream rate_limited retry_after +599'] },
    ],
  },
  {
    name: 'a quota of the day ends at midnight in California, also where it comes again; its delay is an order of its own',
    provider: 'gemini',
    steps: [
      {
        answer: answerOf(named('gemini/per-day')),
        open: [
          'upstream model:gemini-2.5-pro quota_exhausted_upstream reset_announced +68400',
          'upstream model:gemini-2.5-pro quota_exhausted_upstream retry_after +36',
        ],
      },
      {
        after: 60,
        answer: answerOf(named('gemini/per-day')),
        open: [
          'upstream model:gemini-2.5-pro quota_exhausted_upstream reset_announced +68340',
          'upstream model:gemini-2.5-pro quota_exhausted_upstream retry_after +36',
        ],
      },
    ],
  },
  {
    name: 'a quota of the minute is over after its 36 seconds',
    provider: 'gemini',
    steps: [
      {
        answer: answerOf(named('gemini/per-minute')),
        open: ['upstream model:gemini-2.5-pro rate_limited retry_after +36'],
      },
    ],
  },
  {
    name: 'what is refused to one model or capability is named as the caller names it',
    provider: 'openai',
    steps: [
      {
        model: 'fast',
        answer: answerOf(named('openai/soft-429-tokens')),
        open: ['upstream model:fast rate_limited retry_after +41.724'],
      },
      {
        answer: answerOf(named('openai/missing-scope')),
        open: [
          'upstream model:fast rate_limited retry_after +41.724',
          'upstream capability:api.responses.write permission operator',
        ],
      },
    ],
  },
  {
    name: 'a weekly window in the first slot is a week',
    provider: 'codex',
    steps: [
      {
        answer: codex(429, [[10_080, 100, 432_000]]),
        open: ['upstream quota_exhausted_upstream reset_announced +432000'],
      },
      // Under way at the same time, told by headers that say a second less: one reset.
      {
        answer: codex(429, [[10_080, 100, 431_999.5]]),
        open: ['upstream quota_exhausted_upstream reset_announced +432000'],
      },
    ],
  },
  {
    name: 'an order to wait and an announced reset in one answer are two blocks; a success after the order ends neither early',
    provider: 'codex',
    steps: [
      {
        answer: {
          ...codex(429, [[300, 100, 432_000 / 24]]),
          headers: { ...codex(429, [[300, 100, 18_000]]).headers, 'retry-after': '1800' },
        },
        open: [
          'upstream quota_exhausted_upstream reset_announced +18000',
          'upstream quota_exhausted_upstream retry_after +1800',
        ],
      },
      {
        after: 60,
        answer: ok,
        open: [
          'upstream quota_exhausted_upstream reset_announced +17940',
          'upstream quota_exhausted_upstream retry_after +1740',
        ],
      },
      {
        after: 60,
        answer: codex(200, [[300, 1, 18_000]]),
        // Never before its time: an order is no estimate.
        open: ['upstream quota_exhausted_upstream retry_after +1680'],
      },
      { after: 1681, answer: codex(200, [[300, 1, 18_000]]), open: [] },
    ],
  },
  {
    name: 'a page of a CDN says nothing about the account: on the way that is none it is the provider’s',
    provider: 'codex',
    steps: [{ answer: answerOf(named('codex/cdn-403')), open: ['provider cdn_or_proxy backoff +30'] }],
  },
];
