/** Pieces of work after which an earlier one counts for a third. */
const MEMORY = 20;

/** How many times as long as its work a connection rests at most: after as long as it others were still 1.6 times as slow. */
const MAX_REST = 2;

/** Milliseconds. Who waits behind a search of many seconds has waited long enough. */
const MAX_REST_TIME = 1_000;

/**
 * How many of all connections a share may use beside others: all of them for work of a millisecond, half of them for work of
 * two. Short work makes way all the time, however much of it there is; long work keeps the processors of the database from
 * everybody else, and nobody can take them back. As many as `least` may work at once in any case; where these are too many,
 * each of them rests after its work.
 */
export function createShareLimit(least: number, connections: number) {
  // Sums in which work counts the less the longer ago it was.
  let milliseconds = 0;
  let squares = 0;

  /** Connections that the share has on average. */
  const share = () => {
    if (milliseconds === 0) return least;
    // Of the work that one meets at any moment: a single long piece is met more often than a hundred short ones.
    const length = squares / milliseconds;
    return connections / length;
  };

  return {
    /** How many may work at once. */
    get value() {
      return Math.max(least, Math.min(connections, Math.floor(share())));
    },

    /** Milliseconds for which a connection rests after work of so many. */
    restAfter(took: number): number {
      const excess = Math.max(0, least / share() - 1);
      return Math.round(Math.min(MAX_REST_TIME, took * Math.min(MAX_REST, excess)));
    },

    /** Counts a piece of work that took so many milliseconds. */
    note(took: number): void {
      milliseconds += took - milliseconds / MEMORY;
      squares += took ** 2 - squares / MEMORY;
    },
  };
}

export type ShareLimit = ReturnType<typeof createShareLimit>;
