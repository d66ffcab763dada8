/**
 * The clocks of sandboxes, the only shops that have one of their own. There are few of them, so all are in memory, and
 * any other shop costs a look at a small map. `src/shops/sandbox/clocks.ts` reads them every few seconds, and a request
 * that reads the settings of a sandbox learns of its clock at once.
 */
export interface ShopClocks {
  /** Milliseconds by which the clock of a sandbox is ahead; undefined: the shop has that of the service. */
  offsetOf(shopId: string): number | undefined;
  /** The sandboxes whose clock is ahead. */
  ahead(): string[];
  set(shopId: string, offset: number): void;
  /** Takes the place of all that are known. */
  replace(offsets: ReadonlyMap<string, number>): void;
}

export function createShopClocks(): ShopClocks {
  let known = new Map<string, number>();
  // Clocks go forward only, so the larger one is the newer: it may have been set while others were read.
  const newer = (shopId: string, offset: number) => Math.max(offset, known.get(shopId) ?? 0);
  return {
    offsetOf: (shopId) => known.get(shopId),
    ahead: () => [...known].flatMap(([shopId, offset]) => (offset > 0 ? [shopId] : [])),
    set: (shopId, offset) => void known.set(shopId, newer(shopId, offset)),
    replace: (offsets) => {
      known = new Map([...offsets].map(([shopId, offset]) => [shopId, newer(shopId, offset)]));
    },
  };
}

interface BothClocks {
  /** By the clock of the shop, which is ahead in a sandbox. */
  now: Date;
  serviceNow: Date;
}

/** A time by the clock of the shop as that of the service, by which background work is done. */
export const atServiceClock = ({ now, serviceNow }: BothClocks, moment: Date) =>
  new Date(moment.getTime() - (now.getTime() - serviceNow.getTime()));

/** A time by the clock of the service as that of the shop. */
export const atShopClock = ({ now, serviceNow }: BothClocks, moment: Date) =>
  new Date(moment.getTime() + (now.getTime() - serviceNow.getTime()));
