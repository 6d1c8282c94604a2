// Runs before a test file of an ablation: statements are sent without the guard that was taken out.
import pg from 'pg';
import { inject } from 'vitest';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Parts of statements, and what stands in their place. */
    ablated: readonly (readonly [from: string, to: string])[];
  }
}

// What is noticed is noticed on one server, which takes half of the time.
(inject('servers') as unknown[]).splice(1);

const edits = inject('ablated');
const cut = (text: string) => edits.reduce((now, [from, to]) => now.replaceAll(from, () => to), text);
const send = pg.Client.prototype.query as (...args: unknown[]) => unknown;

function query(this: pg.Client, given: unknown, ...rest: unknown[]): unknown {
  if (typeof given === 'string') return send.call(this, cut(given), ...rest);
  const { text, submit } = given as { text?: unknown; submit?: unknown };
  if (typeof text !== 'string' || submit !== undefined) return send.call(this, given, ...rest);
  return send.call(this, { ...(given as object), text: cut(text) }, ...rest);
}
pg.Client.prototype.query = query as typeof pg.Client.prototype.query;
