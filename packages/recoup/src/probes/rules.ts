// The rules of probes as SQL: which blocks may be asked now, and until when a no takes them out.
import { stillGated } from '../upstreams/gates.ts';
import { nominal } from '../upstreams/report.ts';

/** Longer than an answer may take, by what it takes to record it. */
export const SPARE_MS = 5000;

/** The longest that a block may wait for an answer: how far back what is due is looked for. */
export const LONGEST_GATE = `interval '1 hour'`;

/** Whether the block `b` waits for an answer now. */
export const isDue = (b: string) => `(${b}.until <= recoup.clock() and ${stillGated(b)})`;

/** Of a no at its time, how long: as the provider says, at most an hour where it orders; and longer than before. */
export const laterBy = (hint: string, source: string, step: string) => `greatest(${nominal(step)},
      case when ${source} = 'reset_announced' or ${hint} < 3600000 then ${hint} when ${hint} is not null then 3600000 end * interval '1 millisecond')`;
