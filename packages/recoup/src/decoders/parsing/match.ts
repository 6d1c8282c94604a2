// One rule: what it looks at in an answer and what it makes of it. Plain comparison only, so that no rule can hang.
import { type Class, classes, type Policy, type Subject } from '../facts/classes.ts';
import { ALL, type Scope } from '../facts/facts.ts';
import type { Reading } from './reading.ts';

/** Texts are compared without case. */
export type Match = { equals: string } | { prefix: string } | { contains: string };

export interface Rule {
  /** For operators' rules: the name in the facts. */
  readonly name?: string;
  /** Any of these. */
  readonly providers?: readonly string[];
  readonly status?: readonly number[];
  /** Any code of the answer: type, code, status and reason of its error. */
  readonly code?: readonly Match[];
  readonly message?: readonly Match[];
  readonly class: Class;
  readonly policy?: Policy;
  readonly subject?: Subject;
  readonly scope?: Scope['kind'];
  /** With scope `capability`: which. */
  readonly capability?: string;
  readonly nextStep?: string;
}

/** What an answer means, before its times. */
export interface Verdict {
  class: Class;
  policy: Policy | null;
  subject: Subject;
  scope: Scope;
  nextStep: string | null;
}

function holds(match: Match, text: string): boolean {
  if ('equals' in match) return text === match.equals.toLowerCase();
  if ('prefix' in match) return text.startsWith(match.prefix.toLowerCase());
  return text.includes(match.contains.toLowerCase());
}

/** The first rule whose every condition holds. */
export function firstOf(rules: readonly Rule[], reading: Reading): Rule | undefined {
  const codes = reading.error.codes.map((code) => code.toLowerCase());
  const message = reading.error.message.toLowerCase();
  return rules.find(
    (rule) =>
      (rule.status === undefined || (reading.status !== null && rule.status.includes(reading.status))) &&
      (rule.code === undefined || rule.code.some((match) => codes.some((code) => holds(match, code)))) &&
      (rule.message === undefined || rule.message.some((match) => holds(match, message))),
  );
}

/** What a class implies, with what a rule says otherwise. */
export function verdictOf(rule: Omit<Rule, 'name' | 'providers'>, model: string | null): Verdict {
  const row = classes[rule.class];
  return {
    class: rule.class,
    policy: rule.policy ?? row.policy,
    subject: rule.subject ?? row.subject,
    scope: scopeOf(rule, model),
    nextStep: rule.nextStep ?? row.nextStep,
  };
}

function scopeOf({ scope, capability }: Pick<Rule, 'scope' | 'capability'>, model: string | null): Scope {
  if (scope === 'model') return { kind: 'model', name: model };
  return scope === 'capability' ? { kind: 'capability', name: capability ?? null } : ALL;
}

export const is = (...codes: string[]): Match[] => codes.map((equals) => ({ equals }));
export const says = (...texts: string[]): Match[] => texts.map((contains) => ({ contains }));
