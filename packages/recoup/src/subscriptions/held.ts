// What every transition of subscriptions shares: the customer held, the subscription beside the input, the rows that say what became of it.
import { statement } from '../db/statement.ts';

const holding = { subscription_id: 'text', customer_id: 'text', passes: 'boolean' } as const;

/**
 * Holds the customers of the subscriptions (or the customers named) until the transaction ends, in one order, and says which: whoever changes a
 * subscription does so alone among all of its customer's. A statement of its own, so that the one behind it sees what happened before it had
 * them. With `passes` those that another holds are passed over.
 */
export const holdCustomers = statement<typeof holding, { subscription: string | null; held: boolean }>(
  'subscription.hold',
  holding,
  () => `
keys as materialized (
  select i.ord, i.subscription_id, i.passes, hashtextextended(coalesce(i.customer_id, s.customer_id), 7420) as key
  from input i left join recoup.subscriptions s on s.id = i.subscription_id),
taken as materialized (
  select key, case when passes then pg_try_advisory_xact_lock(key) else pg_advisory_xact_lock(key) is not null end as held
  from (select key, bool_or(coalesce(passes, false)) as passes from keys where key is not null group by key order by key) k)
select json_agg(json_build_object('subscription', k.subscription_id, 'held', coalesce(t.held, true)) order by k.ord)::text as answer
from keys k left join taken t on t.key = k.key`,
);

/** The statuses of a subscription that lives: at most one of a customer's. */
export const LIVES = `('pending', 'active', 'past_due')`;

/**
 * CTE `held`: each input beside its subscription, the customer's other one that lives, and the event that its key brought already. No row is
 * locked: the customer is.
 */
export const heldSubscriptions = `
held as materialized (
  select i.*, recoup.clock() as now, s.id is not null as there, s.customer_id, s.wallet_id, s.plan_id, s.next_plan_id, s.status, s.anchor_at,
    s.anchor_period, s.every, s.every_count, s.zone, s.period, s.period_start, s.period_end, s.ends_with_period, s.due_at, s.events, s.started_at,
    s.ended_at, o.id as other, e.type as known_type, e.period as known_period,
    row_number() over (partition by s.customer_id order by i.ord) as twin
  from input i
  left join recoup.subscriptions s on s.id = i.subscription_id
  left join lateral (
    select id from recoup.subscriptions o where o.customer_id = s.customer_id and o.status in ${LIVES} and o.id <> s.id limit 1) o on true
  left join lateral (
    select type, period from recoup.subscription_events e where e.subscription_id = i.subscription_id and e.key = i.key limit 1) e on true)`;

/** What is written of a subscription, from a CTE row with the same names. */
const COLUMNS = [
  ...[
    'plan_id',
    'next_plan_id',
    'status',
    'anchor_at',
    'anchor_period',
    'every',
    'every_count',
    'zone',
    'period',
    'period_start',
  ],
  ...['period_end', 'ends_with_period', 'due_at', 'ended_at'],
];

/**
 * CTEs `won` and `told` over `next`: a row per input whose `event` is not null, with the subscription as it is from now on. A stray payment is an
 * event that changes nothing else.
 */
export const writeSubscriptions = `
won as (
  insert into recoup.subscriptions (id, customer_id, wallet_id, started_at, events, ${COLUMNS.join(', ')})
  select subscription_id, customer_id, wallet_id, started_at, events + 1, ${COLUMNS.join(', ')} from next where event is not null
  on conflict (id) do update set events = excluded.events, ${COLUMNS.map((name) => `${name} = excluded.${name}`).join(', ')}),
told as (
  insert into recoup.subscription_events (subscription_id, number, type, at, plan_id, period, key, actor, reason)
  select subscription_id, events + 1, event, now, coalesce(next_plan_id, plan_id), period, key, actor, reason from next where event is not null)`;

/** What a change that a person asks for is answered before anything else. */
export const saidBefore = `when not there then 'no_subscription' when twin > 1 then 'again' when known_type is not null then 'duplicate'`;
