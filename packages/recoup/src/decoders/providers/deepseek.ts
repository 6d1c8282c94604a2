// DeepSeek. Source: api-docs.deepseek.com/quick_start/error_codes.
import { says } from '../parsing/match.ts';
import type { Provider } from './provider.ts';

export const deepseek: Provider = {
  rules: [
    { status: [402], class: 'billing', nextStep: 'Top up the DeepSeek balance, then release the upstream.' },
    {
      status: [401],
      message: says('authentication fails'),
      class: 'auth_revoked',
      nextStep: 'The key is unknown to DeepSeek: check what is stored, or create a new key.',
    },
    { status: [503], class: 'overloaded' },
  ],
};
