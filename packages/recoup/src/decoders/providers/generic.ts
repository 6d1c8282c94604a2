// Every other API: codes as OpenAI has them, Retry-After, and sentences such as "Resets in 2 days". Groq, Mistral, Kimi, Ollama.
import { durationWindows } from '../parsing/counted-windows.ts';
import { durationAfter } from '../parsing/durations.ts';
import { says, verdictOf } from '../parsing/match.ts';
import type { Reading } from '../parsing/reading.ts';
import { HOUR } from '../parsing/windows.ts';
import type { Provider } from './provider.ts';

/** "Resets in 2 days": only words, and too far for a rate. */
const inWords = ({ error }: Reading) => (durationAfter(error.message, ['resets in ']) ?? 0) > HOUR;

export const generic: Provider = {
  rules: [
    // Kimi answers 403 where others have 429.
    { status: [403], message: says('concurrency', 'resets in '), class: 'rate_limited' },
  ],
  windows: (reading) => durationWindows(reading),
  refine: (verdict, reading) =>
    verdict.class === 'rate_limited' && inWords(reading)
      ? verdictOf({ class: 'quota_exhausted_upstream' }, reading.model)
      : verdict,
};
