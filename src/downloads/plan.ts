import type { ContentLine } from '../pricing/content.ts';
import type { DownloadDelivery } from './delivery-queries.ts';
import { entitledPieces, isSettled, supplyBegins, type SuppliedOrder } from './entitlement.ts';
import type { GivenKey } from './key-queries.ts';
import type { DigitalProduct } from './queries.ts';

const DAY = 86_400_000;

/** What is to be done for a line of an order. */
export interface LinePlan {
  line: ContentLine;
  /** As it will be, apart from what the pool of keys decides. */
  delivery: DownloadDelivery;
  /** As it is; undefined: there is none yet. */
  known: DownloadDelivery | undefined;
  /** Pieces that the customer may use. */
  pieces: number;
  /** Keys that are missing to that; 0 while the supply has not begun. */
  missingKeys: number;
  revokedKeyIds: string[];
}

export interface SupplyFacts extends SuppliedOrder {
  products: readonly DigitalProduct[];
  deliveries: readonly DownloadDelivery[];
  /** Those that the lines have got. */
  keys: readonly GivenKey[];
}

/**
 * The deliveries of an order as they should be. The same facts give the same plan, so supplying an order again changes
 * nothing. `isReleased`: the shop delivers although it is not paid.
 */
export function planSupply(facts: SupplyFacts, now: Date, isReleased = false): LinePlan[] {
  const { order } = facts;
  const pieces = entitledPieces(facts);
  const mayBegin = isReleased || isSettled(facts);
  return order.content.lines.flatMap((line): LinePlan[] => {
    const { lineItemId, productId } = line;
    const known = facts.deliveries.find((one) => one.lineItemId === lineItemId);
    const product = facts.products.find((one) => one.productId === productId);
    const entitled = pieces.get(lineItemId) ?? 0;
    const hasGoods = product !== undefined && (product.hasKeys || product.hasFiles);
    if (!known && !(hasGoods && mayBegin && entitled > 0)) return [];
    const delivery = known ?? newDelivery(facts, line, product!, now);
    const begun = withBeginning(facts, line, delivery, now);
    const given = facts.keys.filter((key) => key.lineItemId === lineItemId && key.revokedAt === null);
    const wanted = delivery.hasKeys && delivery.revokedAt === null ? entitled : 0;
    return [
      {
        line,
        delivery: begun,
        known,
        pieces: entitled,
        missingKeys: begun.beginsAt === null ? Math.max(0, wanted - given.length) : 0,
        // The last ones: a customer has begun with the first.
        revokedKeyIds: given.slice(wanted).map(({ keyId }) => keyId),
      },
    ];
  });
}

function newDelivery(
  { order }: SupplyFacts,
  { lineItemId, productId }: ContentLine,
  { hasKeys, maxDownloads }: DigitalProduct,
  now: Date,
): DownloadDelivery {
  return {
    orderId: order.orderId,
    lineItemId,
    productId,
    createdAt: now,
    // Decided below.
    beginsAt: now,
    deliveredAt: null,
    hasKeys,
    keysWaiting: 0,
    maxDownloads,
    expiresAt: null,
    revokedAt: null,
  };
}

/** The supply begins with the consent, or after the withdrawal period. It never ends by losing the consent. */
function withBeginning(
  facts: SupplyFacts,
  line: ContentLine,
  delivery: DownloadDelivery,
  now: Date,
): DownloadDelivery {
  if (delivery.beginsAt === null) return delivery;
  const begins = supplyBegins(facts, line);
  if (begins && begins > now) return { ...delivery, beginsAt: begins };
  const days = facts.products.find(({ productId }) => productId === delivery.productId)?.days ?? null;
  const expiresAt = delivery.expiresAt ?? (days === null ? null : new Date(now.getTime() + days * DAY));
  return { ...delivery, beginsAt: null, expiresAt };
}

/** Whether the customer can use a delivery now: its files and its keys. */
export function isUsable(
  { beginsAt, deliveredAt, revokedAt }: Pick<DownloadDelivery, 'beginsAt' | 'deliveredAt' | 'revokedAt'>,
  pieces: number,
): boolean {
  return beginsAt === null && deliveredAt !== null && revokedAt === null && pieces > 0;
}

/** Whether its files can be downloaded; keys do not expire. */
export const areFilesOpen = (delivery: DownloadDelivery, pieces: number, now: Date) =>
  isUsable(delivery, pieces) && (delivery.expiresAt === null || delivery.expiresAt > now);
