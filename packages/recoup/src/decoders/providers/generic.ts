// Every other API: codes as OpenAI has them, Retry-After, and sentences such as "Resets in 2 days". Groq, Mistral, Kimi, Ollama.
import { durationWindows } from '../parsing/counted-windows.ts';
import { is, says } from '../parsing/match.ts';
import type { Provider } from './provider.ts';

export const generic: Provider = {
  rules: [
    // Kimi answers 403 where others have 429.
    { status: [403], message: says('concurrency'), class: 'rate_limited' },
    { code: is('exceeded_current_quota_error'), class: 'billing' },
    { status: [403], message: says('resets in '), class: 'quota_exhausted_upstream' },
  ],
  windows: (reading) => durationWindows(reading),
};
