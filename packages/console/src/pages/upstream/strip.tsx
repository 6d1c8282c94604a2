// When an upstream was out: a strip of time with a bar for each block, a person's apart from what ends by itself.
import { useWidth } from '../../parts/width.ts';
import { clock, duration, plural, spaced } from '../../words.ts';
import type { Stretch } from './stretches.ts';

const HEIGHT = 56;
const TOP = 6;
const BAR = 22;
/** A block of a second is seen in a week, too. */
const LEAST = 3;

interface Props {
  stretches: readonly Stretch[];
  from: number;
  now: number;
}

export function Strip({ stretches, from, now }: Props) {
  const [svg, width] = useWidth<SVGSVGElement>();
  const x = (at: number) => ((at - from) / Math.max(now - from, 1)) * width;
  const out = stretches.filter(({ to }) => to === null).length;
  return (
    <svg
      ref={svg}
      height={HEIGHT}
      className="chart"
      viewBox={`0 0 ${width} ${HEIGHT}`}
      role="img"
      aria-label={`Blocked ${plural(stretches.length, 'time')} within ${duration(now - from)}; ${plural(out, 'block')} open now. The table below has every event.`}
    >
      <rect className="free" x={0} y={TOP} width={width} height={BAR} />
      {stretches.map(({ block, kind, manual, from: start, to, closedAs }) => (
        <rect
          key={`${block} ${start}`}
          className={manual ? 'out manual' : 'out'}
          x={Math.min(x(start), width - LEAST)}
          y={TOP}
          width={Math.max(x(to ?? now) - x(start), LEAST)}
          height={BAR}
        >
          <title>{`${spaced(kind)}, ${clock(start)} to ${to === null ? 'now' : clock(to)}${closedAs ? `, ended by ${spaced(closedAs)}` : ''}`}</title>
        </rect>
      ))}
      <text x={0} y={HEIGHT - 8}>
        {clock(from)}
      </text>
      <text x={width} y={HEIGHT - 8} textAnchor="end">
        now
      </text>
    </svg>
  );
}
