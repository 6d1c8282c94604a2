// What a provider answered, as a request carries it and as the library takes it.
import type { ProviderAnswer } from 'recoup';
import Type, { type Static } from 'typebox';
import * as s from '../schemas.ts';

export const answer = s.fields(
  {
    status: s.optional(
      s.orNull(Type.Integer({ minimum: 100, maximum: 599, description: 'The HTTP status; absent where none came.' })),
    ),
    headers: s.optional(
      Type.Record(Type.String(), Type.Union([Type.String(), Type.Array(Type.String())]), {
        description: 'By name: a text, or a list of them.',
      }),
    ),
    body: s.optional(s.json('Text, or its JSON; of a stream the event with the error.')),
    error: s.optional(s.orNull(Type.String({ description: 'The code of the network failure, such as `ETIMEDOUT`.' }))),
    ageMs: s.optional(s.durationMs('How long ago it came, where it is reported later; 0 unless set.')),
  },
  { title: 'ProviderAnswer', description: 'One of `status`, `body` and `error` is needed. Nothing of it is logged.' },
);

/** By this machine's clock, which need not agree with the caller's. */
export const answerOf = ({ ageMs, ...given }: Static<typeof answer>): ProviderAnswer => ({
  ...given,
  ...(ageMs === undefined ? {} : { receivedAt: new Date(Date.now() - ageMs) }),
});
