// A call that is refused as invalid, names the field, and leaves every table as it was.
import { expect } from 'vitest';
import type { InTransaction } from '../../src/index.ts';
import { digest, refusal } from './look.ts';
import type { Stage } from './stage.ts';

export async function refuses(
  s: Stage,
  field: string | RegExp,
  call: (recoup: InTransaction) => Promise<unknown>,
  what: unknown = '',
) {
  const before = await digest(s.db);
  const refused = await refusal(() => call(s.recoup));
  expect([what, refused.code]).toEqual([what, 'invalid']);
  expect(String(refused.details.field)).toMatch(field);
  expect([what, await digest(s.db)]).toEqual([what, before]);
}
