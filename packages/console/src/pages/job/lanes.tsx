// A job on one axis of time: what its caller did, its attempts as bars, its entries as glyphs.
import { Glyph } from '../../parts/kind.tsx';
import { useWidth } from '../../parts/width.ts';
import { duration } from '../../words.ts';
import type { JobEvent, Run } from './events.ts';

const LEFT = 84;
const RIGHT = 24;
const ROW = 30;
const TOP = 22;
/** More attempts than that are in the table. */
const MAX_RUNS = 12;

interface Props {
  events: readonly JobEvent[];
  runs: readonly Run[];
  deadlineAt: string | null;
}

export function Lanes({ events, runs, deadlineAt }: Props) {
  const [svg, width] = useWidth<SVGSVGElement>();
  const shown = runs.slice(-MAX_RUNS);
  const times = [...events.map(({ at }) => Date.parse(at)), ...shown.flatMap(({ from, to }) => [from, to])];
  const deadline = deadlineAt === null ? null : Date.parse(deadlineAt);
  const start = Math.min(...times);
  const end = Math.max(...times, start + 1, deadline ?? 0);
  const x = (at: number) => LEFT + ((at - start) / (end - start)) * (width - LEFT - RIGHT);
  const height = TOP + ROW * (2 + shown.length) + 6;
  const middle = (row: number) => TOP + row * ROW + ROW / 2;
  const ticks = [0, 0.25, 0.5, 0.75, 1];
  return (
    <svg
      ref={svg}
      height={height}
      className="chart"
      viewBox={`0 0 ${width} ${height}`}
      role="img"
      aria-label={`${runs.length} attempts within ${duration(end - start)}. The table below has every event.`}
    >
      {ticks.map((part) => (
        <g key={part}>
          <line
            className="axis"
            x1={x(start + part * (end - start))}
            x2={x(start + part * (end - start))}
            y1={TOP}
            y2={height}
          />
          <text
            x={x(start + part * (end - start))}
            y={14}
            textAnchor={part === 0 ? 'start' : part === 1 ? 'end' : 'middle'}
          >
            {duration(part * (end - start))}
          </text>
        </g>
      ))}
      <text className="lane" x={0} y={middle(0) + 4}>
        Job
      </text>
      {events
        .filter(({ lane }) => lane === 'Job')
        .map(({ at, what }) => (
          <circle key={at + what} className="mark" cx={x(Date.parse(at))} cy={middle(0)} r={4}>
            <title>{what}</title>
          </circle>
        ))}
      <text className="lane" x={0} y={middle(1) + 4}>
        Ledger
      </text>
      {events
        .filter(({ lane }) => lane === 'Ledger')
        .map(({ at, what, amount }) => (
          <g key={at + what + amount}>
            <title>{what}</title>
            <Glyph type={what} x={x(Date.parse(at))} y={middle(1)} />
          </g>
        ))}
      {shown.map(({ attempt, from, to, endedAs }, index) => (
        <g key={attempt}>
          <text className="lane" x={0} y={middle(2 + index) + 4}>
            Attempt {attempt}
          </text>
          <rect
            className={`work ${/failed|lapsed|rejected/.test(endedAs) ? 'bad' : endedAs === 'waiting' ? 'wait' : ''}`}
            x={x(from)}
            y={middle(2 + index) - 7}
            width={Math.max(x(to) - x(from), 3)}
            height={14}
            rx={2}
          >
            <title>{`${endedAs}, ${duration(to - from)}`}</title>
          </rect>
        </g>
      ))}
      {deadline !== null && (
        <g>
          <line className="guess" x1={x(deadline)} x2={x(deadline)} y1={TOP} y2={height} />
          <text x={x(deadline) - 4} y={height - 2} textAnchor="end">
            deadline
          </text>
        </g>
      )}
    </svg>
  );
}
