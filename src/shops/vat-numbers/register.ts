import { LRUCache } from 'lru-cache';
import { isInEu } from '../countries/countries.ts';
import type { Settings } from '../settings/settings.ts';
import type { VatCheck } from './buyer.ts';
import { isInVies, parseVatNumber, vatPrefixOf, type VatNumber } from './vat-numbers.ts';
import { askVies, type Post, type RegisterAnswer } from './vies.ts';

/** Milliseconds that a shopper waits for the register. */
export const CHECK_BUDGET = 2_000;
/** Questions at the same time: of the process, and of one shop. The register refuses callers that ask too much. */
const MAX_RUNNING = 8;
const MAX_RUNNING_OF_SHOP = 4;
/** Questions of one shop in an hour, so that strangers who send invented numbers can't get the service blocked. */
const MAX_PER_HOUR = 300;
const HOUR = 3_600_000;
/** Milliseconds for which an answer counts without another question. */
export const CHECK_FRESH_FOR = 10 * 60_000;

export interface VatRegister {
  /** Never throws, and answers within the budget. Call it outside of transactions. */
  check(shopId: string, number: VatNumber, requester: VatNumber | undefined): Promise<VatCheck>;
  /**
   * What it answered in the last minutes, without asking again; undefined: nothing. For callers inside of a transaction
   * who have asked before it.
   */
  lastAnswer(number: VatNumber, requester: VatNumber | undefined): VatCheck | undefined;
}

export interface RegisterOptions {
  post: Post;
  /** `off`: nothing is asked, and each result is unavailable. */
  url: string;
  now: () => Date;
  /** Nothing is asked for this shop: it is a sandbox. */
  isOff: (shopId: string) => Promise<boolean>;
}

/**
 * Whether VAT numbers exist, as VIES says. Answers are cached for some minutes by number and requester, in this process;
 * after a failure the next try asks again.
 */
export function createVatRegister({ post, url, now, isOff }: RegisterOptions): VatRegister {
  const answers = new LRUCache<string, VatCheck>({ max: 5_000 });
  const underWay = new Map<string, Promise<RegisterAnswer>>();
  const running = new Map<string, number>();
  const asked = new LRUCache<string, { hour: number; count: number }>({ max: 10_000 });

  const mayAsk = (shopId: string): boolean => {
    const inAll = [...running.values()].reduce((sum, count) => sum + count, 0);
    if (url === 'off' || inAll >= MAX_RUNNING || (running.get(shopId) ?? 0) >= MAX_RUNNING_OF_SHOP)
      return false;
    const hour = Math.floor(now().getTime() / HOUR);
    const before = asked.get(shopId);
    const count = before?.hour === hour ? before.count + 1 : 1;
    if (count > MAX_PER_HOUR) return false;
    asked.set(shopId, { hour, count });
    return true;
  };

  const ask = async (shopId: string, number: VatNumber, requester: VatNumber | undefined) => {
    running.set(shopId, (running.get(shopId) ?? 0) + 1);
    try {
      return await withinBudget(askVies(post, url, number, requester));
    } finally {
      const left = running.get(shopId)! - 1;
      if (left === 0) running.delete(shopId);
      else running.set(shopId, left);
    }
  };

  return {
    async check(shopId, number, requester) {
      const known = this.lastAnswer(number, requester);
      if (known && known.result !== 'unavailable') return known;
      if (url !== 'off' && (await isOff(shopId))) return checked(number, { result: 'unavailable' });
      const key = keyOf(number, requester);
      let answer = underWay.get(key);
      if (!answer) {
        if (!mayAsk(shopId)) return checked(number, { result: 'unavailable' });
        answer = ask(shopId, number, requester).finally(() => underWay.delete(key));
        underWay.set(key, answer);
      }
      const check = checked(number, await answer);
      answers.set(key, check);
      return check;
    },

    lastAnswer(number, requester) {
      const known = answers.get(keyOf(number, requester));
      return known && isFresh(known, now()) ? known : undefined;
    },
  };

  function checked({ number }: VatNumber, answer: RegisterAnswer): VatCheck {
    return { vatNumber: number, checkedAt: now().toISOString(), ...answer };
  }
}

const keyOf = (number: VatNumber, requester: VatNumber | undefined) =>
  `${number.number} ${requester?.number ?? ''}`;

async function withinBudget(asking: Promise<RegisterAnswer>): Promise<RegisterAnswer> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<RegisterAnswer>((resolve) => {
    timer = setTimeout(() => resolve({ result: 'unavailable' }), CHECK_BUDGET);
  });
  try {
    return await Promise.race([asking, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Young enough to count when an order is placed. */
export function isFresh({ checkedAt }: VatCheck, now: Date): boolean {
  return now.getTime() - Date.parse(checkedAt) < CHECK_FRESH_FOR;
}

/** What VAT numbers of customers are checked with. */
type Seller = Pick<Settings, 'country' | 'invoicing'>;

/**
 * The number of a customer that has to be checked: only that of a business in another member state changes the tax,
 * and only for a shop in the European Union that has a VAT number itself. undefined: there is none, or it is none.
 */
export function numberToCheck(
  { vatId, country }: { vatId: string | null; country: string | null },
  seller: Seller,
): VatNumber | undefined {
  if (vatId === null || !isInEu(seller.country) || requesterOf(seller) === undefined) return undefined;
  const number = parseVatNumber(vatId, country);
  if (typeof number === 'string' || !isInVies(number.prefix)) return undefined;
  return number.prefix === vatPrefixOf(seller.country) ? undefined : number;
}

/** The shop's own number. Its check digits don't matter here: VIES answers also when it does not know the requester. */
export function requesterOf({ invoicing, country }: Seller): VatNumber | undefined {
  const vatId = invoicing?.vatId;
  const prefix = vatId === undefined ? undefined : vatPrefixOf(vatId.slice(0, 2));
  return prefix !== undefined && isInVies(prefix) && isInEu(country)
    ? { prefix, number: prefix + vatId!.slice(2) }
    : undefined;
}

/** A check that was valid counts this long when the register does not answer at the order: it was asked, and has the proof. */
const VALID_FOR = 24 * HOUR;

/** The check to place an order with, when there is an older one and the register was asked again. */
export function laterCheck(before: VatCheck, again: VatCheck, now: Date): VatCheck {
  const isKept =
    again.result === 'unavailable' &&
    before.result === 'valid' &&
    now.getTime() - Date.parse(before.checkedAt) < VALID_FOR;
  return isKept ? before : again;
}

/** Whether the check is of the number in this address. */
export function isCheckOf(
  { vatNumber }: VatCheck,
  { vatId, country }: { vatId: string | null; country: string | null },
): boolean {
  const number = vatId === null ? undefined : parseVatNumber(vatId, country);
  return typeof number === 'object' && number.number === vatNumber;
}
