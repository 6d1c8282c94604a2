// The table of providers: every name a decoder goes by.
import { anthropic } from './providers/anthropic.ts';
import { azureOpenai } from './providers/azure-openai.ts';
import { bedrock } from './providers/bedrock.ts';
import { codex } from './providers/codex.ts';
import { deepseek } from './providers/deepseek.ts';
import { gemini } from './providers/gemini.ts';
import { generic } from './providers/generic.ts';
import { openai } from './providers/openai.ts';
import { openrouter } from './providers/openrouter.ts';
import type { Provider } from './providers/provider.ts';
import { xai } from './providers/xai.ts';

export const providers = {
  openai,
  codex,
  anthropic,
  gemini,
  'azure-openai': azureOpenai,
  bedrock,
  xai,
  deepseek,
  openrouter,
  generic,
} as const satisfies Record<string, Provider>;

export type ProviderName = keyof typeof providers;
export const PROVIDERS = Object.keys(providers) as readonly ProviderName[];

/** Other names for the same. */
export const ALIASES: Readonly<Record<string, ProviderName>> = {
  chatgpt: 'codex',
  claude: 'anthropic',
  google: 'gemini',
  vertex: 'gemini',
  antigravity: 'gemini',
  azure: 'azure-openai',
  aws: 'bedrock',
  kiro: 'bedrock',
  grok: 'xai',
  groq: 'generic',
  kimi: 'generic',
  minimax: 'generic',
  mistral: 'generic',
  ollama: 'generic',
  opencode: 'generic',
  zhipu: 'generic',
};

/** The decoder of a name or an alias, in any case; null where none has it. */
export function providerNamed(name: string): ProviderName | null {
  const lower = name.toLowerCase();
  if (Object.hasOwn(providers, lower)) return lower as ProviderName;
  return Object.hasOwn(ALIASES, lower) ? ALIASES[lower]! : null;
}
