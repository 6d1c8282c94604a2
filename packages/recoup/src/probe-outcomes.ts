// The transitions of probes with their guards, effects and answers; as in outcomes.ts, the docs page comes from it.
import type { Transition } from './outcomes.ts';

/** The transitions of probes: who asks whether an upstream works again, and what an answer does. They move no money. */
export const probeTransitions = {
  'prober.set': {
    guard: 'the pool is asked in another way, or not at all',
    effect: 'how the pool is asked from now on; blocks that open from now on wait for an answer when their time is up',
    outcomes: ['set', 'duplicate'],
    refusals: [],
  },
  'prober.remove': {
    guard: 'the pool has a prober',
    effect: 'nobody asks any more, and no check is due; what waits for an answer waits until its grace is over',
    outcomes: ['removed', 'duplicate'],
    refusals: [],
  },
  'probe.claim': {
    guard:
      'the block is open; its time is up and its grace is not, or its next check has come and no order to wait lasts; nobody asks about it; an upstream of it is on, in a pool that this process has a prober for, and none of its limits is used up; a manual one: a person wants it, or another credential has come; rows that are locked are passed over',
    effect:
      'a probe with a lease, of the generation that was seen; a check moves on to the end of the lease; what may not be asked is looked at again at its next check',
    outcomes: ['claimed', 'skipped', 'waiting'],
    refusals: [],
  },
  'probe.answer': {
    guard:
      'no answer yet, lease_until > clock, the block open and of the generation that was claimed; an answer that comes too late is kept and changes nothing',
    effect:
      'yes: auto and rolling are half open from now on, for one trial, snapshot closes as `probe`, manual as operator or credential; no: at its time it opens again one step higher, early it stays, with the reset that is announced now; unavailable: at its time it lets a trial in, else it stays; an event for each yes and no',
    outcomes: ['confirmed', 'denied', 'unavailable', 'superseded', 'lapsed', 'duplicate'],
    refusals: [],
  },
  'probe.lapse': {
    guard: 'no answer yet, lease_until ≤ clock',
    effect: 'over: whoever asks next is another',
    outcomes: [],
    refusals: [],
  },
  'probe.ask': {
    guard:
      'as many open blocks of the pool as were confirmed may be asked; the pool has a prober; not orders to wait that last, nor what a person has decided',
    effect: 'each is to be asked now, and stays out until it is answered',
    outcomes: [],
    refusals: ['count_changed'],
  },
} as const satisfies Record<string, Transition>;

/** What a transition of probes may return. */
export type ProbeTransition<T extends keyof typeof probeTransitions> = (typeof probeTransitions)[T]['outcomes'][number];
