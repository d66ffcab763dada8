/** Units of measure by their sign: what they measure, and how many of the smallest unit they are. */
const SIGNS: Readonly<Record<string, readonly [measure: string, factor: number]>> = {
  mg: ['weight', 0.001],
  g: ['weight', 1],
  kg: ['weight', 1_000],
  t: ['weight', 1_000_000],
  ml: ['volume', 1],
  cl: ['volume', 10],
  dl: ['volume', 100],
  l: ['volume', 1_000],
  mm: ['length', 1],
  cm: ['length', 10],
  m: ['length', 1_000],
  km: ['length', 1_000_000],
};

const QUANTITY = /^(\d{1,12}(?:[.,]\d{1,6})?)\s?([a-z]{1,2})$/i;

/** `1,5 kg` is 1500 of a weight; undefined: the text is no quantity with a unit. */
function quantityOf(text: string): { measure: string; amount: number } | undefined {
  const [, amount, sign] = QUANTITY.exec(text.trim()) ?? [];
  const unit = sign && SIGNS[sign.toLowerCase()];
  return unit ? { measure: unit[0], amount: Number(amount!.replace(',', '.')) * unit[1] } : undefined;
}

/**
 * Sorts things as a person would: 250 g, 500 g, 1 kg if all of them are quantities of one measure, else by their texts
 * in this language, with 9 before 10.
 */
export function inNaturalOrder<Item>(
  items: readonly Item[],
  textOf: (item: Item) => string,
  language: string,
): Item[] {
  const quantities = new Map(items.map((item) => [item, quantityOf(textOf(item))]));
  const measures = new Set([...quantities.values()].map((quantity) => quantity?.measure));
  if (measures.size === 1 && !measures.has(undefined)) {
    return items.toSorted((one, other) => quantities.get(one)!.amount - quantities.get(other)!.amount);
  }
  const { compare } = new Intl.Collator(language, { numeric: true });
  return items.toSorted((one, other) => compare(textOf(one), textOf(other)));
}
