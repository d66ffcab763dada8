export interface Polling {
  /** Reads now. Reads run one after the other, so everything committed before the call is in memory after it. */
  refresh(): Promise<void>;
  /** Runs at the start and on a timer: does nothing before there are tables, and logs a failure. */
  refreshQuietly(): Promise<void>;
  close(): Promise<void>;
}

export interface PollingOptions {
  isMigrated: () => boolean;
  /** Logged once, and not every few seconds; the state in memory stays in use. */
  onFailure: (error: unknown) => void;
}

const REFRESH_INTERVAL = 3_000;

/**
 * Keeps a small state of the database in memory that every request needs: `load` reads it with a cheap statement every
 * few seconds, because other processes and commands change it too. Code in this process that changes it calls
 * `refresh`.
 */
export function startPolling(load: () => Promise<void>, { isMigrated, onFailure }: PollingOptions): Polling {
  let loading: Promise<void> = Promise.resolve();
  let pending = 0;
  const refresh = (): Promise<void> => {
    pending++;
    loading = loading
      .catch(() => {})
      .then(load)
      .finally(() => pending--);
    return loading;
  };

  let hasFailed = false;
  const refreshQuietly = async () => {
    if (!isMigrated()) return;
    try {
      await refresh();
      hasFailed = false;
    } catch (error) {
      if (!hasFailed) onFailure(error);
      hasFailed = true;
    }
  };
  const timer = setInterval(() => void (pending === 0 && refreshQuietly()), REFRESH_INTERVAL).unref();

  return {
    refresh,
    refreshQuietly,
    async close() {
      clearInterval(timer);
      await loading.catch(() => {});
    },
  };
}
