import type { Queries } from '../../db/database.ts';
import { formatNumber } from '../../http/amount-text.ts';
import { dateText } from '../../http/dates.ts';
import { html, type Markup } from '../../http/html.ts';
import { languageTag, textIn } from '../../http/locale.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { findPublished, findStars, findStarsOfAll, type PublishedReview } from '../../reviews/queries.ts';
import { ratingOf, type Rating } from '../../reviews/rating.ts';
import { productPath, shopName, shopPath, type Visit } from '../visit.ts';

/** What the page of a product shows of its reviews. */
export interface ProductReviews {
  rating: Rating;
  /** The newest ones. */
  newest: readonly PublishedReview[];
}

const ON_PRODUCT_PAGE = 5;
export const ALL_STARS = [1, 2, 3, 4, 5];

/** The reviews of a product that is no variation. undefined: the shop shows none, or there is none. */
export async function findProductReviews(
  { shopId, settings }: Pick<Visit, 'shopId' | 'settings'>,
  db: Queries,
  productId: string,
): Promise<ProductReviews | undefined> {
  if (!settings.reviews.open) return undefined;
  const stars = await findStars(db, shopId, productId);
  const rating = stars && ratingOf(stars);
  if (!rating) return undefined;
  const shown = { stars: ALL_STARS, limit: ON_PRODUCT_PAGE, offset: 0 };
  return { rating, newest: await findPublished(db, shopId, productId, shown) };
}

/** What buyers say of the products of a list, by their ids. */
export type ListRatings = ReadonlyMap<string, Rating>;

/** None where the shop shows no reviews. */
export async function findListRatings(
  { shopId, settings }: Pick<Visit, 'shopId' | 'settings'>,
  db: Queries,
  products: readonly { productId: string }[],
): Promise<ListRatings> {
  if (!settings.reviews.open || products.length === 0) return new Map();
  const stars = await findStarsOfAll(
    db,
    shopId,
    products.map(({ productId }) => productId),
  );
  return new Map(
    [...stars].flatMap(([productId, counts]): [string, Rating][] => {
      const rating = ratingOf(counts);
      return rating ? [[productId, rating]] : [];
    }),
  );
}

/** The average in a list; nothing for a product without reviews. */
export const listRating = (visit: Visit, rating: Rating | undefined): Markup | false =>
  rating !== undefined &&
  html`<p class="rating"><small>${starsPicture(rating.average)} ${ratingText(visit, rating)}</small></p>`;

export function ratingText({ locale }: Visit, { average, count }: Rating): string {
  return messagesIn(locale).storefront.reviews.summary({ average: formatNumber(average, locale), count });
}

/** The stars as a picture; the text beside it says the same to screen readers. */
function starsPicture(stars: number): Markup {
  const full = Math.round(stars);
  return html`<span class="stars" aria-hidden="true">${'★'.repeat(full)}${'☆'.repeat(5 - full)}</span>`;
}

/** Leads from the head of the page to the reviews. */
export function ratingLink(visit: Visit, { rating }: ProductReviews): Markup {
  return html`<p>
    <a href="#reviews">${starsPicture(rating.average)} ${ratingText(visit, rating)}</a>
  </p>`;
}

export function reviewSection(
  visit: Visit,
  productNumber: string,
  { rating, newest }: ProductReviews,
): Markup {
  const messages = messagesIn(visit.locale).storefront.reviews;
  const path = `${productPath(productNumber)}/reviews`;
  return html`<section id="reviews" class="reviews">
    <h2>${messages.title}</h2>
    <p>${starsPicture(rating.average)} ${ratingText(visit, rating)}</p>
    ${reviewList(visit, productNumber, newest, 'h3')}
    ${
      rating.count > newest.length &&
      html`<p>
        <a class="button quiet" href="${shopPath(visit, path)}">${messages.all({ count: rating.count })}</a>
      </p>`
    }
    ${checksNote(visit)}
  </section>`;
}

export function reviewList(
  visit: Visit,
  productNumber: string,
  reviews: readonly PublishedReview[],
  heading: 'h2' | 'h3',
): Markup {
  const messages = messagesIn(visit.locale).storefront.reviews;
  return html`<ul class="review-list">
    ${reviews.map((review) => {
      const { reviewId, title, name, createdAt, answer } = review;
      const report = `${productPath(productNumber)}/reviews/${reviewId}/report`;
      return html`<li id="review-${reviewId}">
        ${reviewText(visit, review, heading)}
        <p class="hint">
          ${messages.writtenBy({ name, date: dateText(createdAt, visit.locale) })} · ${messages.verified} ·
          <a rel="nofollow" href="${shopPath(visit, report)}"
            >${messages.report}<span class="visually-hidden">: ${title || name}</span></a
          >
        </p>
        ${
          answer !== null &&
          html`<div class="review-answer">
            <p><strong>${messages.answer({ shop: shopName(visit) })}</strong></p>
            <p class="typed">${answer}</p>
          </div>`
        }
      </li>`;
    })}
  </ul>`;
}

/** The text is plain: no part of it becomes a link. */
export function reviewText(
  { locale }: Visit,
  { stars, title, text, locale: writtenIn }: PublishedReview,
  heading: 'h2' | 'h3',
): Markup {
  const messages = messagesIn(locale).storefront.reviews;
  const language = html`lang="${languageTag(writtenIn)}"`;
  return html`<p>
      ${starsPicture(stars)}
      <span class="visually-hidden">${messages.starsText({ stars: String(stars) })}</span>
    </p>
    ${title !== '' && (heading === 'h2' ? html`<h2 ${language}>${title}</h2>` : html`<h3 ${language}>${title}</h3>`)}
    ${text !== '' && html`<p class="typed" ${language}>${text}</p>`}`;
}

/** Who can write reviews, and what the shop does with them (§ 5b (3) UWG, Directive (EU) 2019/2161). */
export function checksNote({ settings, locale }: Visit): Markup {
  const messages = messagesIn(locale).storefront.reviews;
  const { checks, moderation } = settings.reviews;
  const own = checks && textIn(checks, locale, settings.defaultLocale);
  const builtIn = moderation === 'before' ? messages.checksBefore : messages.checksAfter;
  return html`<details>
    <summary>${messages.checks}</summary>
    <p class="typed">${own ?? builtIn}</p>
  </details>`;
}
