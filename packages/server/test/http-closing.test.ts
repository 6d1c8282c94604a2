// A server that closes: what its clients left open does not hold it up, and what it cuts off does not look whole.
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Api, newId } from './support/api.ts';

test('a connection on which nothing was asked does not hold up the close', async () => {
  const api = await Api.start();
  const { port, hostname } = new URL(api.service.url);
  const socket = connect(Number(port), hostname);
  await once(api.service.http.server, 'connection');
  const closed = once(socket, 'close');
  socket.resume();
  // Without a look at such connections it would take until their keep-alive is over: 72 seconds.
  expect(await Promise.race([api.service.close().then(() => 'closed'), sleep(20_000)])).toBe('closed');
  await closed;
  await api.db.drop();
});

test('a replay that it cuts off breaks off instead of ending', async () => {
  const api = await Api.start();
  const wallet = await api.wallet();
  const items = Array.from({ length: 1000 }, (_, n) => ({
    wallet,
    key: newId(`k${n}`),
    amount: 1,
    note: 'x'.repeat(9000),
  }));
  await api.call('wallets.grantMany', { items });
  const { body } = await fetch(`${api.service.url}/v1/wallets/${wallet}/replay`);
  const reader = body!.getReader();
  let text = new TextDecoder().decode((await reader.read()).value);
  const closing = api.service.close();
  let whole = true;
  for (;;) {
    const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }));
    if (done) break;
    text += new TextDecoder().decode(value);
  }
  whole = text.endsWith('\n') && text.trim().split('\n').length === 1001;
  expect(whole).toBe(false);
  await closing;
  await api.db.drop();
});
