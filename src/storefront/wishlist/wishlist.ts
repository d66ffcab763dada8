import { notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { isId, newSecret, secretHash } from '../../kernel/ids.ts';
import { findRefs } from '../../catalogue/products/queries.ts';
import type { Product } from '../../catalogue/products/schema.ts';
import { productTexts } from '../../catalogue/products/texts.ts';
import { viewOf } from '../page-cache.ts';
import { Redirect } from '../page.ts';
import type { Pages } from '../pages.ts';
import { productCards } from '../product/product-card.ts';
import { addVisitorEvents } from '../session.ts';
import { productPath, to, type Visit } from '../visit.ts';
import {
  countWishlistItems,
  deleteWishlistItem,
  findWishlistItems,
  insertWishlistItem,
  MAX_WISHLIST_ITEMS,
} from './queries.ts';
import { spoken } from '../words.ts';

const wishWords = spoken({
  en: {
    title: 'Wish list',
    empty: 'There is nothing on your wish list yet.',
    hint: 'Open a product and put it on the list to find it here again.',
    home: 'To the shop',
    add: 'Add to cart',
    choose: 'Choose options',
    remove: 'Remove',
    removeOne: (name: string) => `Remove ${name} from the wish list`,
    added: 'The product is on your wish list.',
    removed: 'The product is no longer on your wish list.',
    full: `Your wish list is full: it takes ${MAX_WISHLIST_ITEMS} products. Please remove one first.`,
  },
  de: {
    title: 'Merkliste',
    empty: 'Auf Ihrer Merkliste steht noch nichts.',
    hint: 'Öffnen Sie einen Artikel und setzen Sie ihn auf die Merkliste, um ihn hier wiederzufinden.',
    home: 'Zum Shop',
    add: 'In den Warenkorb',
    choose: 'Ausführung wählen',
    remove: 'Entfernen',
    removeOne: (name: string) => `${name} von der Merkliste entfernen`,
    added: 'Der Artikel steht auf Ihrer Merkliste.',
    removed: 'Der Artikel steht nicht mehr auf Ihrer Merkliste.',
    full: `Ihre Merkliste ist voll: Sie fasst ${MAX_WISHLIST_ITEMS} Artikel. Bitte entfernen Sie zuerst einen.`,
  },
  fr: {
    title: 'Liste d’envies',
    empty: 'Votre liste d’envies est encore vide.',
    hint: 'Ouvrez un article et ajoutez-le à la liste pour le retrouver ici.',
    home: 'Vers la boutique',
    add: 'Ajouter au panier',
    choose: 'Choisir une option',
    remove: 'Retirer',
    removeOne: (name: string) => `Retirer ${name} de la liste d’envies`,
    added: 'L’article est dans votre liste d’envies.',
    removed: 'L’article n’est plus dans votre liste d’envies.',
    full: `Votre liste d’envies est pleine\u00a0: elle contient ${MAX_WISHLIST_ITEMS} articles. Veuillez d’abord en retirer un.`,
  },
});

export function wishlist(pages: Pages): void {
  pages.get('/wishlist', async (visit) => {
    const words = wishWords(visit.locale);
    const products = await findWishlistProducts(visit);
    return {
      title: words.title,
      path: '/wishlist',
      isPrivate: true,
      main: html`<h1>${words.title}</h1>
        ${
          products.length > 0
            ? productCards(visit, products, { heading: 'h2', actions: (product) => actions(visit, product) })
            : html`<p>${words.empty} ${words.hint}</p>
                <p><a class="button" href="${to(visit, '')}">${words.home}</a></p>`
        }`,
    };
  });

  pages.post('/wishlist/add', async (visit, { field, referrerPath }) => {
    const { db, shopId, session } = visit;
    const words = wishWords(visit.locale);
    const productId = field('productId').toUpperCase();
    const [ref] = isId(productId) ? await findRefs(db, shopId, [productId]) : [];
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
    if (wishlistCount === undefined) return new Redirect(referrerPath, words.full);
    const visitorEvents = addVisitorEvents(session, { event: 'wishlist:add', productId });
    visit.updateSession({ visitor, wishlistCount, visitorEvents });
    return new Redirect(referrerPath, words.added);
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
    return new Redirect(referrerPath, wishWords(visit.locale).removed);
  });
}

/** Also corrects the count of the header, because a product may have been deleted since the last visit. */
async function findWishlistProducts(visit: Visit): Promise<Product[]> {
  const { db, shopId, session, settings } = visit;
  if (session.visitor === undefined) return [];
  const refs = await findWishlistItems(db, shopId, secretHash(session.visitor));
  const texts = await productTexts(db, settings, refs, viewOf(visit, 'list'));
  visit.updateSession({ wishlistCount: texts.length });
  return texts.map(({ bytes }) => JSON.parse(bytes.toString()) as Product);
}

function actions(visit: Visit, product: Product): Markup {
  const words = wishWords(visit.locale);
  const { productId, name, availability } = product;
  const isThere = availability !== 'OutStock' || visit.settings.sellBeyondStock;
  return html`<div class="actions">
    ${product.productVariationType === 'master' && chooseLink(visit, product)}
    ${product.forSale && isThere && addForm(visit, product)}
    <form method="post" action="${to(visit, '/wishlist/remove')}">
      <input type="hidden" name="productId" value="${productId}" />
      <button class="quiet" aria-label="${words.removeOne(name)}">${words.remove}</button>
    </form>
  </div>`;
}

function chooseLink(visit: Visit, { productNumber, name }: Product): Markup {
  const { choose } = wishWords(visit.locale);
  return html`<a
    class="button"
    href="${to(visit, productPath(productNumber))}"
    aria-label="${choose}: ${name}"
    >${choose}</a
  >`;
}

/** Adds the smallest quantity that can be ordered. */
function addForm(visit: Visit, { productId, name, minOrder }: Product): Markup {
  const { add } = wishWords(visit.locale);
  return html`<form method="post" action="${to(visit, '/cart/add')}">
    <input type="hidden" name="productId" value="${productId}" />
    <input type="hidden" name="quantity" value="${minOrder}" />
    <button class="button" aria-label="${add}: ${name}">${add}</button>
  </form>`;
}
