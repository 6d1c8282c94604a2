// The closed set of classes an answer can belong to: what each implies, what ends it, and what a person does about it.

/** How a block of a class ends; `rolling` is for what nothing explains. */
export type Policy = 'auto' | 'manual' | 'quota' | 'snapshot' | 'rolling';
/** What an answer says something about. A quota group is what shares one quota, such as a project with several keys. */
export type Subject = 'upstream' | 'quota_group' | 'provider' | 'route' | 'none';

export const SUBJECTS = ['upstream', 'quota_group', 'provider', 'route', 'none'] as const satisfies readonly Subject[];

interface ClassRow {
  readonly policy: Policy | null;
  readonly subject: Subject;
  readonly meaning: string;
  readonly ends: string;
  /** For an operator; null where nobody has to do anything. */
  readonly nextStep: string | null;
  /** Whether an answer of a provider can lead to it. The others are Recoup's own. */
  readonly decoded: boolean;
}

/** The table. Names are stable: they are part of the interface, the sentences are not. */
export const classes = {
  rate_limited: {
    policy: 'auto',
    subject: 'upstream',
    meaning: 'Too many requests or tokens in a short time.',
    ends: 'its time, or a success that started later',
    nextStep: null,
    decoded: true,
  },
  quota_exhausted_upstream: {
    policy: 'snapshot',
    subject: 'upstream',
    meaning: 'The provider’s own quota of a window is used up.',
    ends: 'a snapshot under 100 %, or the announced reset, which is an estimate',
    nextStep: null,
    decoded: true,
  },
  quota_exhausted_local: {
    policy: 'quota',
    subject: 'upstream',
    meaning: 'A limit of your own is used up.',
    ends: 'the next window',
    nextStep: null,
    decoded: false,
  },
  billing: {
    policy: 'manual',
    subject: 'upstream',
    meaning: 'No credit, an unpaid bill, or a spending limit.',
    ends: 'a person',
    nextStep: 'Top up the account or raise its spending limit, then release the upstream.',
    decoded: true,
  },
  auth_expired: {
    policy: 'manual',
    subject: 'upstream',
    meaning: 'The credential was refused. Refresh it once before you report this.',
    ends: 'a person, or a new credential',
    nextStep: 'Log in again, or check the key, and store the new credential.',
    decoded: true,
  },
  auth_revoked: {
    policy: 'manual',
    subject: 'upstream',
    meaning: 'The credential is revoked, unknown, or was used up; a refresh cannot help.',
    ends: 'a person, or a new credential',
    nextStep: 'Create a new key or log in anew, and store it.',
    decoded: true,
  },
  account_disabled: {
    policy: 'manual',
    subject: 'upstream',
    meaning: 'The account, organization or workspace was switched off.',
    ends: 'a person',
    nextStep: 'Replace the account, or ask the provider to restore it.',
    decoded: true,
  },
  permission: {
    policy: 'manual',
    subject: 'upstream',
    meaning: 'The credential is good, the account may not do this.',
    ends: 'a person',
    nextStep: 'Grant the account what is missing, or take it out of this pool.',
    decoded: true,
  },
  overloaded: {
    policy: 'auto',
    subject: 'provider',
    meaning: 'The provider, or one model of it, is at capacity. Says nothing about the account.',
    ends: 'its time, or a success that started later',
    nextStep: null,
    decoded: true,
  },
  server_error: {
    policy: 'auto',
    subject: 'upstream',
    meaning: 'A failure on the provider’s side, or no answer. With policy `rolling`: an answer that nothing explains.',
    ends: 'its time, or a success that started later',
    nextStep: null,
    decoded: true,
  },
  cdn_or_proxy: {
    policy: 'auto',
    subject: 'route',
    meaning: 'Something on the way answered: a CDN’s page, a proxy, TLS. Never the account.',
    ends: 'its time, or a success on that route',
    nextStep: null,
    decoded: true,
  },
  request_scoped: {
    policy: null,
    subject: 'none',
    meaning: 'This request is refused, another may pass: wrong input, content filter, too long.',
    ends: 'nothing: nothing is blocked, the answer goes to the caller',
    nextStep: null,
    decoded: true,
  },
  operator: {
    policy: 'manual',
    subject: 'upstream',
    meaning: 'A person took it out.',
    ends: 'a person',
    nextStep: 'Release it when the reason is gone.',
    decoded: false,
  },
} as const satisfies Record<string, ClassRow>;

export type Class = keyof typeof classes;
export const CLASSES = Object.keys(classes) as readonly Class[];
/** What an answer, and so a rule, can lead to. */
export const DECODED_CLASSES: readonly Class[] = CLASSES.filter((name) => classes[name].decoded);
