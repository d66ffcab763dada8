import { meaningOf } from '../catalogue/redirects/former-shops.ts';
import { findRedirectTargets, type FoundTarget } from '../catalogue/redirects/queries.ts';
import { gone } from '../http/errors.ts';
import { categoryPath, productPath, shopPath, type Visit } from './visit.ts';

/** Pages whose addresses may be former ones. The others are secret, or belong to one visitor. */
const FORMER = ['/*', '/Products/', '/Categories/', '/pages/', '/posts/'];

export const hasFormerAddresses = (route: string): boolean =>
  FORMER.some((one) => route === one || (one !== '/*' && route.startsWith(one)));

/** The page has another address. */
export class MovedPage {
  readonly href: string;

  constructor(href: string) {
    this.href = href;
  }
}

/**
 * Where a former address leads: to what a redirect says, else to the product or category that it names in the way of
 * other shop software. It is asked only when no page has the address, and takes one statement. Throws where the page is
 * gone for good.
 */
export async function findMoved(visit: Visit, address: string): Promise<MovedPage | undefined> {
  const meaning = meaningOf(address);
  if (!meaning) return undefined;
  const found = await findRedirectTargets(visit.db, visit.shopId, meaning, visit.locale);
  const chosen =
    byOrder(found, meaning.sources, ({ sourceKey }) => sourceKey) ??
    byOrder(found, meaning.productNumbers, ({ sourceKey, productNumber }) =>
      sourceKey === null ? productNumber : null,
    ) ??
    byOrder(found, meaning.categoryAliases, ({ sourceKey, alias }) => (sourceKey === null ? alias : null));
  if (chosen?.status === 410) throw gone('The page is gone for good');
  const path = chosen ? pathOf(chosen) : meaning.path;
  if (path === undefined) return undefined;
  const href = asciiAddress(path.startsWith('/') || path === '' ? shopPath(visit, ...partsOf(path)) : path);
  // The page itself is missing, as that of a hidden category.
  return samePath(href, visit.base + address) ? undefined : new MovedPage(href);
}

/** The row with the first of these names: the most specific one. */
function byOrder(
  found: readonly FoundTarget[],
  names: readonly string[],
  nameOf: (row: FoundTarget) => string | null,
): FoundTarget | undefined {
  const byName = new Map(found.map((row) => [nameOf(row), row]));
  return names.map((name) => byName.get(name)).find((row) => row !== undefined);
}

function pathOf({ productNumber, alias, pagePath, address }: FoundTarget): string {
  if (productNumber !== null) return productPath(productNumber);
  if (pagePath !== null) return encodeURI(pagePath);
  return alias === null ? address! : categoryPath(alias);
}

/** The path and the parameters of an address in the shop, to which the visitor's language is added. */
function partsOf(address: string): [path: string, query: Record<string, string[]>] {
  const [path = '', search = ''] = address.split('?', 2);
  const query: Record<string, string[]> = {};
  for (const [name, value] of new URLSearchParams(search)) (query[name] ??= []).push(value);
  return [path === '/' ? '' : path, query];
}

/** A header takes no other letters; percent signs that are there stay. */
const asciiAddress = (address: string) =>
  address.toWellFormed().replaceAll(/[^\x21-\x7e]+/g, encodeURIComponent);

const samePath = (left: string, right: string) => left.split('?', 1)[0] === right.split('?', 1)[0];
