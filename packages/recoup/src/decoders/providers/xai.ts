// xAI. Source: docs.x.ai/docs/key-information/debugging. Spent credit comes as 429 or as 403, without a header.
import { durationWindows } from '../parsing/counted-windows.ts';
import { is, says } from '../parsing/match.ts';
import type { Provider } from './provider.ts';

export const xai: Provider = {
  rules: [
    {
      code: [{ contains: 'spending-limit' }],
      class: 'billing',
      nextStep: 'Raise the spending limit of the xAI team, then release the upstream.',
    },
    {
      message: says('used all available credits', 'monthly spending limit'),
      class: 'billing',
      nextStep: 'Buy credits or raise the spending limit of the xAI team, then release the upstream.',
    },
    {
      status: [400, 401, 403],
      message: says('incorrect api key'),
      class: 'auth_revoked',
      nextStep: 'The key is unknown to xAI: check what is stored, or create a new key.',
    },
    {
      code: is('personal-team-blocked'),
      class: 'account_disabled',
      nextStep: 'xAI blocked the team: write to their support, or replace the account.',
    },
  ],
  windows: (reading) => durationWindows(reading),
};
