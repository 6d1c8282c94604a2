// The transitions of wallets and the settings of queues, as pure functions.
import type { Queue, Step, Wallet, World } from './world.ts';
import { book, outcome, queueOf, refuse, wrote } from './world.ts';

type Opening = { readonly wallet: string; readonly customer: string; readonly overdraftLimit: number };

export function open(world: World, input: Opening): Step {
  const { wallet, customer, overdraftLimit } = input;
  const known = world.wallets[wallet];
  if (known) {
    const equal = known.customer === customer && known.overdraftLimit === overdraftLimit;
    return equal ? outcome(world, 'duplicate') : refuse(world, 'conflict');
  }
  const opened: Wallet = { customer, status: 'active', balance: 0, overdraftLimit, lastSeq: 0 };
  return outcome({ ...world, wallets: { ...world.wallets, [wallet]: opened } }, 'opened');
}

type Change = { readonly wallet: string } & Partial<Pick<Wallet, 'overdraftLimit' | 'status'>>;

export function change(world: World, { wallet, ...settings }: Change): Step {
  const known = world.wallets[wallet];
  if (!known) return refuse(world, 'no_wallet');
  return outcome({ ...world, wallets: { ...world.wallets, [wallet]: { ...known, ...settings } } }, 'changed');
}

export type Keyed = { readonly wallet: string; readonly key: string; readonly amount: number; readonly job?: string };

function keyed(world: World, input: Keyed, type: 'grant' | 'adjust', done: string): Step {
  const { wallet, key, amount, job = null } = input;
  if (!world.wallets[wallet]) return refuse(world, 'no_wallet');
  const known = world.entries.find((entry) => entry.wallet === wallet && entry.key === key);
  if (known) {
    const equal = known.type === type && known.amount === amount && known.job === job;
    return equal ? outcome(world, 'duplicate') : refuse(world, 'conflict');
  }
  return wrote(world, book(world, wallet, [{ type, amount, job, key }]), done);
}

export function configure(world: World, input: { readonly queue: string; readonly settings: Partial<Queue> }): Step {
  const settings = { ...queueOf(world, input.queue), ...input.settings };
  if (settings.backoffBaseMs > settings.backoffMaxMs) return refuse(world, 'invalid');
  return outcome({ ...world, queues: { ...world.queues, [input.queue]: settings } }, 'configured');
}

export const grant = (world: World, input: Keyed): Step => keyed(world, input, 'grant', 'granted');
export const adjust = (world: World, input: Keyed): Step => keyed(world, input, 'adjust', 'adjusted');
