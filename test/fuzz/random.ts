/** Random numbers that are the same for the same seed, so that a run can be repeated. */
export interface Random {
  /** From 0 up to, and without, 1. */
  next: () => number;
  /** A whole number from 0 up to, and without, `limit`. */
  below: (limit: number) => number;
  chance: (probability: number) => boolean;
  pick: <Value>(values: readonly Value[]) => Value;
}

/** Mulberry32: 32 bits of state are enough to choose between mistakes. */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    next,
    below,
    chance: (probability) => next() < probability,
    pick: (values) => values[below(values.length)]!,
  };
}
