// What is promised of every answer, whatever was asked.
import type { Answer } from './wire.ts';

export class Broken extends Error {}

export interface Codes {
  /** Every code there is, with its status. */
  readonly statuses: ReadonlyMap<string, number>;
}

const STACK = /\n\s+at |node_modules|\.(?:ts|js):\d+|SyntaxError|TypeError|RangeError|select .* from |SQLSTATE/;

/** An answer as such: no 5xx, refusals as problems with a known code that name the field. Throws Broken. */
export function judgeAnswer(answer: Answer, { statuses }: Codes, head = false): string | undefined {
  const { status, headers, body } = answer;
  if (status >= 500) throw new Broken(`answered ${status}: ${body.slice(0, 300)}`);
  if (status < 400) return undefined;
  if (head || body === '') {
    if (!head) throw new Broken(`answered ${status} with nothing`);
    return undefined;
  }
  if (headers['content-type'] !== 'application/problem+json')
    throw new Broken(`${status} as ${headers['content-type']}: ${body.slice(0, 300)}`);
  const problem = parsed(body);
  const { code, field, rule, detail, instance, requestId, type, title } = problem;
  if (typeof code !== 'string' || statuses.get(code) !== status || problem.status !== status)
    throw new Broken(`status ${status} does not fit: ${body.slice(0, 300)}`);
  for (const [name, value] of Object.entries({ detail, instance, requestId, type, title })) {
    if (typeof value !== 'string') throw new Broken(`the problem lacks ${name}: ${body.slice(0, 300)}`);
  }
  if (code === 'invalid' && !(typeof field === 'string' && field !== '' && typeof rule === 'string' && rule !== '')) {
    throw new Broken(`the problem does not name the field: ${body.slice(0, 300)}`);
  }
  if (STACK.test(String(detail))) throw new Broken(`the problem tells of the inside: ${body.slice(0, 300)}`);
  return code;
}

export function parsed(body: string): Record<string, unknown> {
  try {
    return JSON.parse(body) as Record<string, unknown>;
  } catch {
    throw new Broken(`the body is not JSON: ${body.slice(0, 300)}`);
  }
}
