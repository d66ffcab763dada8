import { addressKey, decodedAddress, matchingKeys, type AddressKey } from './address.ts';

/**
 * What an address may mean by its form alone, because the shop was run by other software before. All of it is looked up
 * with the redirects, in one statement.
 */
export interface FormerMeaning {
  /** Further addresses of the same page, for which there may be a redirect. */
  sources: string[];
  /** Numbers of products. */
  productNumbers: string[];
  /** Aliases of categories, the deepest one first. */
  categoryAliases: string[];
  /** A page that every shop has. */
  path: string | undefined;
}

type Pattern = (address: AddressKey) => Partial<FormerMeaning> | undefined;

const LANGUAGE = /^\/[a-z]{2}(?:[-_][a-z]{2})?(?=\/)/i;

/** The pages of every shop under their names elsewhere. */
const PAGES: Readonly<Record<string, string>> = {
  '/collections': '/Categories',
  '/collections/all': '/Categories',
  '/products': '/Categories',
  '/shop': '/Categories',
  '/checkout/cart': '/cart',
  '/warenkorb': '/cart',
  '/basket': '/cart',
  '/my-account': '/account',
  '/mein-konto': '/account',
  '/account/login': '/account',
  '/policies/privacy-policy': '/legal/privacy-policy',
  '/policies/refund-policy': '/legal/rights-of-withdrawal',
  '/policies/terms-of-service': '/legal/terms-and-conditions',
  '/policies/legal-notice': '/legal/contact-information',
  '/policies/shipping-policy': '/legal/shipping-information',
};

/** ePages: /epages/Shop.sf/de_DE/?ObjectPath=/Shops/Shop/Products/AP-100, and the same below a domain. */
const epages: Pattern = ({ path, parameters }) => {
  const value = (name: string) =>
    parameters.find((one) => one.toLowerCase().startsWith(`${name}=`))?.slice(name.length + 1);
  const objectPath = value('objectpath');
  if (objectPath === undefined || !/^\/epages\//i.test(path)) return undefined;
  const [, , , kind, ...rest] = objectPath.split('/');
  if (kind === 'Products' && rest[0]) return { productNumbers: [rest[0]] };
  if (kind === 'Categories') {
    const aliases = rest.filter((alias) => alias !== '');
    return aliases.length === 0 ? { path: '' } : { categoryAliases: aliases.slice(-8).toReversed() };
  }
  return value('viewaction')?.toLowerCase() === 'mvbasket' ? { path: '/cart' } : undefined;
};

/** Shopify: /products/handle, which a collection and a language may precede; /collections/handle. */
const shopify: Pattern = ({ path }) => {
  const [, product] =
    /^(?:\/collections\/[^/]+)?\/products\/([^/]+?)(?:\.(?:json|oembed))?$/i.exec(path) ?? [];
  if (product !== undefined) return { sources: [`/products/${product}`], productNumbers: [product] };
  const [, collection] = /^\/collections\/([^/]+)(?:\/[^/]+)?$/i.exec(path) ?? [];
  if (collection === undefined) return undefined;
  return { sources: [`/collections/${collection}`], categoryAliases: [collection] };
};

/** WooCommerce: /product/slug, /product-category/parent/slug/page/2; the bases are often translated. */
const wooCommerce: Pattern = ({ path }) => {
  const plain = path.replace(/\/(?:page\/\d+|feed|amp)$/, '');
  const [, product] =
    /^\/(?:product|produkt|produit|producto|prodotto|shop)\/(?:[^/]+\/)*([^/]+)$/i.exec(plain) ?? [];
  if (product !== undefined) {
    return { sources: [plain, `/product/${product}`], productNumbers: [product] };
  }
  const [, categories] =
    /^\/(?:product-category|produkt-kategorie|categorie-produit|categoria-producto|categoria-prodotto)\/(.+)$/i.exec(
      plain,
    ) ?? [];
  if (categories === undefined) return undefined;
  const aliases = categories.split('/').slice(-8).toReversed();
  return { sources: [plain, `/product-category/${aliases[0]}`], categoryAliases: aliases };
};

/** Shopware: /Name-of-the-product/SW-100, /detail/id and /navigation/id in version 6; /name.html in version 5. */
const shopware: Pattern = ({ path }) => {
  const [, number] = /^\/[^/]+(?:\/[^/]+)*\/([^/]+)$/.exec(path) ?? [];
  if (number === undefined || /\.(?!html$)[a-z0-9]{2,5}$/.test(number)) return undefined;
  return { productNumbers: [number.replace(/\.html$/, '')] };
};

const PATTERNS: readonly Pattern[] = [epages, shopify, wooCommerce, shopware];

const MAX_CANDIDATES = 64;

/** All meanings of an address; undefined: it can't be one of a shop. */
export function meaningOf(address: string): FormerMeaning | undefined {
  if (!addressKey(address)) return undefined;
  const given = decodedAddress(address);
  const path = given.path.replace(LANGUAGE, '');
  const spellings = path === given.path ? [given] : [given, { ...given, path }];
  const found = spellings.flatMap((spelling) => PATTERNS.flatMap((pattern) => pattern(spelling) ?? []));
  const all = (values: readonly string[]) => [...new Set(values)].slice(0, MAX_CANDIDATES);
  const keysOf = ({ path: one, parameters }: AddressKey) =>
    matchingKeys({
      path: one.toLowerCase(),
      parameters: parameters.map((parameter) => parameter.toLowerCase()).toSorted(),
    });
  const numbers = found.flatMap(({ productNumbers = [] }) => productNumbers);
  return {
    sources: all([
      ...spellings.flatMap(keysOf),
      ...found.flatMap(({ sources = [] }) => sources.map((source) => source.toLowerCase())),
    ]),
    // Other software writes addresses in small letters.
    productNumbers: all([...numbers, ...numbers.map((number) => number.toUpperCase())]),
    categoryAliases: all(found.flatMap(({ categoryAliases = [] }) => categoryAliases)),
    path:
      found.find((one) => one.path !== undefined)?.path ??
      spellings.map((one) => PAGES[one.path.toLowerCase()]).find((one) => one !== undefined),
  };
}
