import type { ReceiverPolicy } from '../apps/webhooks/receiver-address.ts';
import type { CacheKind } from '../db/cache.ts';
import type { Database } from '../db/database.ts';
import { fetchProfile } from './fetch-profile.ts';
import { parseProfile, type PlatformProfile } from './platform-profile.ts';
import { ProtocolProblem } from './problem.ts';

interface CachedProfile {
  /** Why it can't be used, instead of the profile. */
  result: PlatformProfile | ProtocolProblem;
  /** Milliseconds since 1970. */
  fetchedAt: number;
  validUntil: number;
}

/** Many assistants of one company share a profile, so a few hundred are more than a service meets. */
const profileCache: CacheKind<CachedProfile> = { name: 'profiles of assistants', limit: { entries: 500 } };

/** An address that fails is not asked again for this long, and neither is one for a key that it does not have. */
const PAUSE = 60_000;

/** Profiles that are fetched at the same time: strangers name their addresses, and each may be slow. */
const MAX_AT_ONCE = 20;

export type PlatformProfiles = ReturnType<typeof createPlatformProfiles>;

/** The profiles of assistants: fetched when they are named first, cached, and never more than a few at once. */
export function createPlatformProfiles(db: Database, policy: ReceiverPolicy) {
  const underWay = new Map<string, Promise<PlatformProfile>>();

  const load = async (address: URL): Promise<PlatformProfile> => {
    const cache = db.caches.of(profileCache);
    const begun = db.serviceNow.getTime();
    const remember = (result: CachedProfile['result'], milliseconds: number) =>
      cache.set(address.href, { result, fetchedAt: begun, validUntil: begun + milliseconds });
    try {
      const { bytes, age } = await fetchProfile(policy, address);
      const profile = parseProfile(bytes);
      remember(profile, age * 1_000);
      return profile;
    } catch (error) {
      if (error instanceof ProtocolProblem) remember(error, PAUSE);
      throw error;
    }
  };

  /** `mayFetch` counts a fetch against the limits of the client that causes it, and throws beyond them. */
  const fetchOnce = async (address: URL, mayFetch: () => Promise<void>): Promise<PlatformProfile> => {
    await mayFetch();
    const known = underWay.get(address.href);
    if (known) return known;
    if (underWay.size >= MAX_AT_ONCE) {
      throw new ProtocolProblem('discovery_busy', 'Too many profiles are being fetched', {
        'retry-after': '5',
      });
    }
    const fetching = load(address).finally(() => underWay.delete(address.href));
    underWay.set(address.href, fetching);
    return fetching;
  };

  return {
    async find(address: URL, mayFetch: () => Promise<void>): Promise<PlatformProfile> {
      const cached = db.caches.of(profileCache).get(address.href);
      if (!cached || cached.validUntil <= db.serviceNow.getTime()) return fetchOnce(address, mayFetch);
      if (cached.result instanceof ProtocolProblem) throw cached.result;
      return cached.result;
    },
    /** Fetches a profile again whose keys may have changed. undefined: it was fetched a moment ago. */
    async findNewer(address: URL, mayFetch: () => Promise<void>): Promise<PlatformProfile | undefined> {
      const cached = db.caches.of(profileCache).get(address.href);
      const isFresh = cached && cached.fetchedAt > db.serviceNow.getTime() - PAUSE;
      return isFresh ? undefined : fetchOnce(address, mayFetch);
    },
  };
}
