import { giftCardLimit, UnknownGiftCard } from '../carts/gift-card-limit.ts';
import { giftCardState } from '../giftcards/card.ts';
import { giftCardCodeHash, MAX_GIFT_CARD_CODE_LENGTH } from '../giftcards/code.ts';
import { findGiftCardByCode } from '../giftcards/queries.ts';
import { dateText } from '../http/dates.ts';
import { html, type Markup } from '../http/html.ts';
import { moneyText } from '../http/price-text.ts';
import { messagesIn } from '../kernel/messages.ts';
import type { Page } from './page.ts';
import type { Pages } from './pages.ts';
import { shopPath, type Visit } from './visit.ts';

const PATH = '/gift-card';

/** The balance of a gift card, for people who know its code. Unknown codes are limited as at the checkout. */
export function giftCardBalancePages(pages: Pages): void {
  pages.get(PATH, async (visit) => balancePage(visit, {}));

  pages.post(
    PATH,
    async (visit, { field, limitFailures }) => {
      const { db, shopId, locale } = visit;
      const words = messagesIn(locale).storefront.checkout.giftCards;
      const code = field('code');
      if (code.trim() === '') return balancePage(visit, { code, problem: words.missing });
      try {
        const card = await limitFailures(
          (address) => giftCardLimit({ shopId, address }),
          async () => {
            const found = await findGiftCardByCode(db, shopId, giftCardCodeHash(code));
            if (!found) throw new UnknownGiftCard();
            return found;
          },
        );
        const state = giftCardState(card, db.now);
        const messages = messagesIn(locale).storefront.giftCards;
        return balancePage(visit, {
          answer: html`<dl class="summary">
              <dt>${messages.card({ end: card.lastCharacters })}</dt>
              <dd>${moneyText(card.balance, card.currency, locale)}</dd>
            </dl>
            ${state === 'active' && card.expiresOn !== null && html`<p>${messages.until({ day: dateText(new Date(card.expiresOn), locale) })}</p>`}
            ${state !== 'active' && html`<p class="error">${words[state]}</p>`}`,
        });
      } catch (error) {
        if (!(error instanceof UnknownGiftCard)) throw error;
        return balancePage(visit, { code, problem: words.unknown });
      }
    },
    { limits: { texts: { code: MAX_GIFT_CARD_CODE_LENGTH } } },
  );
}

function balancePage(
  visit: Visit,
  { code = '', problem, answer }: { code?: string; problem?: string; answer?: Markup },
): Page {
  const { storefront } = messagesIn(visit.locale);
  const { title, show } = storefront.giftCards;
  return {
    title,
    path: PATH,
    ...(problem !== undefined && { status: 400 }),
    main: html`<h1>${title}</h1>
      ${answer !== undefined && html`<section role="status">${answer}</section>`}
      <form class="narrow" method="post" action="${shopPath(visit, PATH)}">
        <div class="field">
          <label for="code">${storefront.checkout.giftCards.code}</label>
          <input
            id="code"
            name="code"
            required
            maxlength="${MAX_GIFT_CARD_CODE_LENGTH}"
            autocomplete="off"
            autocapitalize="characters"
            value="${code}"
            ${problem !== undefined && html`aria-invalid="true" aria-describedby="code.problem"`}
          />
          ${problem !== undefined && html`<p class="error" id="code.problem">${problem}</p>`}
        </div>
        <button>${show}</button>
      </form>`,
  };
}
