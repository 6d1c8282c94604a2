// subscription.setPlan: what a plan grants, and for how long.
import type { RawAnswer } from '../db/runner.ts';
import { answerEach, statement } from '../db/statement.ts';

export interface Plan {
  plan: string;
  /** What a period grants: 1 to 2^53 − 1. */
  credits: number;
  /** The length of a period: so many of them, in civil time of the zone. */
  every: 'day' | 'week' | 'month' | 'year';
  everyCount: number;
  /** An IANA zone. */
  zone: string;
  /** Whether each period has to be paid, or begins by itself. */
  renews: 'paid' | 'itself';
  /** Whether what is left of a period's credit expires with the period. */
  expires: boolean;
  /** Of its grants: 0 is used before 1. */
  priority: number;
  /** How long after its end a period may still be paid: until then the subscription is past due. */
  graceMs: number;
  /** Off: it takes nobody new; who has it keeps it. */
  status: 'on' | 'off';
}

const columns = {
  plan_id: 'text',
  credits: 'bigint',
  every: 'text',
  every_count: 'int',
  zone: 'text',
  renews: 'text',
  expires: 'boolean',
  priority: 'smallint',
  grace_ms: 'bigint',
  status: 'text',
} as const;

const SETTINGS = Object.keys(columns).slice(1);
const DEFAULTS: Readonly<Record<string, string>> = {
  every_count: '1',
  zone: `'UTC'`,
  renews: `'paid'`,
  expires: 'true',
  priority: '5',
  grace_ms: '259200000',
  status: `'on'`,
};

/** A new plan needs credits and a length; of one that is there what is not given stays. Periods that run keep what they granted and when they end. */
export const setPlan = statement<typeof columns, RawAnswer>(
  'subscription.setPlan',
  columns,
  () => `
judged as materialized (
  select i.*, p.id as there, ${SETTINGS.map((name) => `p.${name} as old_${name}`).join(', ')},
    case when row_number() over (partition by i.plan_id order by i.ord) > 1 then 'again'
      when p.id is null and (i.credits is null or i.every is null) then 'no_plan'
      when p.id is not null and (${SETTINGS.map((name) => `coalesce(i.${name}, p.${name})`).join(', ')})
        = (${SETTINGS.map((name) => `p.${name}`).join(', ')}) then 'duplicate' else 'set' end as verdict
  from input i left join recoup.plans p on p.id = i.plan_id),
won as (
  insert into recoup.plans as p (id, ${SETTINGS.join(', ')})
  select plan_id, ${SETTINGS.map((name) => `coalesce(${name}, old_${name}${DEFAULTS[name] ? `, ${DEFAULTS[name]}` : ''})`).join(', ')}
  from judged where verdict = 'set' order by plan_id
  on conflict (id) do update set ${SETTINGS.map((name) => `${name} = excluded.${name}`).join(', ')})${answerEach('judged', 'verdict', {})}`,
  { holds: 'plan_id' },
);
