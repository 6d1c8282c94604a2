// How many upstreams are usable over the next hours, as far as that is expected: a step an upstream that comes back.

import { useWidth } from '../../parts/width.ts';
import type { Upstream } from '../../types.ts';
import { clock } from '../../words.ts';
import { forecastOf } from './state.ts';

const HEIGHT = 110;
const LEFT = 28;
const RIGHT = 8;
const TOP = 8;
const BOTTOM = 22;
const WITHIN_MS = 6 * 3_600_000;

export function Forecast({ upstreams, now }: { upstreams: readonly Upstream[]; now: number }) {
  const [svg, width] = useWidth<SVGSVGElement>();
  const steps = forecastOf(upstreams, now, WITHIN_MS);
  const all = Math.max(upstreams.length, 1);
  const x = (at: number) => LEFT + ((at - now) / WITHIN_MS) * (width - LEFT - RIGHT);
  const y = (count: number) => TOP + (1 - count / all) * (HEIGHT - TOP - BOTTOM);
  const [first, ...rest] = steps;
  const path = `M${LEFT} ${y(first!.usable)}${rest.map(({ at, usable }) => `H${x(at)}V${y(usable)}`).join('')}H${width - RIGHT}`;
  const said = rest.map(({ at, usable }) => `${usable} from ${clock(at)} on`).join(', ');
  return (
    <svg
      ref={svg}
      height={HEIGHT}
      className="chart"
      viewBox={`0 0 ${width} ${HEIGHT}`}
      role="img"
      aria-label={`Usable over six hours, expected: ${first!.usable} now${said === '' ? '' : `, ${said}`}.`}
    >
      {[0, all].map((count) => (
        <g key={count}>
          <line className="axis" x1={LEFT} x2={width - RIGHT} y1={y(count)} y2={y(count)} />
          <text x={LEFT - 8} y={y(count) + 4} textAnchor="end">
            {count}
          </text>
        </g>
      ))}
      <path className="area" d={`${path}V${y(0)}H${LEFT}Z`} />
      <path className="guess" d={path} />
      {[0, 2, 4, 6].map((hours) => (
        <text
          key={hours}
          x={x(now + hours * 3_600_000)}
          y={HEIGHT - 4}
          textAnchor={hours === 0 ? 'start' : hours === 6 ? 'end' : 'middle'}
        >
          {hours === 0 ? 'now' : `in ${hours} h`}
        </text>
      ))}
    </svg>
  );
}
