import { notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { isId, newSecret, secretHash } from '../../kernel/ids.ts';
import { productValues } from '../../catalogue/products/product-cache.ts';
import { findVersions } from '../../catalogue/products/queries.ts';
import type { Product } from '../../catalogue/products/schema.ts';
import { visitorOptions } from '../page-cache.ts';
import type { Pages } from '../pages.ts';
import { isAvailable, productCards } from '../product/product-card.ts';
import { addVisitorEvents } from '../session.ts';
import { productPath, shopPath, type Visit } from '../visit.ts';
import {
  countWishlistItems,
  deleteWishlistItem,
  findWishlistItems,
  insertWishlistItem,
  MAX_WISHLIST_ITEMS,
} from './queries.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { Redirect } from '../../http/page-kit.ts';

export function wishlist(pages: Pages): void {
  pages.get('/wishlist', async (visit) => {
    const messages = messagesIn(visit.locale).storefront.wishList;
    const products = await findWishlistProducts(visit);
    return {
      title: messages.title,
      path: '/wishlist',
      isPrivate: true,
      main: html`<h1>${messages.title}</h1>
        ${
          products.length > 0
            ? productCards(visit, products, { heading: 'h2', actions: (product) => actions(visit, product) })
            : html`<p>${messages.empty} ${messages.hint}</p>
                <p><a class="button" href="${shopPath(visit, '')}">${messages.home}</a></p>`
        }`,
    };
  });

  pages.file('/wishlist/products', async ({ db, shopId, session }) => {
    const { visitor } = session;
    const refs = visitor === undefined ? [] : await findWishlistItems(db, shopId, secretHash(visitor));
    return { type: 'application/json', content: JSON.stringify(refs.map(({ productId }) => productId)) };
  });

  pages.post('/wishlist/add', async (visit, { field, referrerPath }) => {
    const { db, shopId, session } = visit;
    const messages = messagesIn(visit.locale).storefront.wishList;
    const productId = field('productId').toUpperCase();
    const [ref] = isId(productId) ? await findVersions(db, shopId, [productId]) : [];
    if (!ref?.visible) throw notFound();
    const visitor = session.visitor ?? newSecret(32);
    const visitorHash = secretHash(visitor);
    const wishlistCount = await db.transaction(async (tx) => {
      await insertWishlistItem(tx, shopId, visitorHash, productId);
      const { all, visible } = await countWishlistItems(tx, shopId, visitorHash);
      if (all <= MAX_WISHLIST_ITEMS) return visible;
      await deleteWishlistItem(tx, shopId, visitorHash, productId);
      return undefined;
    });
    if (wishlistCount === undefined)
      return new Redirect(referrerPath, messages.full({ most: MAX_WISHLIST_ITEMS }));
    const visitorEvents = addVisitorEvents(session, { event: 'wishlist:add', productId });
    visit.updateSession({ visitor, wishlistCount, visitorEvents });
    return new Redirect(referrerPath, messages.added);
  });

  pages.post('/wishlist/remove', async (visit, { field, referrerPath }) => {
    const { db, shopId, session } = visit;
    const productId = field('productId');
    if (session.visitor === undefined || !isId(productId)) return new Redirect(referrerPath);
    const visitorHash = secretHash(session.visitor);
    const wishlistCount = await db.transaction(async (tx) => {
      await deleteWishlistItem(tx, shopId, visitorHash, productId);
      return (await countWishlistItems(tx, shopId, visitorHash)).visible;
    });
    visit.updateSession({ wishlistCount });
    return new Redirect(referrerPath, messagesIn(visit.locale).storefront.wishList.removed);
  });
}

/** Also corrects the count of the header, because a product may have been deleted since the last visit. */
async function findWishlistProducts(visit: Visit): Promise<Product[]> {
  const { db, shopId, session, settings } = visit;
  if (session.visitor === undefined) return [];
  const refs = await findWishlistItems(db, shopId, secretHash(session.visitor));
  const products = await productValues(db, settings, refs, visitorOptions(visit, 'list'));
  visit.updateSession({ wishlistCount: products.length });
  return products;
}

function actions(visit: Visit, product: Product): Markup {
  const messages = messagesIn(visit.locale).storefront.wishList;
  const { productId, name } = product;
  return html`<div class="actions">
    ${product.productVariationType === 'master' && chooseLink(visit, product)}
    ${isAvailable(visit, product) && addForm(visit, product)}
    <form method="post" action="${shopPath(visit, '/wishlist/remove')}">
      <input type="hidden" name="productId" value="${productId}" />
      <button class="quiet" aria-label="${messages.removeOne({ name })}">${messages.remove}</button>
    </form>
  </div>`;
}

function chooseLink(visit: Visit, { productNumber, name }: Product): Markup {
  const { choose } = messagesIn(visit.locale).storefront.wishList;
  return html`<a
    class="button"
    href="${shopPath(visit, productPath(productNumber))}"
    aria-label="${choose}: ${name}"
    >${choose}</a
  >`;
}

/** Adds the smallest quantity that can be ordered. */
function addForm(visit: Visit, { productId, name, minOrder }: Product): Markup {
  const { add } = messagesIn(visit.locale).storefront.wishList;
  return html`<form method="post" action="${shopPath(visit, '/cart/add')}" data-cart-add>
    <input type="hidden" name="productId" value="${productId}" />
    <input type="hidden" name="quantity" value="${minOrder}" />
    <button class="button" aria-label="${add}: ${name}">${add}</button>
  </form>`;
}
