// How long a block whose time is up waits for a probe's answer, and when one is asked early: as SQL, for who opens it and who asks.

/** When the block `b`, whose time was up, waits no more: who has no prober, or none that answers, lets a trial in then. */
const gateEnd = (b: string) => `(${b}.until + ${b}.gate_ms * interval '1 millisecond')`;

/** Whether the block `b` waits for a probe's answer, or would if its time were up. */
export const stillGated = (b: string) =>
  `coalesce(${gateEnd(b)} > recoup.clock() and (${b}.ungated_at is null or ${b}.ungated_at < ${b}.until), false)`;

/** Until when the block `b` waits for a probe's answer; null: it does not. */
export const gatedUntil = (b: string) => `case when ${stillGated(b)} then ${gateEnd(b)} end`;

/** Whether a block may be asked while its time is not up: not where a provider ordered to wait. */
export const early = (source: string, policy: string) =>
  `(${source} <> 'retry_after' and (${source} = 'reset_announced' or ${policy} in ('snapshot', 'manual')))`;

/** The prober of a pool beside what is opened in it. */
export const proberOf = (pool: string) =>
  `lateral (select grace_ms, every_ms from recoup.probers p where p.pool = ${pool} offset 0) p`;

/** When a block that opens `now` is asked early, or looked at, first; null: never, or its pool has no prober. */
export const firstCheck = (source: string, policy: string, now: string) =>
  `case when ${early(source, policy)} then ${now} + p.every_ms * interval '1 millisecond' end`;
