/** Pieces of work after which an earlier one counts for a third. */
const MEMORY = 20;

/**
 * How many of all connections a share may use at once beside others: all of them for work of a millisecond, half of them
 * for work of two, but never fewer than `least`. Short work makes way all the time, however much of it there is; long work
 * keeps the processors of the database from everybody else, and nobody can take them back.
 */
export function createShareLimit(least: number, connections: number) {
  // Sums in which work counts the less the longer ago it was.
  let milliseconds = 0;
  let squares = 0;

  return {
    get value() {
      if (milliseconds === 0) return least;
      // Of the work that one meets at any moment: a single long piece is met more often than a hundred short ones.
      const length = squares / milliseconds;
      return Math.max(least, Math.min(connections, Math.floor(connections / length)));
    },

    /** Counts a piece of work that took so many milliseconds. */
    note(took: number): void {
      milliseconds += took - milliseconds / MEMORY;
      squares += took ** 2 - squares / MEMORY;
    },
  };
}

export type ShareLimit = ReturnType<typeof createShareLimit>;
