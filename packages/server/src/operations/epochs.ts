// Operations on epochs: what a restore or a failover made of the ledger, and the step that makes the feed whole again.
import Type from 'typebox';
import { type Operation, operation } from './operation.ts';
import * as s from './schemas.ts';

export const epochs: readonly Operation[] = [
  operation({
    name: 'epochs.open',
    summary: 'Open the next epoch of the ledger, after a restore or a failover',
    description:
      'Each call opens one. Readers of older cursors are refused `epoch_changed` and told where to go on. Needs the role that owns the tables.',
    scopes: [],
    repeatable: false,
    method: 'POST',
    path: '/v1/epochs',
    params: s.none,
    query: s.none,
    body: s.fields({
      reason: Type.String({ minLength: 1, maxLength: 200, description: 'Which backup, which failover; for people.' }),
      actor: s.optional(s.id('Who did it.')),
      since: s.optional(
        s.instant(
          'Where work went on before this call: what was written since is told again to readers of older cursors.',
        ),
      ),
    }),
    output: s.Epoch,
    errors: ['transaction_conflict'],
    run: ({ recoup }, { since, ...rest }) =>
      recoup.epochs.open({ ...rest, ...(since === undefined ? {} : { since: new Date(since) }) }),
  }),
  operation({
    name: 'epochs.list',
    summary: 'The epochs of the ledger, oldest first',
    scopes: ['app', 'viewer', 'support', 'operator'],
    method: 'GET',
    path: '/v1/epochs',
    params: s.none,
    query: s.none,
    body: null,
    output: s.fields({ epochs: Type.Array(s.Epoch) }),
    errors: [],
    run: async ({ recoup }) => ({ epochs: await recoup.epochs.list() }),
  }),
];
