// Waits for a condition, so long at most.
import { setTimeout as sleep } from 'node:timers/promises';

/** Whether the condition came to hold. What it throws counts as not yet. */
export async function within(ms: number, condition: () => Promise<boolean>): Promise<boolean> {
  const until = Date.now() + ms;
  while (Date.now() < until) {
    if (await condition().catch(() => false)) return true;
    await sleep(100);
  }
  return false;
}
