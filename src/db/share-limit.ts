/** Pieces of work after which an earlier one counts for a third. */
const MEMORY = 20;

/** Maximum rest of a connection, as a multiple of its work: with 1, others were still 1.6 times as slow. */
const MAX_REST = 2;

/** Milliseconds. A request that waits after a search of many seconds has waited enough. */
const MAX_REST_TIME = 1_000;

/**
 * How many of all connections a share may use beside others: all of them for work of a millisecond, half of them for
 * work of two. Short work yields all the time, however much of it there is; long work keeps the processors of the
 * database from everyone else and cannot be interrupted. At least `minimum` may work at once in any case; where these
 * are too many, each rests after its work.
 */
export function createShareLimit(minimum: number, connections: number) {
  // Sums in which older work counts less.
  let milliseconds = 0;
  let squares = 0;

  /** Connections that the share uses on average. */
  const share = () => {
    if (milliseconds === 0) return minimum;
    // Average over the work met at a random moment: one long piece is met more often than a hundred short ones.
    const length = squares / milliseconds;
    return connections / length;
  };

  return {
    /** How many may work at once. */
    get value() {
      return Math.max(minimum, Math.min(connections, Math.floor(share())));
    },

    /** Milliseconds that a connection rests after work of this duration. */
    restAfter(took: number): number {
      const excess = Math.max(0, minimum / share() - 1);
      return Math.round(Math.min(MAX_REST_TIME, took * Math.min(MAX_REST, excess)));
    },

    /** Counts a piece of work of this duration in milliseconds. */
    note(took: number): void {
      milliseconds += took - milliseconds / MEMORY;
      squares += took ** 2 - squares / MEMORY;
    },
  };
}

export type ShareLimit = ReturnType<typeof createShareLimit>;
