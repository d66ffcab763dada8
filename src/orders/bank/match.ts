/** An order that waits for money. */
export interface PayableOrder {
  orderId: string;
  orderNumber: string;
  currency: string;
  /** The amount left to pay, in minor units. */
  payable: number;
  customer: string;
}

export interface MatchedEntry {
  entryId: string;
  amount: number;
  currency: string;
  text: string | null;
}

/**
 * sure: the transfer names the order and pays what is left of it. possible: one of both. none: the merchant has to look for
 * the order.
 */
export interface Proposal<Entry extends MatchedEntry = MatchedEntry> {
  entry: Entry;
  kind: 'sure' | 'possible' | 'none';
  orders: PayableOrder[];
}

const MAX_WORDS = 60;
const MAX_CANDIDATES = 3;

/** The words of a transfer that may be the number of an order: as written, without the punctuation around it, in capitals. */
export function referencesIn(text: string | null): string[] {
  const words = (text ?? '').match(/[\p{L}\p{N}]+(?:[-/._#][\p{L}\p{N}]+)*/gu) ?? [];
  const parts = words.flatMap((word) => [word, ...word.split(/[-/._#]/)]);
  return [...new Set(parts.flatMap((word) => [word, word.toUpperCase()]))]
    .filter((word) => /\p{N}/u.test(word) && word.length <= 64)
    .slice(0, MAX_WORDS);
}

/**
 * Proposes orders for the entries. An order is surely paid by one entry at most: if two name it and have its amount, somebody
 * has paid twice, and the merchant decides.
 */
export function matchEntries<Entry extends MatchedEntry>(
  entries: readonly Entry[],
  { named, waiting }: { named: readonly PayableOrder[]; waiting: readonly PayableOrder[] },
): Proposal<Entry>[] {
  const byNumber = new Map(named.map((order) => [order.orderNumber.toUpperCase(), order]));
  const bySum = new Map<string, PayableOrder[]>();
  for (const order of waiting) {
    const sum = `${order.currency} ${order.payable}`;
    const same = bySum.get(sum);
    if (same) same.push(order);
    else bySum.set(sum, [order]);
  }
  const taken = new Set<string>();
  return entries.map((entry) => {
    const references = referencesIn(entry.text).map((reference) => byNumber.get(reference.toUpperCase()));
    const referenced = [...new Set(references)].filter(
      (order): order is PayableOrder => order !== undefined && order.currency === entry.currency,
    );
    const exact = referenced.filter(({ payable }) => payable === entry.amount);
    const [order] = exact;
    if (order && exact.length === 1 && !taken.has(order.orderId)) {
      taken.add(order.orderId);
      return { entry, kind: 'sure', orders: [order] };
    }
    const withSum = bySum.get(`${entry.currency} ${entry.amount}`) ?? [];
    const orders = [...new Map([...referenced, ...withSum].map((one) => [one.orderId, one])).values()];
    return { entry, kind: orders.length > 0 ? 'possible' : 'none', orders: orders.slice(0, MAX_CANDIDATES) };
  });
}
