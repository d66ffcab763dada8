import { dayOf } from '../../http/dates.ts';
import { html, type Markup } from '../../http/html.ts';
import { Redirect, type FormRequest, type PageRequest } from '../../http/page-kit.ts';
import { isId } from '../../kernel/ids.ts';
import { giftCardState } from '../../giftcards/card.ts';
import { giftCardCodeHash } from '../../giftcards/code.ts';
import { findGiftCardByCode } from '../../giftcards/queries.ts';
import { getGiftCardLiability } from '../../giftcards/routes.ts';
import { GiftCardCodeBody } from '../../giftcards/schema.ts';
import { declareForm, optionsOf, readFields, showFields } from '../components/declared-form.ts';
import { amountText, chip, dayOrMonth, dayText } from '../components/format.ts';
import { marketingTabs } from '../marketing/tabs.ts';
import { moneyIn } from '../orders/order-view.ts';
import type { AdminPage } from '../page.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { cardPages } from './card-page.ts';
import { issuePages } from './issue.ts';
import { owedPage } from './owed.ts';
import { findListedCards, type ListedCard } from './queries.ts';
import { SHOWN_STATES, shownState, giftCardChip, type ShownState } from './state.ts';

const PATH = '/gift-cards';
const ON_PAGE = 50;
const END = /^[A-Z0-9]{4}$/;

/** A code is money, so it is sent as a form: an address stays in the history of the browser and in logs. */
const FIND = declareForm({ body: GiftCardCodeBody }, ({ giftCards: messages }) => ({
  code: { label: messages.find, hint: messages.findHint, isRequired: true, autocomplete: 'off' },
}));

export function giftCardPages(pages: ShopPages): void {
  pages.get(PATH, 'giftcards_read', showList);
  pages.post(`${PATH}/find`, 'giftcards_read', findCard, optionsOf(FIND));
  owedPage(pages);
  issuePages(pages);
  cardPages(pages);
}

interface Asked {
  state: ShownState | null;
  lastCharacters: string | null;
  before: string | null;
}

async function showList(visit: ShopVisit, request: PageRequest): Promise<AdminPage> {
  const { db, shopId, messages } = visit;
  const words = messages.giftCards;
  const before = request.query('before') ?? '';
  const end = request.query('end') ?? '';
  const asked: Asked = {
    state: SHOWN_STATES.find((one) => one === request.query('state')) ?? null,
    lastCharacters: END.test(end) ? end : null,
    before: isId(before) ? before.toUpperCase() : null,
  };
  const [found, owed] = await Promise.all([
    // One more than is shown tells whether there are older ones.
    findListedCards(db, shopId, { ...asked, today: dayOf(db.now) }, ON_PAGE + 1),
    visit.call(getGiftCardLiability),
  ]);
  const cards = found.slice(0, ON_PAGE);
  return {
    title: messages.layout.menuEntries.marketing,
    menu: 'marketing',
    actions:
      visit.may('giftcards_write') &&
      html`<a class="button main" href="${adminPath(visit, `${PATH}/new`)}">${words.issue}</a>`,
    main: html`${marketingTabs(visit, 'giftCards')}
      <p class="hint intro">${words.intro}</p>
      <dl class="card figures">
        <div>
          <dt>${words.owedNow}</dt>
          <dd>
            ${
              owed.items.length === 0
                ? amountText(0, visit)
                : owed.items.map((sum) => moneyIn(visit)(sum.owed)).join(' + ')
            }
          </dd>
          <a href="${adminPath(visit, `${PATH}/owed`)}">${words.owedOnDay}</a>
        </div>
      </dl>
      <form method="post" class="card prose" action="${adminPath(visit, `${PATH}/find`)}">
        ${showFields(FIND, visit, { draft: undefined })('code')}
        <button>${words.findIt}</button>
      </form>
      ${stateTabs(visit, asked)}
      ${
        asked.lastCharacters !== null &&
        html`<p class="quiet">
          ${words.endingWith({ end: asked.lastCharacters })} ·
          <a href="${adminPath(visit, PATH, { state: asked.state ?? '' })}">${words.showAll}</a>
        </p>`
      }
      ${cardTable(visit, cards)} ${pageLinks(visit, asked, found.length > ON_PAGE ? cards.at(-1) : undefined)}`,
  };
}

const addressOf = (visit: ShopVisit, { state, lastCharacters }: Asked, before = '') =>
  adminPath(visit, PATH, { state: state ?? '', end: lastCharacters ?? '', before });

function stateTabs(visit: ShopVisit, asked: Asked): Markup {
  const messages = visit.messages.giftCards;
  return html`<nav class="views" aria-label="${messages.state}">
    ${[null, ...SHOWN_STATES].map(
      (state) =>
        html`<a
          href="${addressOf(visit, { ...asked, state })}"
          ${state === asked.state && html`aria-current="page"`}
          >${state === null ? messages.all : messages.states[state]}</a
        >`,
    )}
  </nav>`;
}

function pageLinks(visit: ShopVisit, asked: Asked, last: ListedCard | undefined): Markup | false {
  const messages = visit.messages.giftCards;
  if (asked.before === null && !last) return false;
  return html`<p class="actions">
    ${asked.before !== null && html`<a class="button" href="${addressOf(visit, asked)}">${messages.newest}</a>`}
    ${last && html`<a class="button" rel="next" href="${addressOf(visit, asked, last.giftCardId)}">${messages.older}</a>`}
  </p>`;
}

function cardTable(visit: ShopVisit, cards: readonly ListedCard[]): Markup {
  const { db, language } = visit;
  const messages = visit.messages.giftCards;
  if (cards.length === 0) return html`<p class="quiet">${messages.empty}</p>`;
  return html`<div class="list">
    <table>
      <thead>
        <tr>
          <th scope="col">${messages.card}</th>
          <th scope="col">${messages.state}</th>
          <th scope="col" class="number">${messages.balance}</th>
          <th scope="col">${messages.issuedOn}</th>
          <th scope="col">${messages.expiresOn}</th>
        </tr>
      </thead>
      <tbody>
        ${cards.map(
          (card) =>
            html`<tr>
              <td data-title="${messages.card}">
                <span
                  ><a href="${adminPath(visit, `${PATH}/${card.giftCardId}`)}"
                    >${messages.title({ end: card.lastCharacters })}</a
                  >
                  ${card.isCredit && chip(messages.storeCredit)}</span
                >
              </td>
              <td data-title="${messages.state}">
                ${giftCardChip(visit, shownState(giftCardState(card, db.now), card.balance))}
              </td>
              <td data-title="${messages.balance}" class="number">
                ${amountText(card.balance, visit, card.currency)}
              </td>
              <td data-title="${messages.issuedOn}">${dayText(card.createdAt, language)}</td>
              <td data-title="${messages.expiresOn}">
                ${card.expiresOn === null ? messages.never : dayOrMonth(card.expiresOn, false, language)}
              </td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/** Opens the card of a whole code, or lists the cards whose codes end with four characters. */
async function findCard(visit: ShopVisit, form: FormRequest): Promise<Redirect> {
  const { code } = readFields(FIND, form, visit);
  const card = await findGiftCardByCode(visit.db, visit.shopId, giftCardCodeHash(code));
  if (card) return new Redirect(adminPath(visit, `${PATH}/${card.giftCardId}`));
  const end = code.replaceAll(/[\s-]/g, '').toUpperCase();
  if (END.test(end)) return new Redirect(adminPath(visit, PATH, { end }));
  return new Redirect(adminPath(visit, PATH), {
    text: visit.messages.giftCards.notFound,
    isProblem: true,
  });
}
