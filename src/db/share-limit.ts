/** Pieces of work after which a limit is looked at again. */
const SAMPLE = 20;

/** How much longer work may take on average than it does within the least limit. */
const SLOWED = 1.2;

/** Milliseconds after which a limit that was too high is raised again. */
const RETRY_AFTER = 5_000;

/** A piece of work that has ended. */
export interface EndedWork {
  /** Milliseconds that it took. */
  took: number;
  /** How many of the same share ran when it began or when it ended, whichever was more. */
  beside: number;
  /** More of the same share waits. */
  isShort: boolean;
}

/**
 * How many connections a share may use at once beside others: `least` at any time, and up to `most` as long as that does
 * not slow its own work down. Where more at once only take longer each, the processors of the database are what is
 * short: further connections would bring the share nothing, and slow down everybody else.
 */
export function createShareLimit(least: number, most: number, clock = () => performance.now()) {
  let limit = least;
  let retryAt = -Infinity;
  /** Milliseconds that work takes within the least limit, as a moving average. */
  let usual: number | undefined;
  let sample = { count: 0, took: 0 };

  return {
    get value() {
      return limit;
    },

    note({ took, beside, isShort }: EndedWork): void {
      if (beside <= least) usual = usual === undefined ? took : usual + (took - usual) / SAMPLE;
      sample.count++;
      sample.took += took;
      if (usual === undefined || sample.count < SAMPLE) return;
      const average = sample.took / sample.count;
      sample = { count: 0, took: 0 };
      if (limit > least && average > SLOWED * usual) {
        limit = least;
        retryAt = clock() + RETRY_AFTER;
      } else if (isShort && limit < most && clock() >= retryAt) limit++;
    },
  };
}

export type ShareLimit = ReturnType<typeof createShareLimit>;
