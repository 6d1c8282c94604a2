// Operations on the whole: verify, and which Recoup this is.
import { readFileSync } from 'node:fs';
import Type from 'typebox';
import { type Operation, operation } from './operation.ts';
import * as s from './schemas.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

export const system: readonly Operation[] = [
  operation({
    name: 'system.info',
    summary: 'Which Recoup this is: version, schema, epoch of the ledger, and what an operator has to do',
    scopes: ['app', 'worker', 'viewer', 'support', 'operator'],
    method: 'GET',
    path: '/v1/info',
    params: s.none,
    query: s.none,
    body: null,
    output: s.fields(
      {
        version: Type.String(),
        schema: Type.String(),
        epoch: s.Epoch,
        notices: Type.Array(Type.String(), { description: 'What is to be done, for people; empty: nothing.' }),
      },
      { title: 'Info' },
    ),
    errors: [],
    run: async ({ recoup }) => {
      const { due, ...epoch } = await recoup.epochs.current();
      return { version, schema: recoup.schema, epoch, notices: due === null ? [] : [due] };
    },
  }),
  operation({
    name: 'system.verify',
    summary: 'Replay the ledger and hold every promise against it; names the wallet and the first wrong entry',
    description: 'Reads everything: run it hourly or nightly, not in a loop.',
    scopes: ['operator', 'support'],
    method: 'GET',
    path: '/v1/verify',
    params: s.none,
    query: s.fields({ limit: s.optional(s.count('At most this many problems per check; 20 unless set.', 1, 1000)) }),
    body: null,
    output: s.fields(
      {
        ok: Type.Boolean(),
        problems: Type.Array(
          s.fields({
            check: Type.String(),
            wallet: s.orNull(Type.String()),
            seq: s.orNull(Type.Integer()),
            job: s.orNull(Type.String()),
            detail: Type.String(),
          }),
        ),
        wallets: Type.Integer(),
        entries: Type.Integer(),
        jobs: Type.Integer(),
        sumOfEntries: Type.Number(),
        sumOfBalances: Type.Number(),
        ms: Type.Integer(),
      },
      { title: 'Verified' },
    ),
    errors: [],
    run: ({ recoup }, { limit }) => recoup.verify(limit === undefined ? {} : { limit }),
  }),
];
