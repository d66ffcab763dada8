import { notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { Redirect, type PageRequest } from '../../http/page-kit.ts';
import { isId } from '../../kernel/ids.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { findProductRows } from '../../catalogue/products/queries.ts';
import { nameOf } from '../../catalogue/products/render.ts';
import { findOrderWithActivity } from '../../orders/manage-queries.ts';
import { emailAddressOf } from '../../orders/order-email.ts';
import type { OrderTokens } from '../../orders/order-link.ts';
import type { ManagedOrder } from '../../orders/queries.ts';
import type { IdTokens } from '../../platform/id-tokens.ts';
import { severalLines, singleLine } from '../../reviews/plain-text.ts';
import { findReviewsBy, insertObjection, type ReviewRow } from '../../reviews/queries.ts';
import { reviewableProducts } from '../../reviews/reviewable.ts';
import { MAX_REVIEWER_NAME_LENGTH, MAX_REVIEW_LENGTH, MAX_TITLE_LENGTH } from '../../reviews/schema.ts';
import { withdrawReview, writeReview } from '../../reviews/write.ts';
import type { Page } from '../page.ts';
import type { Pages } from '../pages.ts';
import { productPath, shopPath, type Visit } from '../visit.ts';
import { ALL_STARS, checksNote } from './review-view.ts';

const FORM = {
  perHour: 60,
  hasSecretPath: true,
  limits: { texts: { title: MAX_TITLE_LENGTH, text: MAX_REVIEW_LENGTH, name: MAX_REVIEWER_NAME_LENGTH } },
};

/**
 * The reviews of the products of an order, for anyone who has the link in the invitation, or comes from the page of the
 * order.
 */
export function ownReviewPages(pages: Pages, tokens: IdTokens, orders: OrderTokens): void {
  pages.get('/order/:token/reviews', async (visit, { params }) => {
    const orderId = orders.orderId(visit.shopId, params['token']!);
    if (orderId === undefined) throw notFound();
    return new Redirect(shopPath(visit, `/reviews/${tokens.token(visit.shopId, orderId)}`));
  });

  pages.get('/reviews/:token', async (visit, request) => {
    const purchase = await openPurchase(visit, request, tokens);
    return overviewPage(visit, purchase);
  });

  // Before the products, whose ids it is not one of. The objection works in a shop that has switched reviews off since.
  pages.get('/reviews/:token/stop', async (visit, request) => {
    await openOrder(visit, request, tokens);
    return stopPage(visit, request.params['token']!);
  });

  pages.post(
    '/reviews/:token/stop',
    async (visit, request) => {
      const order = await openOrder(visit, request, tokens);
      const email = emailAddressOf(order);
      if (email !== undefined) await visit.db.transaction((tx) => insertObjection(tx, visit.shopId, email));
      return new Redirect(shopPath(visit, ''), messagesIn(visit.locale).storefront.reviews.stopped);
    },
    FORM,
  );

  pages.get('/reviews/:token/:productId', async (visit, request) => {
    const purchase = await openPurchase(visit, request, tokens);
    return formPage(visit, purchase, productOf(purchase, request));
  });

  pages.post(
    '/reviews/:token/:productId',
    async (visit, request) => {
      const purchase = await openPurchase(visit, request, tokens);
      const product = productOf(purchase, request);
      const messages = messagesIn(visit.locale).storefront.reviews;
      const { field } = request;
      const name = singleLine(field('name'));
      const problems = {
        ...(!/^[1-5]$/.test(field('stars')) && { stars: messages.chooseStars }),
        ...(name === '' && { name: messages.enterName }),
      };
      if (Object.keys(problems).length > 0) return formPage(visit, purchase, product, { field, problems });
      const { orderId, customerId } = purchase.order;
      const state = await visit.db.transaction((tx) =>
        writeReview(
          tx,
          visit.shopId,
          {
            productId: product.productId,
            orderId,
            customerId,
            stars: Number(field('stars')),
            title: singleLine(field('title')),
            text: severalLines(field('text')),
            name,
            locale: visit.locale,
          },
          visit.settings.reviews,
        ),
      );
      return new Redirect(
        shopPath(visit, purchase.path),
        state === 'published' ? messages.thanks : messages.thanksWaiting,
      );
    },
    FORM,
  );

  pages.post(
    '/reviews/:token/:productId/delete',
    async (visit, request) => {
      const purchase = await openPurchase(visit, request, tokens);
      const { productId } = productOf(purchase, request);
      const { customerId, orderId } = purchase.order;
      await visit.db.transaction((tx) =>
        withdrawReview(tx, visit.shopId, { productId, customerId, orderId }),
      );
      return new Redirect(
        shopPath(visit, purchase.path),
        messagesIn(visit.locale).storefront.reviews.deleted,
      );
    },
    FORM,
  );
}

interface PurchasedProduct {
  productId: string;
  productNumber: string;
  name: string;
  /** The customer's own, written for this order. */
  review: ReviewRow | undefined;
  /** The customer has reviewed it for another order, and changes the review there. */
  isReviewedElsewhere: boolean;
}

interface Purchase {
  order: ManagedOrder;
  /** `/reviews/{token}` */
  path: string;
  products: readonly PurchasedProduct[];
}

/** An order whose customer was erased no longer has an owner. */
async function openOrder({ db, shopId }: Visit, { params }: Pick<PageRequest, 'params'>, tokens: IdTokens) {
  const orderId = tokens.id(shopId, params['token']!);
  const order = orderId === undefined ? undefined : await findOrderWithActivity(db, shopId, orderId);
  if (!order || order.erasedAt) throw notFound();
  return order;
}

async function openPurchase(
  visit: Visit,
  request: Pick<PageRequest, 'params'>,
  tokens: IdTokens,
): Promise<Purchase> {
  const { db, shopId, settings, locale } = visit;
  if (!settings.reviews.open) throw notFound();
  const order = await openOrder(visit, request, tokens);
  const productIds = await reviewableProducts(db, shopId, { order, activity: order });
  const [rows, reviews] = await Promise.all([
    findProductRows(db, shopId, productIds),
    findReviewsBy(db, shopId, order.customerId, productIds),
  ]);
  const products = rows.map((row) => {
    const written = reviews.find(({ productId }) => productId === row.productId);
    const review = written?.orderId === order.orderId ? written : undefined;
    return {
      productId: row.productId,
      productNumber: row.productNumber,
      name: nameOf(row, settings, locale),
      review,
      isReviewedElsewhere: written !== review,
    };
  });
  return { order, path: `/reviews/${request.params['token']!}`, products };
}

function productOf({ products }: Purchase, { params }: Pick<PageRequest, 'params'>): PurchasedProduct {
  const productId = params['productId']!;
  const product = isId(productId)
    ? products.find((one) => one.productId === productId.toUpperCase())
    : undefined;
  if (!product || product.isReviewedElsewhere) throw notFound();
  return product;
}

const secretPage = (page: Pick<Page, 'title' | 'path' | 'main' | 'status'>): Page => ({
  ...page,
  isPrivate: true,
  hasSecretAddress: true,
});

function overviewPage(visit: Visit, { path, products }: Purchase): Page {
  const messages = messagesIn(visit.locale).storefront.reviews;
  return secretPage({
    title: messages.yours,
    path,
    main: html`<h1>${messages.yours}</h1>
      ${
        products.length === 0
          ? html`<p>${messages.nothing}</p>`
          : html`<p>${messages.yoursText}</p>
              <ul class="lines">
                ${products.map((product) => productLine(visit, path, product))}
              </ul>`
      }
      ${checksNote(visit)}`,
  });
}

function productLine(visit: Visit, path: string, product: PurchasedProduct): Markup {
  const messages = messagesIn(visit.locale).storefront.reviews;
  const { productId, productNumber, name, review, isReviewedElsewhere } = product;
  return html`<li>
    <div class="what">
      <p><a href="${shopPath(visit, productPath(productNumber))}">${name}</a></p>
      ${
        review &&
        html`<p>
          <small
            >${messages.starsText({ stars: String(review.stars) })} · ${messages.states[review.state]}</small
          >
        </p>`
      }
      ${isReviewedElsewhere && html`<p><small>${messages.reviewedElsewhere}</small></p>`}
    </div>
    ${
      !isReviewedElsewhere &&
      html`<a class="button quiet" href="${shopPath(visit, `${path}/${productId}`)}"
        >${review ? messages.change : messages.write}<span class="visually-hidden">: ${name}</span></a
      >`
    }
  </li>`;
}

interface RefusedReview {
  field: (name: string) => string;
  problems: { stars?: string; name?: string };
}

function formPage(
  visit: Visit,
  { order, path }: Purchase,
  { productId, name, review }: PurchasedProduct,
  refused?: RefusedReview,
): Page {
  const messages = messagesIn(visit.locale).storefront.reviews;
  const title = messages.formTitle({ product: name });
  const action = `${path}/${productId}`;
  const { problems = {} } = refused ?? {};
  const typed = (field: 'title' | 'text' | 'name', stored: string) => refused?.field(field) ?? stored;
  const chosen = refused ? refused.field('stars') : String(review?.stars ?? '');
  return secretPage({
    title,
    path: action,
    ...(refused && { status: 400 }),
    main: html`<h1>${title}</h1>
      <form class="narrow" method="post" action="${shopPath(visit, action)}" novalidate>
        <fieldset ${problems.stars !== undefined && html`aria-invalid="true" aria-describedby="stars-error"`}>
          <legend>${messages.stars}</legend>
          ${ALL_STARS.toReversed().map(
            (stars) =>
              html`<label class="choice"
                ><input
                  type="radio"
                  name="stars"
                  value="${stars}"
                  required
                  ${chosen === String(stars) && html`checked`}
                />
                ${messages.starChoice({ count: stars })}</label
              >`,
          )}
          ${problems.stars !== undefined && html`<p class="error" id="stars-error">${problems.stars}</p>`}
        </fieldset>
        <div class="field">
          <label for="title">${messages.headline}</label>
          <input
            id="title"
            name="title"
            maxlength="${MAX_TITLE_LENGTH}"
            value="${typed('title', review?.title ?? '')}"
          />
        </div>
        <div class="field">
          <label for="text">${messages.text}</label>
          <textarea id="text" name="text" rows="6" maxlength="${MAX_REVIEW_LENGTH}">
${typed('text', review?.text ?? '')}</textarea>
        </div>
        <div class="field">
          <label for="name">${messages.name}</label>
          <input
            id="name"
            name="name"
            required
            maxlength="${MAX_REVIEWER_NAME_LENGTH}"
            value="${typed('name', review?.name ?? shownName(order))}"
            aria-describedby="name-hint${problems.name === undefined ? '' : ' name-error'}"
            ${problems.name !== undefined && html`aria-invalid="true"`}
          />
          <p class="hint" id="name-hint">${messages.nameHint}</p>
          ${problems.name !== undefined && html`<p class="error" id="name-error">${problems.name}</p>`}
        </div>
        <button class="button">${messages.send}</button>
      </form>
      ${
        review &&
        html`<form method="post" action="${shopPath(visit, `${action}/delete`)}">
          <p><button class="quiet">${messages.delete}</button></p>
        </form>`
      }
      ${checksNote(visit)}`,
  });
}

/** `Ada L.`: enough for a name, and less than everybody needs to know. */
function shownName({ billingAddress }: ManagedOrder): string {
  const { firstName, lastName } = billingAddress;
  const [initial] = lastName ?? '';
  return [firstName, initial && `${initial}.`].filter(Boolean).join(' ').slice(0, MAX_REVIEWER_NAME_LENGTH);
}

function stopPage(visit: Visit, token: string): Page {
  const messages = messagesIn(visit.locale).storefront.reviews;
  const path = `/reviews/${token}/stop`;
  return secretPage({
    title: messages.stopTitle,
    path,
    main: html`<h1>${messages.stopTitle}</h1>
      <p>${messages.stopText}</p>
      <form method="post" action="${shopPath(visit, path)}">
        <button class="button">${messages.stopButton}</button>
      </form>`,
  });
}
