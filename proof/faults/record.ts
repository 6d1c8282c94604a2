// The clients' own record: what each change was meant to be, how often it was asked for, and what was answered.

export type Kind = 'grant' | 'adjust' | 'submit' | 'fail' | 'succeed' | 'settle' | 'cancel';

/** One change that a client wants once, however often it has to ask. */
export interface Intent {
  readonly kind: Kind;
  /** The key of a grant or adjust, the id of the job of the others. A client without keys puts `#n` behind it at each repeat. */
  readonly id: string;
  readonly wallet: string;
  /** What is to be in the ledger: an amount, a price, a final price, what is kept. */
  readonly amount?: number;
  /** How often the answer was lost, late, or said that the database might have done it. */
  doubts: number;
  /** The outcome, or the code of a refusal; undefined until it was heard. */
  answer?: string;
}

/** A job, and what it is to take from its wallet in the end: a number, or what the row of an ended job says. */
export interface Submitted {
  readonly wallet: string;
  readonly id: string;
  readonly price: number;
  takes: number | 'as it ended';
}

export const CHANGED: Readonly<Record<Kind, string>> = {
  grant: 'granted',
  adjust: 'adjusted',
  submit: 'charged',
  fail: 'refunded',
  succeed: 'succeeded',
  settle: 'settled',
  cancel: 'canceled',
};

export class Book {
  readonly intents: Intent[] = [];
  readonly jobs: Submitted[] = [];
  /** Answers that no fault explains, such as a 500. */
  readonly surprises: string[] = [];
  /** Answers that were heard so far. */
  heard = 0;

  intend(kind: Kind, wallet: string, id: string, amount?: number): Intent {
    const intent: Intent = { kind, wallet, id, doubts: 0, ...(amount === undefined ? {} : { amount }) };
    this.intents.push(intent);
    return intent;
  }

  /** Changes that were answered: what must be there for ever. */
  get acknowledged(): Intent[] {
    return this.intents.filter(isAcknowledged);
  }

  /** Answers in doubt, by what the repeat said: it had been done, or it had not. */
  get doubts(): Doubts {
    const doubtful = this.intents.filter(({ doubts }) => doubts > 0);
    const heard = doubtful.filter(({ answer }) => answer !== undefined);
    const done = heard.filter(({ answer }) => answer === 'duplicate').length;
    return {
      answers: doubtful.reduce((sum, { doubts }) => sum + doubts, 0),
      changes: doubtful.length,
      hadBeenDone: done,
      hadNotBeenDone: heard.length - done,
      unresolved: doubtful.length - heard.length,
    };
  }
}

export interface Doubts {
  /** Times that a client did not learn whether its change was done. */
  answers: number;
  /** Changes that this happened to. */
  changes: number;
  hadBeenDone: number;
  hadNotBeenDone: number;
  unresolved: number;
}

/** A change that was answered as done, now or before; a refusal or another's success is not one. */
export function isAcknowledged({ kind, answer }: Intent): boolean {
  if (answer === undefined) return false;
  return answer === CHANGED[kind] || answer === 'duplicate' || (kind === 'succeed' && answer === 'reclaimed');
}
