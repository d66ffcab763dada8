import { notFound } from '../../http/errors.ts';
import { html, type Markup } from '../../http/html.ts';
import { Redirect, type FormRequest, type PageRequest } from '../../http/page-kit.ts';
import { isId } from '../../kernel/ids.ts';
import {
  getReview,
  listReviewReports,
  listReviews,
  setReviewAnswer,
  setReviewState,
} from '../../reviews/routes.ts';
import { REVIEW_STATES, type ReviewJson } from '../../reviews/schema.ts';
import type { ReviewList } from '../../reviews/queries.ts';
import {
  declareForm,
  declareHidden,
  declaredButton,
  optionsOf,
  readFields,
  showFields,
} from '../components/declared-form.ts';
import { problemOf } from '../components/form.ts';
import { dayText, plainDay } from '../components/format.ts';
import { marketingTabs } from '../marketing/tabs.ts';
import type { AdminPage } from '../page.ts';
import type { Draft, ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';

const PATH = '/reviews';
const ON_PAGE = 20;
const SHOWN_REPORTS = 50;

const LISTS = ['waiting', 'reported', 'published', 'rejected'] as const satisfies readonly ReviewList[];

const ANSWER = declareForm(setReviewAnswer, ({ reviews: messages }) => ({
  answer: { kind: 'long text', label: messages.answer, hint: messages.answerHint, rows: 5 },
}));

/** Which button was pressed, and the list it was in. */
const DECISION = declareHidden({ state: 9, list: 9 });

/** What buyers say of products. */
export function reviewPages(pages: ShopPages): void {
  pages.get(PATH, 'orders_read', showList);

  pages.post(`${PATH}/:reviewId/state`, 'orders_write', decide, optionsOf(DECISION));

  pages.form(
    `${PATH}/:reviewId`,
    { read: 'orders_read', write: 'orders_write' },
    { show: showReview, save: saveAnswer },
    optionsOf(ANSWER),
  );
}

async function showList(visit: ShopVisit, request: PageRequest): Promise<AdminPage> {
  const { messages, settings } = visit;
  const words = messages.reviews;
  const list = LISTS.find((one) => one === request.query('state')) ?? 'waiting';
  const page = Number(/^[1-9]\d{0,3}$/.exec(request.query('page') ?? '')?.[0] ?? 1);
  const { items, results } = await visit.call(listReviews, {
    query: { page, resultsPerPage: ON_PAGE, state: list },
  });
  return {
    title: messages.layout.menuEntries.marketing,
    menu: 'marketing',
    actions:
      visit.may('settings_read') &&
      html`<a class="button" href="${adminPath(visit, '/settings/catalogue')}#reviews">${words.settings}</a>`,
    main: html`${marketingTabs(visit, 'reviews')}
      <p class="hint intro">${words.intro}</p>
      ${!settings.reviews.open && html`<p class="notice">${words.closed}</p>`}
      <nav class="views" aria-label="${words.title}">
        ${LISTS.map(
          (one) =>
            html`<a
              href="${adminPath(visit, PATH, one === 'waiting' ? {} : { state: one })}"
              ${one === list && html`aria-current="page"`}
              >${words.lists[one]}</a
            >`,
        )}
      </nav>
      ${items.length === 0 && html`<p class="quiet">${words.empty}</p>`}
      ${items.map((review) => reviewCard(visit, review, list))} ${pageLinks(visit, list, page, results)}`,
  };
}

function pageLinks(visit: ShopVisit, list: ReviewList, page: number, results: number): Markup | false {
  if (results <= ON_PAGE) return false;
  const messages = visit.messages.reviews;
  const link = (other: number, text: string) =>
    html`<a class="button" href="${adminPath(visit, PATH, { state: list, page: String(other) })}"
      >${text}</a
    >`;
  return html`<nav class="buttons" aria-label="${messages.pages}">
    ${page > 1 && link(page - 1, messages.newer)}
    ${page * ON_PAGE < results && link(page + 1, messages.older)}
  </nav>`;
}

function reviewCard(visit: ShopVisit, review: ReviewJson, list: ReviewList): Markup {
  const messages = visit.messages.reviews;
  const { reviewId, name, answer } = review;
  return html`<section class="card" aria-labelledby="r-${reviewId}">
    ${reviewText(visit, review)}
    <div class="buttons">
      ${decisionButtons(visit, review, list)}
      <a class="button" href="${adminPath(visit, `${PATH}/${reviewId}`)}"
        >${answer === null ? messages.answerIt : messages.changeAnswer}<span class="hidden"
          >: ${name}</span
        ></a
      >
    </div>
  </section>`;
}

function reviewText(visit: ShopVisit, review: ReviewJson): Markup {
  const { language, messages } = visit;
  const words = messages.reviews;
  const { reviewId, stars, title, text, name, createdOn, productId, productNumber, answer } = review;
  return html`<div class="title">
      <h2 id="r-${reviewId}">${title || words.by({ name, day: plainDay(new Date(createdOn), language) })}</h2>
      <span title="${words.stars({ stars: String(stars) })}"
        ><span aria-hidden="true">${'★'.repeat(stars)}${'☆'.repeat(5 - stars)}</span
        ><span class="hidden">${words.stars({ stars: String(stars) })}</span></span
      >
    </div>
    ${text !== '' && html`<p class="note-text">${text}</p>`}
    <p class="quiet">
      ${name}, ${dayText(new Date(createdOn), language)} ·
      <a href="${adminPath(visit, `/products/${productId}`)}">${productNumber}</a> ·
      <a href="${adminPath(visit, `/orders/${review.orderId}`)}"
        >${words.order({ number: review.orderNumber })}</a
      >
      · ${words.lists[review.state]}
      ${review.openReports > 0 && html` · <strong>${words.reports({ count: review.openReports })}</strong>`}
    </p>
    ${answer !== null && html`<p class="note-text"><strong>${words.answer}:</strong> ${answer}</p>`}`;
}

function decisionButtons(visit: ShopVisit, review: ReviewJson, list: ReviewList): Markup | false {
  if (!visit.may('orders_write')) return false;
  const messages = visit.messages.reviews;
  const { reviewId, name, state, openReports } = review;
  const action = adminPath(visit, `${PATH}/${reviewId}/state`);
  const button = (next: 'published' | 'rejected', text: string, label: string) =>
    declaredButton(DECISION, visit, { state: next, list }, { action, text, label });
  const isReported = openReports > 0;
  return html`${
    (state !== 'published' || isReported) &&
    button(
      'published',
      state === 'published' ? messages.keep : messages.publish,
      state === 'published' ? messages.keep : messages.publishOf({ name }),
    )
  }
  ${(state !== 'rejected' || isReported) && button('rejected', messages.reject, messages.rejectOf({ name }))}`;
}

function idOf({ params }: Pick<PageRequest, 'params'>): string {
  const reviewId = params['reviewId']!;
  if (!isId(reviewId)) throw notFound();
  return reviewId.toUpperCase();
}

async function decide(visit: ShopVisit, form: FormRequest): Promise<Redirect> {
  const { state, list } = readFields(DECISION, form, visit);
  if (state !== 'published' && state !== 'rejected') throw notFound();
  await visit.call(setReviewState, { params: { reviewId: idOf(form) }, body: { state } });
  const from = [...REVIEW_STATES, 'reported'].find((one) => one === list && one !== 'waiting');
  return new Redirect(adminPath(visit, PATH, { state: from }), visit.messages.reviews[state]);
}

async function showReview(visit: ShopVisit, request: PageRequest, draft?: Draft): Promise<AdminPage> {
  const messages = visit.messages.reviews;
  const params = { reviewId: idOf(request) };
  const [review, reports] = await Promise.all([
    visit.call(getReview, { params }),
    visit.call(listReviewReports, { params, query: { page: 1, resultsPerPage: SHOWN_REPORTS } }),
  ]);
  return {
    title: messages.title,
    menu: 'marketing',
    breadcrumbs: [{ href: adminPath(visit, PATH), text: messages.title }],
    main: html`<section class="card" aria-labelledby="r-${review.reviewId}">
        ${reviewText(visit, review)}
        <div class="buttons">${decisionButtons(visit, review, 'waiting')}</div>
      </section>
      <form method="post" class="card" action="${adminPath(visit, `${PATH}/${review.reviewId}`)}">
        ${problemOf(draft)}
        ${showFields(ANSWER, visit, { values: { answer: review.answer }, draft, isDisabled: !visit.may('orders_write') })('answer')}
        ${visit.may('orders_write') && html`<button class="main">${messages.answerIt}</button>`}
      </form>
      ${reports.items.length > 0 && reportCard(visit, reports.items)}`,
  };
}

function reportCard(
  { messages, language }: ShopVisit,
  reports: readonly { reason: string; email: string | null; reportedOn: string; closedOn: string | null }[],
): Markup {
  const words = messages.reviews;
  return html`<section class="card" aria-labelledby="reports">
    <h2 id="reports">${words.reportTitle}</h2>
    <p class="hint">${words.reportText}</p>
    <ul class="notes">
      ${reports.map(
        ({ reason, email, reportedOn, closedOn }) =>
          html`<li>
            <p class="note-text">${reason}</p>
            <p class="quiet">
              ${dayText(new Date(reportedOn), language)}
              ${email !== null && html` · <a href="mailto:${encodeURIComponent(email).replace('%40', '@')}">${email}</a>`}
              ${closedOn !== null && html` · ${words.decided}`}
            </p>
          </li>`,
      )}
    </ul>
  </section>`;
}

async function saveAnswer(visit: ShopVisit, form: FormRequest): Promise<Redirect> {
  const messages = visit.messages.reviews;
  const { answer } = await visit.call(setReviewAnswer, {
    params: { reviewId: idOf(form) },
    body: readFields(ANSWER, form, visit),
  });
  return new Redirect(adminPath(visit, PATH), answer === null ? messages.noAnswer : messages.answered);
}
