import { LRUCache } from 'lru-cache';

/** What one cache holds, and how much of it: by entries where they are alike, else by the bytes of their texts. */
export interface CacheKind<Value extends object> {
  /** For the metrics. */
  name: string;
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

/** The caches as those see them who read and write through a connection. */
export interface ReadableCaches {
  of<Value extends object>(kind: CacheKind<Value>): Cache<Value>;
  isCacheableOrigin(origin: string): boolean;
}

const MEGABYTE = 1024 * 1024;

/** What an entry costs beside its text, roughly. */
const ENTRY_OVERHEAD = 400;

/**
 * The caches of one database: what they hold was read from it. The least recently used entries make room for new ones.
 * Whoever reads an entry compares its version with the one that the database names, so a stale entry is never used.
 */
export class Caches implements ReadableCaches {
  /**
   * Whether a text that names this origin may be cached. The Host header is the client's: without this, each one that
   * somebody makes up would push other texts out of the cache. The app sets it, because it knows its hosts.
   */
  isCacheableOrigin: (origin: string) => boolean = () => false;

  readonly #caches = new Map<object, { entries: LRUCache<string, object>; cache: Cache<object> }>();

  of<Value extends object>(kind: CacheKind<Value>): Cache<Value> {
    let known = this.#caches.get(kind);
    if (!known) this.#caches.set(kind, (known = newCache(kind)));
    return known.cache as Cache<Value>;
  }

  /** How full each cache is, for the metrics. */
  get sizes(): { name: string; entries: number }[] {
    return [...this.#caches].map(([kind, { entries }]) => ({
      name: (kind as CacheKind<object>).name,
      entries: entries.size,
    }));
  }
}

function newCache({ limit }: CacheKind<object>) {
  const isByBytes = 'megabytes' in limit;
  const entries = new LRUCache<string, object>(
    isByBytes ? { maxSize: limit.megabytes * MEGABYTE } : { max: limit.entries },
  );
  const cache: Cache<object> = {
    get: (key) => entries.get(key),
    set: (key, value, bytes = 0) => {
      entries.set(key, value, isByBytes ? { size: bytes + ENTRY_OVERHEAD } : {});
    },
    delete: (key) => void entries.delete(key),
  };
  return { entries, cache };
}

/** What a transaction has read may never be committed, so others must not find it: storing drops the entry instead. */
export function readOnly(caches: Caches): ReadableCaches {
  return {
    isCacheableOrigin: (origin) => caches.isCacheableOrigin(origin),
    of(kind) {
      const cache = caches.of(kind);
      return { ...cache, set: (key) => cache.delete(key) };
    },
  };
}
