/** Short names that are unique in a shop: of categories and product types. */

export const MAX_ALIAS_LENGTH = 200;

/** `Cold drinks` becomes `Cold_drinks`: letters, digits, - and _ stay. `fallback` when nothing is left. */
export function aliasOf(name: string, fallback: string): string {
  const alias = name
    .normalize('NFC')
    .replaceAll(/[^\p{L}\p{M}\p{N}_-]+/gu, '_')
    .replaceAll(/^_+|_+$/g, '');
  return start(alias, MAX_ALIAS_LENGTH) || fallback;
}

/** The alias itself, else with the first number that makes it free: Accessories, Accessories1, Accessories2. */
export function freeAlias(wanted: string, taken: ReadonlySet<string>): string {
  let alias = wanted;
  for (let number = 1; taken.has(alias); number++) {
    alias = `${start(wanted, MAX_ALIAS_LENGTH - String(number).length)}${number}`;
  }
  return alias;
}

/** All aliases that `freeAlias` may try begin with this: it leaves room for any number. */
export function aliasStart(wanted: string): string {
  return start(wanted, MAX_ALIAS_LENGTH - 10);
}

/** Counted like the database, in characters and not in surrogate halves. */
function start(text: string, length: number): string {
  return Array.from(text).slice(0, length).join('');
}
