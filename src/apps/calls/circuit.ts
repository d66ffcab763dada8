import { LRUCache } from 'lru-cache';

/** Failures in a row after which an app is not called for a while. */
const MAX_FAILURES = 5;
/** Milliseconds for which it is not called; then one call tries whether it answers again. */
const OPEN_FOR = 30_000;
const MAX_CIRCUITS = 5_000;

interface Circuit {
  failures: number;
  /** Milliseconds since 1970. */
  openUntil: number;
  isTrying: boolean;
}

export type Circuits = ReturnType<typeof createCircuits>;

/**
 * Circuit breakers by app and call: customers do not wait for an app that has just failed again and again. Each process
 * has its own.
 */
export function createCircuits() {
  const circuits = new LRUCache<string, Circuit>({ max: MAX_CIRCUITS });
  return {
    /** Whether to call; each call that may be made is followed by `succeed` or `fail`. */
    mayCall(key: string, now: Date): boolean {
      const circuit = circuits.get(key);
      if (!circuit || circuit.failures < MAX_FAILURES) return true;
      if (circuit.isTrying || now.getTime() < circuit.openUntil) return false;
      circuit.isTrying = true;
      return true;
    },
    succeed(key: string): void {
      circuits.delete(key);
    },
    fail(key: string, now: Date): void {
      const failures = (circuits.get(key)?.failures ?? 0) + 1;
      circuits.set(key, { failures, openUntil: now.getTime() + OPEN_FOR, isTrying: false });
    },
    isOpen: (key: string): boolean => (circuits.peek(key)?.failures ?? 0) >= MAX_FAILURES,
  };
}
