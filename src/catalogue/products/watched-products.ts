import { Type } from 'typebox';
import { readingLocale } from '../../http/locale.ts';
import { operation } from '../../http/operation.ts';
import type { Operations } from '../../http/operations.ts';
import { paged, paging } from '../../http/paging.ts';
import { Id, Links, LocaleParameter, Paged } from '../../http/schemas.ts';
import { shopSettings } from '../../shops/settings/settings.ts';
import { countWatchedProducts, findWatchedProducts } from './availability-notification-queries.ts';

const WatchedProduct = Type.Object(
  {
    productId: Id,
    name: Type.String({ description: 'Name of the product.', examples: ['Ginger tea'] }),
    productNumber: Type.String({ description: 'Its number.', examples: ['TE-120'] }),
    watchers: Type.Integer({ description: 'Number of customers who wait for it.', examples: [5] }),
    links: Links,
  },
  { title: 'watchedProduct' },
);

const { parameters, pageOf } = paging();

export const listWatchedProducts = operation({
  method: 'GET',
  path: '/watched-products',
  name: 'listWatchedProducts',
  summary: 'List watched products',
  description: 'Products out of stock that customers wait for, those with the most waiting customers first.',
  tag: 'products',
  labels: ['Base', 'Now'],
  access: 'products_write',
  query: Type.Object({ ...parameters, locale: LocaleParameter }),
  answer: Paged(WatchedProduct, 'watched product list'),
});

export function watchedProducts(api: Operations): void {
  api.read(listWatchedProducts, async ({ db, shopId, query, link }) => {
    const page = pageOf(query);
    const settings = await shopSettings(db, shopId);
    const locale = readingLocale(query.locale, settings);
    const [results, rows] = await Promise.all([
      countWatchedProducts(db, shopId),
      findWatchedProducts(db, shopId, locale, settings.defaultLocale, page.resultsPerPage, page.offset),
    ]);
    return paged(
      page,
      results,
      rows.map((row) => ({
        ...row,
        links: [{ rel: 'product', href: link(`/products/${row.productId}`) }],
      })),
    );
  });
}
