// Operations on estimates: how good they were.
import Type from 'typebox';
import { type Operation, operation } from '../operation.ts';
import * as s from '../schemas.ts';
import * as c from './schemas.ts';

const offBy = (description: string) =>
  Type.Integer({ description: `${description}, in ms; below 0 it was back earlier than said.` });

export const estimates: readonly Operation[] = [
  operation({
    name: 'estimates.report',
    summary: 'How often the time held at which upstreams were said to be back, and how far off it was, by who said it',
    description:
      'Of the newest 10,000 blocks that ended, or those since an instant. A provider’s order to wait is scored as a guess of ours is. Ends by hand, by time and with the provider’s are set aside as unknown.',
    scopes: ['viewer', 'support', 'operator'],
    method: 'GET',
    path: '/v1/estimates',
    params: s.none,
    query: s.fields({ since: s.optional(s.instant('Only blocks that ended at this instant or after it.')) }),
    body: null,
    output: s.fields(
      {
        scores: Type.Array(
          s.fields(
            {
              provider: s.orNull(Type.String({ description: 'Null: of groups and routes, which may have several.' })),
              kind: Type.String({ description: 'The class of trouble.' }),
              source: s.oneOf(c.SOURCES),
              count: Type.Integer({ description: 'Estimates whose end is known.' }),
              held: Type.Integer({ description: 'Back when it was said, within a second.' }),
              late: Type.Integer({ description: 'Back before it was said.' }),
              early: Type.Integer({ description: 'Not back yet when it was said.' }),
              low: offBy('A tenth was earlier than this'),
              median: offBy('Half was'),
              high: offBy('Nine tenths were'),
              unknown: Type.Integer({ description: 'Blocks that ended so that nobody knows.' }),
            },
            { title: 'EstimateScore' },
          ),
        ),
      },
      { title: 'EstimateReport' },
    ),
    errors: [],
    run: async ({ recoup }, { since }) => ({
      scores: await recoup.upstreams.estimates(since === undefined ? {} : { since: new Date(since) }),
    }),
  }),
];
