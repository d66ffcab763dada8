/** What the readers of products in files have in common. */

/** Pictures that a product takes from a file. */
export const MAX_PICTURES = 20;
/** Characters of a product number. */
export const MAX_NUMBER = 100;
/** Variants of an export: all of them are in memory, because they may come long after their products. */
export const MAX_VARIANTS = 500_000;
/** Variants of one product, with those of an attribute that may have any value. */
export const MAX_OFFERED = 5_000;
export const MAX_ATTRIBUTE_VALUES = 50;

/** Gives each offer of a product a number: its own one, or the other one when it has none or another offer has it. */
export function uniqueNumbers(): (own: string, fallback: string) => string {
  const taken = new Set<string>();
  return (own, fallback) => {
    const number = own === '' || taken.has(own) ? fallback : own;
    taken.add(number);
    return number.slice(0, MAX_NUMBER);
  };
}
