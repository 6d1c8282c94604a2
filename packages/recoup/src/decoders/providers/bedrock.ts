// AWS Bedrock and Kiro. Source: docs.aws.amazon.com/bedrock/latest/userguide/troubleshooting-api-error-codes.html.
import { is, says } from '../parsing/match.ts';
import type { Provider } from './provider.ts';

/** No window, no reset and no Retry-After is ever told; re-checks find out. */
export const bedrock: Provider = {
  rules: [
    { message: says('tokens per day', 'requests per day'), class: 'quota_exhausted_upstream', scope: 'model' },
    {
      code: is('MONTHLY_REQUEST_COUNT'),
      class: 'quota_exhausted_upstream',
      nextStep: 'The requests of the month are used up: it comes back next month, or with a larger plan.',
    },
    {
      code: is('ServiceQuotaExceededException'),
      class: 'quota_exhausted_upstream',
      nextStep: 'Ask AWS to raise this service quota, if it is not one of the month.',
    },
    { code: is('ThrottlingException', 'TooManyRequestsException'), class: 'rate_limited', scope: 'model' },
    { code: is('ModelNotReadyException'), class: 'overloaded', scope: 'model' },
    {
      code: is('ServiceUnavailableException', 'InternalServerException', 'ModelTimeoutException'),
      class: 'server_error',
    },
    { code: is('ModelErrorException', 'ValidationException', 'ModelStreamErrorException'), class: 'request_scoped' },
    {
      code: is('ExpiredTokenException'),
      class: 'auth_expired',
      nextStep: 'The session has ended: assume the role again, or renew the credentials.',
    },
    {
      code: is('UnrecognizedClientException', 'InvalidSignatureException', 'InvalidClientTokenId'),
      class: 'auth_revoked',
      nextStep: 'AWS does not know the access key: check key, secret and region, or create a new key.',
    },
    {
      code: is('AccessDeniedException'),
      message: says('access to the model', 'model access'),
      class: 'permission',
      scope: 'model',
      nextStep: 'Request access to the model in the Bedrock console of this region.',
    },
    {
      code: is('AccessDeniedException'),
      class: 'permission',
      nextStep: 'Allow bedrock:InvokeModel for this identity in IAM.',
    },
  ],
};
