// Where a webhook may be sent: the addresses behind a name, all of them public, unless private ones are allowed.
import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';

export interface Address {
  address: string;
  family: number;
}

/** Not sent: the address leads where no webhook may go. The message is for people. */
export class NotPublic extends Error {}

/** Whether anybody on the internet may be behind it: not loopback, private, link-local, shared, reserved, or another family's in disguise. */
export const isPublic = (address: string): boolean => ipaddr.process(address).range() === 'unicast';

/**
 * The addresses of a host, each looked at: one that is not public refuses all, so that no name leads to both. Connect to these and no others:
 * a second look-up may say something else.
 */
export async function addressesOf(hostname: string, allowPrivate: boolean): Promise<Address[]> {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const family = isIP(host);
  const found = family === 0 ? await lookup(host, { all: true }) : [{ address: host, family }];
  const bad = found.find(({ address }) => !isPublic(address));
  if (bad && !allowPrivate) {
    throw new NotPublic(`${host}${family === 0 ? ` is ${bad.address}, which` : ''} is not a public address`);
  }
  return found;
}

/** A look-up for a connection that knows these addresses only. */
export const only =
  (addresses: readonly Address[]): LookupFunction =>
  (_hostname, options, done) => {
    const fit = addresses.filter(({ family }) => !options.family || family === options.family);
    const [first] = fit;
    if (!first) done(new Error('the name has no address of this family'), '');
    else if (options.all) done(null, fit);
    else done(null, first.address, first.family);
  };
