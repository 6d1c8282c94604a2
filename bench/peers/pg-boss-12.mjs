// pg-boss 12: workers are woken by NOTIFY.
import { PgBoss } from 'pg-boss-12';
import { servePgBoss } from './pg-boss.mjs';

servePgBoss(PgBoss, {
  options: { useListenNotify: true },
  woken: { notify: true },
  insert: (boss, name, payloads) =>
    boss.insert(
      name,
      payloads.map((data) => ({ data })),
    ),
});
