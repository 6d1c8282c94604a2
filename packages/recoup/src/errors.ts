// Every error a caller can see: one table of code, HTTP status, exit code, whether to retry, and its sentence.

interface ErrorRow {
  readonly status: number;
  readonly exit: number;
  /** Whether the same call may succeed later without anything changed in it. */
  readonly retry: boolean;
  readonly sentence: string;
}

/** The table. Codes are stable: they are part of the interface, the sentences are not. */
export const errors = {
  invalid: { status: 400, exit: 2, retry: false, sentence: 'A field of the input is not allowed.' },
  unauthorized: { status: 401, exit: 3, retry: false, sentence: 'The API key is missing, unknown or revoked.' },
  forbidden: { status: 403, exit: 3, retry: false, sentence: 'The API key may not do this.' },
  bad_signature: {
    status: 401,
    exit: 3,
    retry: false,
    sentence: 'The signature of the callback is missing, wrong or too old.',
  },
  not_found: { status: 404, exit: 4, retry: false, sentence: 'There is nothing at this address.' },
  method_not_allowed: { status: 405, exit: 2, retry: false, sentence: 'This address does not take this method.' },
  too_large: { status: 413, exit: 2, retry: false, sentence: 'The request is larger than this address takes.' },
  headers_too_large: { status: 431, exit: 2, retry: false, sentence: 'The headers of the request are too large.' },
  unsupported_media_type: { status: 415, exit: 2, retry: false, sentence: 'The body must be application/json.' },
  request_timeout: { status: 408, exit: 7, retry: true, sentence: 'The request did not arrive in time.' },
  wrong_host: {
    status: 421,
    exit: 2,
    retry: false,
    sentence: 'This server does not answer for that host name: add it to the allowed hosts.',
  },
  foreign_origin: {
    status: 403,
    exit: 3,
    retry: false,
    sentence: 'Requests of pages of other origins are not taken: put a server of yours between.',
  },
  rate_limited: { status: 429, exit: 7, retry: true, sentence: 'Too many requests wait here at once.' },
  keys_required: {
    status: 503,
    exit: 2,
    retry: false,
    sentence: 'Bound to more than loopback, the server starts only with an API key.',
  },
  port_in_use: {
    status: 503,
    exit: 3,
    retry: false,
    sentence: 'Something else listens on the port: name another one.',
  },
  no_key: { status: 404, exit: 4, retry: false, sentence: 'There is no API key of that id.' },
  unhealthy: { status: 503, exit: 8, retry: false, sentence: 'Something does not add up, or is not set up right.' },
  internal: {
    status: 500,
    exit: 1,
    retry: false,
    sentence: 'Something went wrong that is not your fault; it was logged.',
  },
  no_wallet: { status: 404, exit: 4, retry: false, sentence: 'There is no wallet of that id.' },
  no_plan: { status: 404, exit: 4, retry: false, sentence: 'There is no plan of that id, or it takes nobody new.' },
  no_subscription: { status: 404, exit: 4, retry: false, sentence: 'There is no subscription of that id.' },
  already_subscribed: {
    status: 409,
    exit: 5,
    retry: false,
    sentence: 'The customer has another subscription that lives: end that one first.',
  },
  subscription_ended: {
    status: 409,
    exit: 5,
    retry: false,
    sentence: 'The subscription is not active: it has not begun, or is over.',
  },
  no_upstream: { status: 404, exit: 4, retry: false, sentence: 'There is no upstream of that id.' },
  no_limit: { status: 404, exit: 4, retry: false, sentence: 'There is no limit of that id.' },
  no_block: { status: 404, exit: 4, retry: false, sentence: 'There is no block of that id.' },
  manual_block: {
    status: 409,
    exit: 5,
    retry: false,
    sentence: 'Only a person or a new credential ends this block: neither time nor news does.',
  },
  no_item: { status: 404, exit: 4, retry: false, sentence: 'There is no open item of that id in the inbox.' },
  no_endpoint: { status: 404, exit: 4, retry: false, sentence: 'There is no webhook endpoint of that id.' },
  no_delivery: {
    status: 404,
    exit: 4,
    retry: false,
    sentence: 'There is no delivery of that id: it was never made, or was forgotten long after its end.',
  },
  upstream_busy: {
    status: 503,
    exit: 7,
    retry: true,
    sentence: 'Another transaction holds the upstream, or a limit of it.',
  },
  upstream_retired: { status: 409, exit: 5, retry: false, sentence: 'The upstream is retired: register another one.' },
  no_job: { status: 404, exit: 4, retry: false, sentence: 'There is no job of that id in that wallet.' },
  pruned: {
    status: 410,
    exit: 4,
    retry: false,
    sentence: 'The job ended long ago and its row was pruned; its id is used for ever.',
  },
  conflict: {
    status: 409,
    exit: 5,
    retry: false,
    sentence: 'It differs from what is there already under this id or key, or was settled before.',
  },
  canceled: {
    status: 409,
    exit: 5,
    retry: false,
    sentence: 'The job was canceled: its result must not be handed out.',
  },
  insufficient_credits: { status: 402, exit: 6, retry: false, sentence: 'The wallet does not hold the price.' },
  wallet_closed: { status: 409, exit: 5, retry: false, sentence: 'The wallet is closed to new jobs.' },
  balance_limit: {
    status: 409,
    exit: 5,
    retry: false,
    sentence: 'The balance would leave the range of ±9007199254740991.',
  },
  attempt_required: {
    status: 400,
    exit: 2,
    retry: false,
    sentence: 'A failure of a job with a queue must name its attempt.',
  },
  not_ended: { status: 409, exit: 5, retry: true, sentence: 'The job has neither succeeded nor been canceled yet.' },
  not_dead: { status: 409, exit: 5, retry: false, sentence: 'The job is not a dead letter.' },
  release_limit: { status: 409, exit: 5, retry: false, sentence: 'The job was released as often as its queue allows.' },
  count_changed: {
    status: 409,
    exit: 5,
    retry: false,
    sentence: 'The number of matching jobs is not the confirmed one.',
  },
  epoch_changed: {
    status: 409,
    exit: 5,
    retry: false,
    sentence:
      'The ledger was restored or failed over since this cursor was given: go on with the cursor in the answer.',
  },
  epoch_needed: {
    status: 503,
    exit: 8,
    retry: true,
    sentence: 'The ledger was restored from another cluster: an operator has to open an epoch before the feed goes on.',
  },
  wallet_busy: { status: 503, exit: 7, retry: true, sentence: 'Another transaction holds the wallet or job locked.' },
  transaction_conflict: {
    status: 409,
    exit: 7,
    retry: true,
    sentence: 'The transaction lost a race: run the whole transaction again.',
  },
  transaction_aborted: {
    status: 409,
    exit: 7,
    retry: false,
    sentence: 'An earlier statement failed in this transaction: roll it back.',
  },
  database_unavailable: { status: 503, exit: 7, retry: true, sentence: 'The database does not answer.' },
  database_read_only: {
    status: 503,
    exit: 7,
    retry: true,
    sentence: 'The database accepts no writes (a standby, or set read-only).',
  },
  database_refused: {
    status: 503,
    exit: 3,
    retry: false,
    sentence: 'The database refused the login or lacks a permission.',
  },
  database_error: {
    status: 500,
    exit: 1,
    retry: false,
    sentence: 'The database reported an error that is not expected.',
  },
  schema_missing: {
    status: 503,
    exit: 3,
    retry: false,
    sentence: 'The schema is not there: run the migrations first.',
  },
  schema_behind: {
    status: 503,
    exit: 3,
    retry: false,
    sentence: 'The schema is older than this code: run the migrations.',
  },
  schema_ahead: {
    status: 503,
    exit: 3,
    retry: false,
    sentence: 'The schema is newer than this code can work with: update the code.',
  },
  schema_altered: {
    status: 503,
    exit: 3,
    retry: false,
    sentence: 'A migration was applied with another text than this code carries.',
  },
  migration_blocked: {
    status: 503,
    exit: 7,
    retry: true,
    sentence: 'A transaction that stays open holds a table that a migration changes: end it, or migrate later.',
  },
  server_too_old: { status: 503, exit: 3, retry: false, sentence: 'PostgreSQL 15 or newer is needed.' },
  not_utf8: {
    status: 503,
    exit: 3,
    retry: false,
    sentence: 'The database must be encoded in UTF8: ids and texts would not come back as they were given.',
  },
  closed: { status: 503, exit: 7, retry: false, sentence: 'This handle was closed.' },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof errors;

/** One thing that was wrong with the input: which field, and what is allowed. */
export interface FieldProblem {
  field: string;
  rule: string;
}

/**
 * An answer that means "do not go on": thrown by the library, because a caller who forgets to look must not give the
 * work away, and because a throw rolls the caller's transaction back. Nothing was changed.
 */
export class Refusal extends Error {
  override readonly name: string = 'Refusal';
  readonly code: ErrorCode;
  /** Facts of this refusal: what differs, balance and price, the wallet. Ids and amounts only. */
  readonly details: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message?: string, details: Record<string, unknown> = {}, options?: ErrorOptions) {
    super(message ?? errors[code].sentence, options);
    this.code = code;
    this.details = details;
  }

  /** Whether the same call may succeed later without anything changed in it. */
  get retryable(): boolean {
    return errors[this.code].retry;
  }
  get status(): number {
    return errors[this.code].status;
  }
  get exitCode(): number {
    return errors[this.code].exit;
  }
  toJSON(): Record<string, unknown> {
    return { code: this.code, message: this.message, ...this.details };
  }
}

/** Bad input: names the field and the rule. Code `invalid`; nothing was sent to the database. */
export class InvalidInput extends Refusal {
  override readonly name = 'InvalidInput';
  constructor(field: string, rule: string, options?: ErrorOptions) {
    super('invalid', `${field}: ${rule}`, { field, rule }, options);
  }
}

/** The caller's transaction lost a race (40001, 40P01, lock time-out): the whole transaction has to be run again. */
export class TransactionConflict extends Refusal {
  override readonly name = 'TransactionConflict';
  constructor(message: string, details: Record<string, unknown> = {}, options?: ErrorOptions) {
    super('transaction_conflict', message, details, options);
  }
}

/** The caller's transaction was already aborted (25P02) when Recoup was called in it, or this call aborted it (`details.code`: why). */
export class TransactionAborted extends Refusal {
  override readonly name = 'TransactionAborted';
  constructor(options?: ErrorOptions, details: Record<string, unknown> = {}) {
    super('transaction_aborted', undefined, details, options);
  }
}
