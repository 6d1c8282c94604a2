// The balance over time: a step a change, a glyph an entry, the playhead where somebody looks.

import { Glyph } from '../../parts/kind.tsx';
import { useWidth } from '../../parts/width.ts';
import type { Entry } from '../../types.ts';
import { clock, number } from '../../words.ts';

const HEIGHT = 200;
const LEFT = 64;
const RIGHT = 12;
const TOP = 12;
const BOTTOM = 24;
/** More glyphs than that are a smear. */
const MAX_GLYPHS = 120;

interface Props {
  /** Oldest first. */
  entries: readonly Entry[];
  seq: number;
  onPick: (seq: number) => void;
}

/** Round steps of the axis: 1, 2 or 5 times a power of ten. */
function ticksOf(low: number, high: number): number[] {
  const raw = Math.max((high - low) / 3, 1);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= raw)!;
  const ticks: number[] = [];
  for (let tick = Math.ceil(low / step) * step; tick <= high; tick += step) ticks.push(tick);
  return ticks;
}

export function StepChart({ entries, seq, onPick }: Props) {
  const [svg, width] = useWidth<SVGSVGElement>();
  const first = entries[0]!;
  const start = first.balance - first.amount;
  const balances = [start, ...entries.map(({ balance }) => balance)];
  const low = Math.min(0, ...balances);
  const high = Math.max(1, ...balances);
  // By entry, not by the clock: what happened within one second is what somebody asks about.
  const x = (index: number) => LEFT + ((index + 0.5) / entries.length) * (width - LEFT - RIGHT);
  const y = (value: number) => TOP + ((high - value) / (high - low)) * (HEIGHT - TOP - BOTTOM);
  const path = entries.map(({ balance }, index) => `H${x(index)}V${y(balance)}`).join('');
  const line = `M${LEFT} ${y(start)}${path}H${width - RIGHT}`;
  const at = entries.findIndex((entry) => entry.seq === seq);
  const labels = [0, entries.length - 1].filter((index, place, all) => all.indexOf(index) === place);
  return (
    <svg
      ref={svg}
      height={HEIGHT}
      className="chart"
      viewBox={`0 0 ${width} ${HEIGHT}`}
      role="img"
      aria-label={`The balance over ${entries.length} entries, from ${number(start)} to ${number(balances.at(-1)!)}. The table below has every entry.`}
    >
      {ticksOf(low, high).map((tick) => (
        <g key={tick}>
          <line className="axis" x1={LEFT} x2={width - RIGHT} y1={y(tick)} y2={y(tick)} />
          <text x={LEFT - 8} y={y(tick) + 4} textAnchor="end">
            {number(tick)}
          </text>
        </g>
      ))}
      <path className="area" d={`${line}V${y(0)}H${LEFT}Z`} />
      <path className="step" d={line} />
      {at >= 0 && <line className="head" x1={x(at)} x2={x(at)} y1={TOP - 6} y2={HEIGHT - BOTTOM} />}
      {entries.length <= MAX_GLYPHS &&
        entries.map((entry, index) => (
          // biome-ignore lint/a11y/noStaticElementInteractions: a target for the pointer; [ and ] and the table do the same
          <g key={entry.seq} onClick={() => onPick(entry.seq)} style={{ cursor: 'pointer' }}>
            <Glyph type={entry.type} x={x(index)} y={y(entry.balance)} />
            <rect x={x(index) - 8} y={TOP} width={16} height={HEIGHT - TOP - BOTTOM} fill="transparent" />
          </g>
        ))}
      {labels.map((index) => (
        <text
          key={index}
          x={index === 0 ? LEFT : width - RIGHT}
          y={HEIGHT - 6}
          textAnchor={index === 0 ? 'start' : 'end'}
        >
          {clock(entries[index]!.createdAt)}
        </text>
      ))}
    </svg>
  );
}
