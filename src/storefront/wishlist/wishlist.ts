import { notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { isId, newSecret, secretHash } from '../../kernel/ids.ts';
import { productValues } from '../../catalogue/products/product-cache.ts';
import { findRefs } from '../../catalogue/products/queries.ts';
import type { Product } from '../../catalogue/products/schema.ts';
import { viewOf } from '../page-cache.ts';
import { Redirect } from '../page.ts';
import type { Pages } from '../page-registration.ts';
import { productCards } from '../product/product-card.ts';
import { happenedWith } from '../session.ts';
import { productPath, to, type Visit } from '../visit.ts';
import { countWishes, deleteWish, findWishes, insertWish, MOST_WISHES } from './queries.ts';
import { messages } from '../../kernel/messages.ts';

export function wishlist(pages: Pages): void {
  pages.show('/wishlist', async (visit) => {
    const words = messages(visit.locale).storefront.wishList;
    const products = await wishedProducts(visit);
    return {
      title: words.title,
      path: '/wishlist',
      isPrivate: true,
      main: html`<h1>${words.title}</h1>
        ${
          products.length > 0
            ? productCards(visit, products, { heading: 'h2', more: (product) => actions(visit, product) })
            : html`<p>${words.empty} ${words.hint}</p>
                <p><a class="button" href="${to(visit, '')}">${words.home}</a></p>`
        }`,
    };
  });

  pages.take('/wishlist/add', {}, async (visit, { field, cameFrom }) => {
    const { db, shopId, session } = visit;
    const words = messages(visit.locale).storefront.wishList;
    const productId = field('productId').toUpperCase();
    const [ref] = isId(productId) ? await findRefs(db, shopId, [productId]) : [];
    if (!ref?.visible) throw notFound();
    const visitor = session.visitor ?? newSecret(32);
    const visitorHash = secretHash(visitor);
    const wishes = await db.transaction(async (tx) => {
      await insertWish(tx, shopId, visitorHash, productId);
      const { all, shown } = await countWishes(tx, shopId, visitorHash);
      if (all <= MOST_WISHES) return shown;
      await deleteWish(tx, shopId, visitorHash, productId);
      return undefined;
    });
    if (wishes === undefined) return new Redirect(cameFrom, words.full({ most: MOST_WISHES }));
    const happened = happenedWith(session, { event: 'wishlist:add', productId });
    visit.remember({ visitor, wishes, happened });
    return new Redirect(cameFrom, words.added);
  });

  pages.take('/wishlist/remove', {}, async (visit, { field, cameFrom }) => {
    const { db, shopId, session } = visit;
    const productId = field('productId');
    if (session.visitor === undefined || !isId(productId)) return new Redirect(cameFrom);
    const visitorHash = secretHash(session.visitor);
    const wishes = await db.transaction(async (tx) => {
      await deleteWish(tx, shopId, visitorHash, productId);
      return (await countWishes(tx, shopId, visitorHash)).shown;
    });
    visit.remember({ wishes });
    return new Redirect(cameFrom, messages(visit.locale).storefront.wishList.removed);
  });
}

/** Also sets right what the header counts: a product may have gone since the last visit. */
async function wishedProducts(visit: Visit): Promise<Product[]> {
  const { db, shopId, session, settings } = visit;
  if (session.visitor === undefined) return [];
  const refs = await findWishes(db, shopId, secretHash(session.visitor));
  const products = await productValues(db, settings, refs, viewOf(visit, 'list'));
  visit.remember({ wishes: products.length });
  return products;
}

function actions(visit: Visit, product: Product): Markup {
  const words = messages(visit.locale).storefront.wishList;
  const { productId, name, availability } = product;
  const isThere = availability !== 'OutStock' || visit.settings.sellBeyondStock;
  return html`<div class="actions">
    ${product.productVariationType === 'master' && chooseLink(visit, product)}
    ${product.forSale && isThere && addForm(visit, product)}
    <form method="post" action="${to(visit, '/wishlist/remove')}">
      <input type="hidden" name="productId" value="${productId}" />
      <button class="quiet" aria-label="${words.removeOne({ name })}">${words.remove}</button>
    </form>
  </div>`;
}

function chooseLink(visit: Visit, { productNumber, name }: Product): Markup {
  const { choose } = messages(visit.locale).storefront.wishList;
  return html`<a
    class="button"
    href="${to(visit, productPath(productNumber))}"
    aria-label="${choose}: ${name}"
    >${choose}</a
  >`;
}

/** The least that can be ordered of it. */
function addForm(visit: Visit, { productId, name, minOrder }: Product): Markup {
  const { add } = messages(visit.locale).storefront.wishList;
  return html`<form method="post" action="${to(visit, '/cart/add')}">
    <input type="hidden" name="productId" value="${productId}" />
    <input type="hidden" name="quantity" value="${minOrder}" />
    <button class="button" aria-label="${add}: ${name}">${add}</button>
  </form>`;
}
