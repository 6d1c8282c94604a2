// recoup/decoders: what an answer of an AI provider says about quotas, times, accounts and routes. Needs no database.
export { type DecodeOptions, decode } from './decoders/decode.ts';
export { CLASSES, type Class, classes, DECODED_CLASSES, type Policy, type Subject } from './decoders/facts/classes.ts';
export type {
  Answer,
  Dropped,
  DropRule,
  Facts,
  HeadersLike,
  Hint,
  Scope,
  Snapshot,
  Source,
  WindowKind,
} from './decoders/facts/facts.ts';
export { ALIASES, PROVIDERS, type ProviderName } from './decoders/providers.ts';
export { type Rules, readRules } from './decoders/rules.ts';
