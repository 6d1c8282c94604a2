// Kind: what an entry of the ledger is, drawn the same in tables, charts and lanes.
export type KindTone = 'charge' | 'refund' | 'reclaim' | 'grant' | 'plain';

const TONES: Record<string, KindTone> = {
  charge: 'charge',
  refund: 'refund',
  reclaim: 'reclaim',
  grant: 'grant',
  restore: 'grant',
};

/** Around 0,0, four units to each side. */
const SHAPES: Record<KindTone, string> = {
  charge: 'M-4.500 -3.500H4.500L0 4.500Z',
  refund: 'M-4.500 3.500H4.500L0 -4.500Z',
  reclaim: 'M0 -5L5 0L0 5L-5 0Z',
  grant: 'M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0Z',
  plain: 'M-3.500 -3.500H3.500V3.500H-3.500Z',
};

export const toneOf = (type: string): KindTone => TONES[type] ?? 'plain';

/** In an SVG, at a place. */
export function Glyph({ type, x, y }: { type: string; x: number; y: number }) {
  const tone = toneOf(type);
  return <path className={`tone-${tone}`} fill="currentColor" d={SHAPES[tone]} transform={`translate(${x} ${y})`} />;
}

export function Kind({ type }: { type: string }) {
  return (
    <span className={`kind tone-${toneOf(type)}`}>
      <svg width="12" height="12" viewBox="-6 -6 12 12" aria-hidden="true">
        <Glyph type={type} x={0} y={0} />
      </svg>
      {type}
    </span>
  );
}
