// Sweep: deliveries that ended long ago.
import type { Runner } from '../db/runner.ts';
import { forgetDeliveries } from '../webhooks/sending.ts';

const DAY_MS = 86_400_000;
const COUNT = 5000;

/** What was delivered is kept for a month, what is dead for three. */
export async function sweepDeliveries(runner: Runner): Promise<void> {
  await runner.read(forgetDeliveries, [{ count: COUNT, delivered_ms: 30 * DAY_MS, dead_ms: 90 * DAY_MS }]);
}
