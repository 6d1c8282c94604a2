// pg-boss 10, the last that runs on Node 20.
import PgBoss from 'pg-boss-10';
import { servePgBoss } from './pg-boss.mjs';

servePgBoss(PgBoss, {
  insert: (boss, name, payloads) => boss.insert(payloads.map((data) => ({ name, data }))),
  // No job has one here: nothing to order by.
  fetch: { priority: false },
  polls: 500,
});
