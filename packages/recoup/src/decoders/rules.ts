// Rules of an operator, checked when they are read: what is not understood is refused then, not when an answer comes.
import { InvalidInput } from '../errors.ts';
import { id, oneOf } from '../input.ts';
import { DECODED_CLASSES, SUBJECTS } from './facts/classes.ts';
import type { Match, Rule } from './parsing/match.ts';

/** Rules that were checked. Only `readRules` makes them. */
export interface Rules {
  readonly rules: readonly Rule[];
}

const MAX_RULES = 1000;
const MAX_LIST = 100;
const MAX_TEXT = 500;
const FIELDS = ['name', 'provider', 'status', 'code', 'message', 'class', 'subject', 'scope', 'capability', 'nextStep'];
const MATCHES = ['equals', 'prefix', 'contains'] as const;

/**
 * Rules from a parsed JSON or YAML document, `{rules: [{name, provider?, status?, code?, message?, class, …}]}`. Refuses with the field
 * and what is allowed: unknown fields, a rule without a condition, a class that no answer leads to.
 */
export function readRules(document: unknown): Rules {
  const { rules } = plain('document', document, ['rules']);
  if (!Array.isArray(rules) || rules.length > MAX_RULES)
    refuse('rules', `must be a list of at most ${MAX_RULES} rules`);
  const read = rules.map((rule, index) => ruleOf(`rules[${index}]`, rule));
  read.forEach(({ name }, index) => {
    const first = read.findIndex((other) => other.name === name);
    if (first !== index) refuse(`rules[${index}].name`, `is the name of rules[${first}] already; names must differ`);
  });
  const made = Object.freeze({ rules: Object.freeze(read) });
  checked.add(made);
  return made;
}

const checked = new WeakSet<object>();

/** Whether `readRules` made it. */
export const isRules = (value: unknown): value is Rules =>
  typeof value === 'object' && value !== null && checked.has(value);

function refuse(field: string, rule: string): never {
  throw new InvalidInput(field, rule);
}

function plain(field: string, value: unknown, allowed: readonly string[]): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    refuse(field, `must be an object with ${allowed.join(', ')}`);
  const unknown = Object.keys(value).find((key) => !allowed.includes(key));
  if (unknown !== undefined)
    refuse(`${field}.${unknown.slice(0, 40)}`, `is not known; allowed are ${allowed.join(', ')}`);
  // Without what a prototype might hold.
  return Object.assign(Object.create(null), value) as Record<string, unknown>;
}

function ruleOf(field: string, value: unknown): Rule {
  const given = plain(field, value, FIELDS);
  const { provider, status, code, message, subject, scope, capability, nextStep } = given;
  if (status === undefined && code === undefined && message === undefined) {
    refuse(field, 'must have at least one of status, code, message');
  }
  const read = {
    name: id(`${field}.name`, given.name),
    class: oneOf(`${field}.class`, given.class, DECODED_CLASSES),
    providers: optional(provider, (one) => list(`${field}.provider`, one, providerOf)),
    status: optional(status, (one) => list(`${field}.status`, one, statusOf)),
    code: optional(code, (one) => list(`${field}.code`, one, matchOf)),
    message: optional(message, (one) => list(`${field}.message`, one, matchOf)),
    subject: optional(subject, (one) => oneOf(`${field}.subject`, one, SUBJECTS)),
    scope: optional(scope, (one) => oneOf(`${field}.scope`, one, ['all', 'model', 'capability'] as const)),
    capability: optional(capability, (one) => id(`${field}.capability`, one)),
    nextStep: optional(nextStep, (one) => textOf(`${field}.nextStep`, one)),
  };
  if (read.capability !== undefined && read.scope !== 'capability') {
    refuse(`${field}.capability`, 'goes with scope: capability only');
  }
  const none = read.class === 'request_scoped';
  if (read.subject !== undefined && none !== (read.subject === 'none')) {
    refuse(`${field}.subject`, none ? 'must be none for request_scoped' : `must not be none for ${read.class}`);
  }
  return Object.freeze(
    Object.fromEntries(Object.entries(read).filter(([, one]) => one !== undefined)),
  ) as unknown as Rule;
}

const optional = <T>(value: unknown, then: (value: unknown) => T): T | undefined =>
  value === undefined || value === null ? undefined : then(value);

/** One or several. */
function list<T>(field: string, value: unknown, each: (field: string, value: unknown) => T): T[] {
  if (!Array.isArray(value)) return [each(field, value)];
  if (value.length < 1 || value.length > MAX_LIST) refuse(field, `must have 1 to ${MAX_LIST} values`);
  return value.map((one, index) => each(`${field}[${index}]`, one));
}

/** Any provider: one of ours, or an operator's own. An alias stays what it is: a rule for `kiro` is none for all of `bedrock`. */
const providerOf = (field: string, value: unknown): string => id(field, value).toLowerCase();

function statusOf(field: string, value: unknown): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 100 && value <= 999) return value;
  return refuse(field, 'must be a status, an integer from 100 to 999');
}

/** A text is to be equal; an object says how it is compared. */
function matchOf(field: string, value: unknown): Match {
  if (typeof value === 'string') return { equals: textOf(field, value) };
  const given = plain(field, value, MATCHES);
  const [how, ...others] = Object.keys(given);
  if (how === undefined || others.length > 0)
    refuse(field, 'must be a text, or an object with one of equals, prefix, contains');
  return { [how]: textOf(`${field}.${how}`, given[how]) } as unknown as Match;
}

function textOf(field: string, value: unknown): string {
  if (typeof value === 'string' && value.trim() !== '' && value.length <= MAX_TEXT) return value;
  return refuse(field, `must be a text of 1 to ${MAX_TEXT} characters that is not blank`);
}
