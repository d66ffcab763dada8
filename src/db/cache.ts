import { LRUCache } from 'lru-cache';

/** The content and the limit of one cache: entries where they are alike, otherwise the bytes of their texts. */
export interface CacheKind<Value extends object> {
  /** For the metrics. */
  name: string;
  /** As it is with `CACHE_MB` at its default; other values scale it. */
  limit: { entries: number } | { megabytes: number };
  /** Holds nothing: it only ties the kind to the type of its values. */
  value?: Value;
}

export interface Cache<Value extends object> {
  get(key: string): Value | undefined;
  /** `bytes` counts where the kind is limited by bytes. */
  set(key: string, value: Value, bytes?: number): void;
  delete(key: string): void;
}

/** The caches as code that reads and writes through a connection sees them. */
export interface ReadableCaches {
  of<Value extends object>(kind: CacheKind<Value>): Cache<Value>;
  isCacheableOrigin(origin: string): boolean;
}

const MEGABYTE = 1024 * 1024;

/** The sum of all kinds that are limited by bytes, and the default of `CACHE_MB`. */
export const DEFAULT_CACHE_MEGABYTES = 384;

/** Approximate overhead of an entry beside its text. */
const ENTRY_OVERHEAD = 400;

/**
 * Caches of data read from one database. The least recently used entries are evicted. Readers compare the version of
 * an entry with the one that the database names, so a stale entry is never used.
 */
export class Caches implements ReadableCaches {
  /**
   * Whether a text that names this origin may be cached. The Host header is the client's: without this check, invented
   * hosts would evict other texts. The app sets it, because it knows its hosts.
   */
  isCacheableOrigin: (origin: string) => boolean = () => false;

  readonly #caches = new Map<object, ReturnType<typeof newCache>>();
  readonly #scale: number;

  /** `megabytes`: of all caches together that are limited by bytes. Those limited by entries are scaled alike. */
  constructor(megabytes = DEFAULT_CACHE_MEGABYTES) {
    this.#scale = megabytes / DEFAULT_CACHE_MEGABYTES;
  }

  of<Value extends object>(kind: CacheKind<Value>): Cache<Value> {
    let known = this.#caches.get(kind);
    if (!known) this.#caches.set(kind, (known = newCache(kind, this.#scale)));
    return known.cache as Cache<Value>;
  }

  /** The limit of a cache that is made elsewhere, scaled like the others. */
  scaleEntries(entries: number): number {
    return scaled(entries, this.#scale);
  }

  /**
   * Empties the caches that nothing has used since the last call, so that a process gives memory back after a busy
   * time. Returns whether it emptied one and no cache is in use.
   */
  clearUnused(): boolean {
    const all = [...this.#caches.values()];
    const unused = all.filter((cache) => !cache.wasUsed());
    const cleared = unused.filter(({ entries }) => entries.size > 0);
    for (const { entries } of cleared) entries.clear();
    return cleared.length > 0 && unused.length === all.length;
  }

  /** How full each cache is, for the metrics. */
  get sizes(): { name: string; entries: number }[] {
    return [...this.#caches].map(([kind, { entries }]) => ({
      name: (kind as CacheKind<object>).name,
      entries: entries.size,
    }));
  }
}

const scaled = (limit: number, scale: number) => Math.max(1, Math.round(limit * scale));

function newCache({ limit }: CacheKind<object>, scale: number) {
  const isByBytes = 'megabytes' in limit;
  const entries = new LRUCache<string, object>(
    isByBytes
      ? { maxSize: scaled(limit.megabytes * MEGABYTE, scale) }
      : { max: scaled(limit.entries, scale) },
  );
  let isUsed = false;
  const cache: Cache<object> = {
    get: (key) => {
      isUsed = true;
      return entries.get(key);
    },
    set: (key, value, bytes = 0) => {
      isUsed = true;
      entries.set(key, value, isByBytes ? { size: bytes + ENTRY_OVERHEAD } : {});
    },
    delete: (key) => void entries.delete(key),
  };
  /** Whether it was used since the last call. */
  const wasUsed = () => {
    const wasIt = isUsed;
    isUsed = false;
    return wasIt;
  };
  return { entries, cache, wasUsed };
}

/** A transaction may roll back, so others must not see its reads: storing drops the entry instead. */
export function readOnly(caches: Caches): ReadableCaches {
  return {
    isCacheableOrigin: (origin) => caches.isCacheableOrigin(origin),
    of(kind) {
      const cache = caches.of(kind);
      return { ...cache, set: (key) => cache.delete(key) };
    },
  };
}
