// Operations on alerts: which conditions hold that somebody should know of.
import { ALERT_KINDS } from 'recoup';
import Type from 'typebox';
import { type Operation, operation } from './operation.ts';
import * as s from './schemas.ts';

const Alert = s.fields(
  {
    kind: s.oneOf(ALERT_KINDS),
    subject: Type.String({ description: 'Of what: `limit:…`, `upstream:…`, `block:…`, `snapshot:…`.' }),
    number: Type.Integer({ description: 'Which time this is.' }),
    firedAt: s.instant(),
    recoveredAt: s.orNull(s.instant()),
    facts: Type.Record(Type.String(), Type.Unknown(), { description: 'As it was when it fired.' }),
  },
  { title: 'Alert' },
);

export const alerts: readonly Operation[] = [
  operation({
    name: 'alerts.list',
    summary: 'What fires now, the newest first',
    description: 'Each condition fires once until it recovers, however many replicas look.',
    scopes: ['viewer', 'support', 'operator'],
    method: 'GET',
    path: '/v1/alerts',
    params: s.none,
    query: s.fields({
      kind: s.optional(s.oneOf(ALERT_KINDS, 'Only of this kind.')),
      recovered: s.optional(s.flag('Those that are over too.')),
      limit: s.limit,
    }),
    body: null,
    output: s.fields({ alerts: Type.Array(Alert) }),
    errors: [],
    run: async ({ recoup }, filter) => ({ alerts: await recoup.alerts.list(filter) }),
  }),
];
