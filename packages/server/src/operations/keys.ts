// Operations on API keys: create, list, revoke.
import Type from 'typebox';
import { type Operation, operation, SCOPES } from './operation.ts';
import * as s from './schemas.ts';

export const keys: readonly Operation[] = [
  operation({
    name: 'keys.create',
    summary: 'Make an API key; its secret is shown this once',
    description: 'Each call makes another key: after a lost answer revoke the one that nobody holds.',
    scopes: [],
    method: 'POST',
    path: '/v1/keys',
    params: s.none,
    query: s.none,
    body: s.fields({
      name: s.id('What it is for, for people.'),
      scopes: Type.Array(s.oneOf(SCOPES), {
        minItems: 1,
        maxItems: SCOPES.length,
        uniqueItems: true,
        description: `What it may do: ${SCOPES.join(', ')}.`,
      }),
      customer: s.optional(s.id('Bound to the wallets of this customer; only for the scope `viewer` alone.')),
    }),
    output: s.fields({
      outcome: s.oneOf(['created']),
      key: s.Key,
      secret: Type.String({ description: 'Send it as `Authorization: Bearer …`. Stored as a hash only.' }),
    }),
    created: 'created',
    repeatable: false,
    errors: [],
    run: async ({ keys }, input) => ({ outcome: 'created', ...(await keys.create(input)) }),
  }),
  operation({
    name: 'keys.list',
    summary: 'All API keys, revoked ones too',
    scopes: [],
    method: 'GET',
    path: '/v1/keys',
    params: s.none,
    query: s.none,
    body: null,
    output: s.fields({ keys: Type.Array(s.Key) }),
    errors: [],
    run: async ({ keys }) => ({ keys: await keys.list() }),
  }),
  operation({
    name: 'keys.revoke',
    summary: 'Revoke an API key: at once here, within seconds on other replicas',
    scopes: [],
    method: 'DELETE',
    path: '/v1/keys/{key}',
    params: s.fields({ key: s.id('The id of the key, or its prefix.') }),
    query: s.none,
    body: null,
    output: s.fields({ outcome: s.oneOf(['revoked', 'duplicate']), key: s.Key }),
    errors: ['no_key'],
    run: ({ keys }, { key }) => keys.revoke(key),
  }),
];
