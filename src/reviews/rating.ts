/** The number of published reviews with one star, two, ... five. */
export type StarCounts = readonly [number, number, number, number, number];

export interface Rating {
  count: number;
  /** From 1 to 5, to one decimal. */
  average: number;
  stars: StarCounts;
}

/** undefined: there is no review. */
export function ratingOf(stars: StarCounts): Rating | undefined {
  const count = stars.reduce((sum, reviews) => sum + reviews, 0);
  if (count === 0) return undefined;
  const sum = stars.reduce((total, reviews, index) => total + reviews * (index + 1), 0);
  // Tenths as whole numbers: half of a tenth is rounded up exactly.
  return { count, average: Math.floor((20 * sum + count) / (2 * count)) / 10, stars };
}
