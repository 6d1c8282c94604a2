// Which addresses webhooks may be sent to.
import { expect, test } from 'vitest';
import { addressesOf, isPublic, only } from '../src/deliveries/addresses.ts';

test('an address is public only if nobody inside can be behind it', () => {
  const inside = [
    '10.1.2.3',
    '172.16.0.1',
    '192.168.0.1',
    '127.9.9.9',
    '169.254.1.1',
    '100.64.0.1',
    '0.0.0.0',
    '224.0.0.1',
  ];
  inside.push('255.255.255.255', '198.18.0.1', '192.0.2.1', '240.0.0.1', '::', '::1', 'fe80::1', 'fc00::1', 'fd12::1');
  inside.push('::ffff:10.0.0.1', '64:ff9b::a00:1', '2002:7f00:1::', '2001::1', 'ff02::1', 'fec0::1', '::10.0.0.1');
  expect(inside.filter(isPublic)).toEqual([]);
  const outside = ['8.8.8.8', '1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700:4700::1111', '::ffff:8.8.8.8'];
  expect(outside.filter((address) => !isPublic(address))).toEqual([]);
});

test('every address of a name is looked at, and one that is not public refuses all', async () => {
  expect((await addressesOf('localhost', true)).map(({ address }) => isPublic(address))).not.toContain(true);
  await expect(addressesOf('localhost', false)).rejects.toThrow(/^localhost is \S+, which is not a public address$/);
  await expect(addressesOf('nobody.invalid', true)).rejects.toThrow(/ENOTFOUND|EAI_AGAIN/);
  expect(await addressesOf('[::1]', true)).toEqual([{ address: '::1', family: 6 }]);
  expect(await addressesOf('8.8.8.8', false)).toEqual([{ address: '8.8.8.8', family: 4 }]);
  await expect(addressesOf('10.0.0.1', false)).rejects.toThrow(/^10.0.0.1 is not a public address$/);
});

test('a connection is told the addresses that were looked at, whatever the name says by now', () => {
  const known = [
    { address: '8.8.8.8', family: 4 },
    { address: '2606:4700::1111', family: 6 },
  ];
  const asked = (options: object) => {
    let told: unknown[] = [];
    only(known)('localhost', options, (...answer) => {
      told = answer;
    });
    return told;
  };
  expect(asked({ all: true })).toEqual([null, known]);
  expect(asked({})).toEqual([null, '8.8.8.8', 4]);
  expect(asked({ family: 6 })).toEqual([null, '2606:4700::1111', 6]);
  expect(asked({ family: 9 })).toEqual([expect.any(Error), '']);
});
