// Random numbers from a seed: the same seed asks the same questions in the same order, though not at the same instants.

export interface Random {
  /** From 0 up to, not including, 1. */
  next(): number;
  /** An integer of that range, both ends included. */
  between(low: number, high: number): number;
  pick<T>(all: readonly T[]): T;
  /** Another one, whose numbers do not depend on how many this one has given. */
  fork(name: string): Random;
}

/** mulberry32: 32 bits of state are plenty for choosing faults. */
export function random(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
  const between = (low: number, high: number) => low + Math.floor(next() * (high - low + 1));
  return {
    next,
    between,
    pick: (all) => all[between(0, all.length - 1)]!,
    fork: (name) => {
      let hash = seed | 0;
      for (const letter of name) hash = (Math.imul(hash, 31) + letter.codePointAt(0)!) | 0;
      return random(hash);
    },
  };
}
