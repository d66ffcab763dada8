import type { NotedCode } from '../../carts/assistant-notes.ts';
import { couponKey } from '../../coupons/campaign.ts';
import { findKnownCodes } from '../../coupons/queries.ts';
import type { Queries } from '../../db/database.ts';

/** The codes of a request, and the one that the cart gets: it can have one coupon. */
export interface WantedCodes {
  codes: readonly NotedCode[];
  /** null: none. */
  codeKey: string | null;
}

/** Which of the codes are known. One that is valid now is taken before others. */
export async function findWantedCodes(
  db: Queries,
  shopId: string,
  sent: readonly string[],
): Promise<WantedCodes> {
  const codes = sent.filter((code) => code.trim() !== '');
  const known = codes.length > 0 ? await findKnownCodes(db, shopId, codes.map(couponKey)) : [];
  const keys = codes.map(couponKey).filter((key) => known.some(({ codeKey }) => codeKey === key));
  const valid = keys.find((key) => known.some(({ codeKey, isValid }) => codeKey === key && isValid));
  const codeKey = valid ?? keys[0] ?? null;
  return {
    codeKey,
    codes: codes.map((code, index): NotedCode => {
      const key = couponKey(code);
      if (!keys.includes(key)) return { code, refusal: 'unknown' };
      const isChosen = key === codeKey && index === codes.findIndex((one) => couponKey(one) === key);
      return isChosen ? { code } : { code, refusal: 'second' };
    }),
  };
}
