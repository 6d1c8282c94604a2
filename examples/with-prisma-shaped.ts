// With Prisma: its INSERT and Recoup's charge commit together, or not at all. Runs on a stand-in with Prisma's signatures.
import type { Recoup } from 'recoup';
import { forPrisma } from 'recoup/adapters';
// In an application: import { PrismaClient } from './generated/prisma/client'. The stand-in (see there) has the same
// `$transaction`, `$queryRawUnsafe` and errors over pg, since Prisma's client is generated and not in the registry.
import { PrismaClient } from './prisma-stand-in.ts';
import { type Order, openShop, run, showOrders } from './support.ts';

// docs: with-prisma
async function placeOrder(prisma: PrismaClient, recoup: Recoup, order: Order) {
  const charged = await prisma.$transaction(async (tx) => {
    const insert = 'insert into example_orders values ($1, $2) on conflict do nothing';
    await tx.$executeRawUnsafe(insert, order.id, order.customer);
    return recoup.using(forPrisma(tx)).jobs.submit({
      wallet: order.customer,
      job: order.id,
      queue: 'video',
      price: order.price,
    });
  });
  recoup.wake('video');
  return charged;
}
// end

export async function main(url: string) {
  const shop = await openShop(url);
  const prisma = new PrismaClient({ datasourceUrl: url });
  try {
    return await showOrders(shop, (order) => placeOrder(prisma, shop.recoup, order));
  } finally {
    await prisma.$disconnect();
    await shop.close();
  }
}

await run(import.meta, main);
