import type { Transaction } from '../../db/database.ts';
import type { GivenRedirect } from '../../catalogue/redirects/save.ts';
import { matchProducts, findRecords } from '../queries.ts';
import type { ImportSource } from '../source.ts';
import { filesWith, type SourceFile } from '../source-files.ts';
import { shopifyCoupons } from './coupons.ts';
import { shopifyCustomers, shopifyOrders, shopifyRedirects } from './people.ts';
import { shopifyProducts } from './products.ts';

/** The files of an export by their columns, whatever they are called. */
const isProducts = ({ columns }: SourceFile) =>
  (columns.has('handle') || columns.has('url handle')) && columns.has('title');
const isOrders = ({ columns }: SourceFile) => columns.has('lineitem name') && columns.has('total');
const isCustomers = ({ columns }: SourceFile) => columns.has('email') && columns.has('first name');
const isRedirects = ({ columns }: SourceFile) => columns.has('redirect from') || columns.has('redirect to');

const isCoupons = ({ columns }: SourceFile) => columns.has('value type') && columns.has('name');

/** The export files of a Shopify shop. */
export function shopifySource(files: readonly SourceFile[]): ImportSource {
  return {
    name: 'shopify',
    product: () => filesWith(files, isProducts, shopifyProducts),
    customer: () => filesWith(files, (file) => isCustomers(file) && !isOrders(file), shopifyCustomers),
    order: () => filesWith(files, isOrders, shopifyOrders),
    coupon: () => filesWith(files, isCoupons, shopifyCoupons),
    redirect: () => filesWith(files, isRedirects, shopifyRedirects),
    resolve: shopifyTarget,
    unknownFiles: files
      .filter((file) => ![isProducts, isOrders, isCustomers, isCoupons, isRedirects].some((is) => is(file)))
      .map(({ file }) => file.name),
  };
}

/** Where an address of the shop leads now: to the product that was imported from it. */
async function shopifyTarget(
  tx: Transaction,
  shopId: string,
  target: string,
): Promise<Pick<GivenRedirect, 'kind' | 'target'>> {
  const [, handle] =
    /^(?:https?:\/\/[^/]+)?(?:\/collections\/[^/]+)?\/products\/([^/?#]+)/.exec(target) ?? [];
  if (handle !== undefined) {
    const records = await findRecords(tx, shopId, {
      source: 'shopify',
      kind: 'product',
      sourceIds: [handle],
    });
    const ids = [...records.values()].map(({ targetId }) => targetId);
    const [product] = await matchProducts(tx, shopId, { ids, numbers: [] });
    if (product) return { kind: 'product', target: product.productNumber };
  }
  return { kind: 'address', target };
}
