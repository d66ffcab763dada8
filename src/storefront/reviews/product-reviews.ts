import { notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { Redirect, type PageRequest } from '../../http/page-kit.ts';
import { isId } from '../../kernel/ids.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { isEmailAddress, MAX_EMAIL_ADDRESS_LENGTH } from '../../platform/email/address.ts';
import { findByNumber, findProductRows } from '../../catalogue/products/queries.ts';
import { nameOf } from '../../catalogue/products/render.ts';
import { severalLines } from '../../reviews/plain-text.ts';
import {
  findPublished,
  findPublishedReview,
  findStars,
  type PublishedReview,
} from '../../reviews/queries.ts';
import { ratingOf, type Rating } from '../../reviews/rating.ts';
import { MAX_REASON_LENGTH } from '../../reviews/schema.ts';
import { reportReview } from '../../reviews/write.ts';
import type { Page } from '../page.ts';
import type { Pages } from '../pages.ts';
import { productPath, shopPath, type Visit } from '../visit.ts';
import { ALL_STARS, checksNote, ratingText, reviewList, reviewText } from './review-view.ts';

const PER_PAGE = 20;
/** A limit, because PostgreSQL reads the rows that it skips. */
const MAX_PAGE = 500;
const REPORTS_PER_HOUR = 20;

/** All reviews of a product, and reports of single ones. */
export function productReviewPages(pages: Pages): void {
  pages.get('/Products/:productNumber/reviews', async (visit, request) => {
    const product = await openProduct(visit, request);
    const { db, shopId } = visit;
    const stars = /^[1-5]$/.test(request.query('stars') ?? '') ? Number(request.query('stars')) : undefined;
    const asked = request.query('page') ?? '';
    const page = /^[1-9]\d{0,3}$/.test(asked) ? Math.min(Number(asked), MAX_PAGE) : 1;
    const counts = await findStars(db, shopId, product.reviewedId);
    const rating = counts && ratingOf(counts);
    const reviews = await findPublished(db, shopId, product.reviewedId, {
      stars: stars === undefined ? ALL_STARS : [stars],
      limit: PER_PAGE,
      offset: (page - 1) * PER_PAGE,
    });
    return listPage(visit, product, { rating, reviews, stars, page });
  });

  pages.get('/Products/:productNumber/reviews/:reviewId/report', async (visit, request) => {
    const product = await openProduct(visit, request);
    return reportPage(visit, product, await openReview(visit, product, request));
  });

  pages.post(
    '/Products/:productNumber/reviews/:reviewId/report',
    async (visit, request) => {
      const product = await openProduct(visit, request);
      const review = await openReview(visit, product, request);
      const messages = messagesIn(visit.locale).storefront.reviews;
      const reason = severalLines(request.field('reason'));
      const email = request.field('email');
      const problems = {
        ...(reason === '' && { reason: messages.wrongReason }),
        ...(email !== '' && !isEmailAddress(email) && { email: messages.wrongEmail }),
      };
      if (Object.keys(problems).length > 0) {
        return reportPage(visit, product, review, { field: request.field, problems });
      }
      await visit.db.transaction((tx) =>
        reportReview(tx, visit.shopId, review.reviewId, {
          reason,
          email: email === '' ? null : email.toLowerCase(),
        }),
      );
      return new Redirect(shopPath(visit, productPath(product.productNumber)), messages.reported);
    },
    { perHour: REPORTS_PER_HOUR, limits: { texts: { reason: MAX_REASON_LENGTH } } },
  );
}

interface ReviewedProduct {
  productNumber: string;
  name: string;
  /** The product that has the reviews: the master of a variation. */
  reviewedId: string;
}

async function openProduct(visit: Visit, { params }: Pick<PageRequest, 'params'>): Promise<ReviewedProduct> {
  const { db, shopId, settings, locale } = visit;
  if (!settings.reviews.open) throw notFound();
  const [ref] = await findByNumber(db, shopId, params['productNumber']!);
  if (!ref?.visible) throw notFound();
  const [row] = await findProductRows(db, shopId, [ref.productId]);
  if (!row) throw notFound();
  return {
    productNumber: row.productNumber,
    name: nameOf(row, settings, locale),
    reviewedId: row.masterId ?? row.productId,
  };
}

async function openReview(
  { db, shopId }: Visit,
  { reviewedId }: ReviewedProduct,
  { params }: Pick<PageRequest, 'params'>,
): Promise<PublishedReview> {
  const reviewId = params['reviewId']!;
  const review = isId(reviewId) ? await findPublishedReview(db, shopId, reviewedId, reviewId) : undefined;
  if (!review) throw notFound();
  return review;
}

interface ShownList {
  rating: Rating | undefined;
  reviews: readonly PublishedReview[];
  /** undefined: with any. */
  stars: number | undefined;
  page: number;
}

function listPage(visit: Visit, { productNumber, name }: ReviewedProduct, list: ShownList): Page {
  const messages = messagesIn(visit.locale).storefront.reviews;
  const { rating, reviews, stars, page } = list;
  const title = messages.titleOf({ product: name });
  const path = `${productPath(productNumber)}/reviews`;
  return {
    title,
    path,
    isPrivate: true,
    main: html`<h1>${title}</h1>
      <p><a href="${shopPath(visit, productPath(productNumber))}">${name}</a></p>
      ${rating && html`<p>${ratingText(visit, rating)}</p>`}
      ${rating && starFilter(visit, path, rating, stars)}
      ${reviews.length === 0 ? html`<p>${messages.noMatch}</p>` : reviewList(visit, productNumber, reviews, 'h2')}
      ${rating && pageLinks(visit, path, { stars, page, count: stars === undefined ? rating.count : rating.stars[stars - 1]! })}
      ${checksNote(visit)}`,
  };
}

function starFilter(visit: Visit, path: string, rating: Rating, chosen: number | undefined): Markup {
  const messages = messagesIn(visit.locale).storefront.reviews;
  const link = (stars: number | undefined, text: string) =>
    html`<li>
      <a
        href="${shopPath(visit, path, stars === undefined ? {} : { stars: String(stars) })}"
        ${stars === chosen && html`aria-current="page"`}
        >${text}</a
      >
    </li>`;
  return html`<nav aria-label="${messages.filter}">
    <ul class="star-filter">
      ${link(undefined, messages.everyStar)}
      ${ALL_STARS.toReversed().flatMap((stars) => {
        const count = rating.stars[stars - 1]!;
        return count > 0
          ? [link(stars, `${messages.starChoice({ count: stars })} (${count.toLocaleString('en')})`)]
          : [];
      })}
    </ul>
  </nav>`;
}

function pageLinks(
  visit: Visit,
  path: string,
  { stars, page, count }: { stars: number | undefined; page: number; count: number },
): Markup | false {
  if (count <= PER_PAGE) return false;
  const messages = messagesIn(visit.locale).storefront.reviews;
  const link = (number: number, text: string, rel: 'prev' | 'next') =>
    html`<a
      class="quiet"
      rel="${rel}"
      href="${shopPath(visit, path, { ...(stars !== undefined && { stars: String(stars) }), page: String(number) })}"
      >${text}</a
    >`;
  return html`<nav class="account-pages" aria-label="${messages.pages}">
    ${page > 1 && link(page - 1, messages.newer, 'prev')}
    ${page * PER_PAGE < count && page < MAX_PAGE && link(page + 1, messages.older, 'next')}
  </nav>`;
}

interface RefusedReport {
  field: (name: string) => string;
  problems: { reason?: string; email?: string };
}

function reportPage(
  visit: Visit,
  { productNumber }: ReviewedProduct,
  review: PublishedReview,
  refused?: RefusedReport,
): Page {
  const messages = messagesIn(visit.locale).storefront.reviews;
  const path = `${productPath(productNumber)}/reviews/${review.reviewId}/report`;
  const { reason, email } = refused?.problems ?? {};
  return {
    title: messages.reportTitle,
    path,
    isPrivate: true,
    ...(refused && { status: 400 }),
    main: html`<h1>${messages.reportTitle}</h1>
      <blockquote>${reviewText(visit, review, 'h2')}</blockquote>
      <p>${messages.reportText}</p>
      <form class="narrow" method="post" action="${shopPath(visit, path)}" novalidate>
        <div class="field">
          <label for="reason">${messages.reason}</label>
          <textarea
            id="reason"
            name="reason"
            rows="5"
            maxlength="${MAX_REASON_LENGTH}"
            required
            ${reason !== undefined && html`aria-invalid="true" aria-describedby="reason-error"`}
          >
${refused?.field('reason') ?? ''}</textarea>
          ${reason !== undefined && html`<p class="error" id="reason-error">${reason}</p>`}
        </div>
        <div class="field">
          <label for="email">${messages.email}</label>
          <input
            id="email"
            name="email"
            type="email"
            maxlength="${MAX_EMAIL_ADDRESS_LENGTH}"
            autocomplete="email"
            value="${refused?.field('email') ?? ''}"
            aria-describedby="email-hint${email === undefined ? '' : ' email-error'}"
            ${email !== undefined && html`aria-invalid="true"`}
          />
          <p class="hint" id="email-hint">${messages.emailHint}</p>
          ${email !== undefined && html`<p class="error" id="email-error">${email}</p>`}
        </div>
        <button class="button">${messages.sendReport}</button>
      </form>`,
  };
}
