import { webAddress } from '../http/html.ts';
import { readJson } from '../kernel/json-file.ts';
import type { Settings } from '../shops/settings/settings.ts';
import { recogniseCarrier } from './recognise-carrier.ts';

/** Addresses of tracking pages by the name of the carrier; `{code}` stands for the tracking code. */
const BUILT_IN = readJson(new URL('./carriers.json', import.meta.url)) as Readonly<Record<string, string>>;

/**
 * The carrier's tracking page of a parcel: as the shop has set it, else the built-in one. A carrier that was not named
 * is recognised by the code. undefined: the carrier is unknown, or there is no code. Case does not matter, because apps
 * may let people type the carrier.
 */
export function trackingUrl(
  { carrier, trackingCode }: { carrier: string | null; trackingCode: string | null },
  { carriers }: Pick<Settings, 'carriers'>,
): string | undefined {
  if (trackingCode === null) return undefined;
  const name = (carrier ?? recogniseCarrier(trackingCode))?.trim().toLowerCase();
  const known = [...Object.entries(carriers), ...Object.entries(BUILT_IN)];
  const pattern = known.find(([key]) => key.toLowerCase() === name)?.[1];
  return pattern?.replaceAll('{code}', () => encodeURIComponent(trackingCode.replaceAll(/\s/g, '')));
}

export interface Parcel {
  trackingCode: string;
  /** The carrier's page of it, as an app has named it; null: it follows from the carrier and the code. */
  trackingUrl: string | null;
}

/** The parcels of a shipment with their pages; null: there is none. A shipment without a code has no parcels. */
export function trackedParcels(
  {
    carrier,
    trackingCode,
    trackingUrl: givenUrl,
    furtherParcels,
  }: {
    carrier: string | null;
    trackingCode: string | null;
    trackingUrl: string | null;
    furtherParcels: Parcel[];
  },
  settings: Pick<Settings, 'carriers'>,
): Parcel[] {
  if (trackingCode === null) return [];
  return [{ trackingCode, trackingUrl: givenUrl }, ...furtherParcels].map((parcel) => {
    const byCarrier = () => trackingUrl({ carrier, trackingCode: parcel.trackingCode }, settings);
    return { ...parcel, trackingUrl: webAddress(parcel.trackingUrl ?? byCarrier()) ?? null };
  });
}

/** The carriers whose tracking pages are known, those of the shop first. */
export function carrierNames({ carriers }: Pick<Settings, 'carriers'>): string[] {
  return [...new Set([...Object.keys(carriers), ...Object.keys(BUILT_IN)])];
}
