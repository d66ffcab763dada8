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
    full: `Your wish list is full: it takes ${MOST_WISHES} products. Please remove one first.`,
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
    full: `Ihre Merkliste ist voll: Sie fasst ${MOST_WISHES} Artikel. Bitte entfernen Sie zuerst einen.`,
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
    full: `Votre liste d’envies est pleine\u00a0: elle contient ${MOST_WISHES} articles. Veuillez d’abord en retirer un.`,
  },
});

export function wishlist(pages: Pages): void {
  pages.show('/wishlist', async (visit) => {
    const words = wishWords(visit.locale);
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
    const words = wishWords(visit.locale);
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
    if (wishes === undefined) return new Redirect(cameFrom, words.full);
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
    return new Redirect(cameFrom, wishWords(visit.locale).removed);
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

/** The least that can be ordered of it. */
function addForm(visit: Visit, { productId, name, minOrder }: Product): Markup {
  const { add } = wishWords(visit.locale);
  return html`<form method="post" action="${to(visit, '/cart/add')}">
    <input type="hidden" name="productId" value="${productId}" />
    <input type="hidden" name="quantity" value="${minOrder}" />
    <button class="button" aria-label="${add}: ${name}">${add}</button>
  </form>`;
}
