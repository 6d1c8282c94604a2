// What @recoup/client offers: the client, its error, and what handlers of workers use.
export { type Call, type Calls, type ClientOptions, RecoupClient } from './client.ts';
export { type ErrorCode, RecoupError } from './errors.ts';
export type { components, operations, paths } from './generated/openapi.ts';
export { OPERATIONS } from './generated/operations.ts';
export type { Input, Item, Operation, OperationName, Output } from './operation.ts';
export type { FeedItem } from './streams.ts';
export type { CallOptions } from './transport.ts';
export {
  type AbortCause,
  Aborted,
  type Check,
  type Checked,
  Done,
  Failure,
  type FailureOptions,
  type Handler,
  type Job,
  Release,
  type Verdict,
  type Work,
} from './worker/handler.ts';
export type { Worker, WorkOptions } from './worker/worker.ts';
