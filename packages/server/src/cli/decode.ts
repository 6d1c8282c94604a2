// `recoup decode`: what answers of AI providers say, from a file or stdin. Needs no database and starts none.
import type { Command } from 'commander';
import { InvalidInput } from 'recoup';
import { type Answer, type DecodeOptions, decode, type Facts, type HeadersLike, PROVIDERS } from 'recoup/decoders';
import { table } from './output.ts';
import { readRulesFile, textOf } from './rules.ts';
import { instantOf, integerOf, type Tools } from './tools.ts';

interface Options {
  provider?: string;
  rules?: string;
  maxRetryAfterMs?: string;
}

const SHAPE = `
An answer is {provider, status, headers, body, model?, error?, receivedAt?}: one as JSON, or several as JSON lines. \`body\` is the
text or the JSON of it, \`error\` the code of a network failure where no answer came. Without receivedAt it came just now.`;
const FIELDS = ['provider', 'status', 'headers', 'body', 'model', 'error', 'receivedAt'];

export function addDecode(program: Command, tools: Tools): void {
  program
    .command('decode')
    .description('what answers of AI providers say about quotas, times, accounts and routes; needs no database')
    .argument('<file>', 'answers as JSON or JSON lines; - is stdin')
    .option('--provider <name>', 'whose answers, where they do not say it')
    .option('--rules <file>', 'rules of your own in YAML or JSON; they come before the built-in ones')
    .option('--max-retry-after-ms <integer>', 'the longest that a Retry-After is believed; an hour unless set')
    .addHelpText('after', SHAPE)
    .action((file: string, options: Options) => run(tools, file, options));
}

async function run(tools: Tools, file: string, options: Options): Promise<void> {
  const maxRetryAfterMs = integerOf('--max-retry-after-ms', options.maxRetryAfterMs, 1, 2_764_800_000);
  const rules = options.rules === undefined ? undefined : await readRulesFile('--rules', options.rules);
  const given: DecodeOptions = { ...(rules && { rules }), ...(maxRetryAfterMs && { maxRetryAfterMs }) };
  const answers = await answersOf(file, options.provider, tools.stop.asked);
  // Everything is read first: a wrong line, and nothing is printed.
  const facts = answers.map((answer) => decode(answer, given));
  if (tools.json()) for (const one of facts) tools.output.out(JSON.stringify(one));
  else if (facts.length === 1) tools.print(forPeople(facts[0]!));
  else tools.output.out(facts.length === 0 ? '(none)' : table(facts.map(rowOf)));
}

const scopeOf = ({ scope }: Pick<Facts, 'scope'>) => (scope.name === null ? scope.kind : `${scope.kind} ${scope.name}`);
const percentOf = (used: number | null) => (used === null ? null : `${Math.round(used * 1000) / 10} %`);

/** A table shows no field that holds nothing; what a success is called stands in place of its class. */
function rowOf(facts: Facts, index: number) {
  const { provider, policy, subject, until, source, reason, nextStep, dropped } = facts;
  return {
    answer: index + 1,
    provider,
    class: facts.class ?? 'success',
    policy,
    subject,
    scope: scopeOf(facts),
    until,
    source,
    code: reason?.code,
    dropped: dropped.length || null,
    nextStep,
  };
}

function forPeople(facts: Facts) {
  const { answer, dropped, code, ...row } = rowOf(facts, 0);
  const snapshots = facts.snapshots.map((snapshot) => ({
    name: snapshot.name,
    kind: snapshot.kind,
    used: percentOf(snapshot.used),
    resetsAt: snapshot.resetsAt,
    exhausted: snapshot.exhausted,
    scope: scopeOf(snapshot),
  }));
  return {
    ...row,
    code: code ?? null,
    message: facts.reason?.message ?? null,
    rule: facts.rule,
    ...(snapshots.length > 0 && { snapshots }),
    ...(facts.dropped.length > 0 && { dropped: facts.dropped }),
  };
}

async function answersOf(file: string, provider: string | undefined, signal: AbortSignal): Promise<Answer[]> {
  const text = (await textOf('file', file, signal)).trim();
  const now = new Date();
  const whole = json(text);
  if (whole !== undefined)
    return (Array.isArray(whole) ? whole : [whole]).map((one, i) => answerOf(one, i + 1, provider, now));
  const lines = text.split('\n').map((line, i) => ({ line: line.trim(), number: i + 1 }));
  return lines
    .filter(({ line }) => line !== '')
    .map(({ line, number }) => {
      const value = json(line);
      if (value === undefined) throw new InvalidInput(`line ${number}`, 'is not JSON');
      return answerOf(value, number, provider, now);
    });
}

function json(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function answerOf(value: unknown, line: number, provider: string | undefined, now: Date): Answer {
  const field = (name: string) => `line ${line}, ${name}`;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new InvalidInput(`line ${line}`, `must be an object with ${FIELDS.join(', ')}`);
  }
  const given = value as Record<string, unknown>;
  const unknown = Object.keys(given).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined)
    throw new InvalidInput(field(unknown.slice(0, 40)), `is not known; allowed are ${FIELDS.join(', ')}`);
  const { status = null, headers = null, body, model = null, error = null, receivedAt } = given;
  const whose = given.provider ?? provider;
  if (typeof whose !== 'string' || whose === '') {
    throw new InvalidInput(field('provider'), `must be one of ${PROVIDERS.join(', ')}; or give --provider`);
  }
  if (status !== null && !(Number.isInteger(status) && (status as number) >= 100 && (status as number) <= 599))
    throw new InvalidInput(field('status'), 'must be an integer from 100 to 599, or null');
  if (typeof headers !== 'object') throw new InvalidInput(field('headers'), 'must be an object of texts');
  if (typeof receivedAt !== 'string' && receivedAt !== undefined && receivedAt !== null) {
    throw new InvalidInput(field('receivedAt'), 'must be an instant such as 2026-01-31T12:00:00Z');
  }
  const at = instantOf(field('receivedAt'), receivedAt ?? undefined);
  return {
    provider: whose,
    status: status as number | null,
    headers: headers as HeadersLike | null,
    body,
    model: textOrNull(field('model'), model),
    error: textOrNull(field('error'), error),
    receivedAt: at === undefined ? now : new Date(at),
  };
}

function textOrNull(field: string, value: unknown): string | null {
  if (value === null || typeof value === 'string') return value;
  throw new InvalidInput(field, 'must be a text');
}
