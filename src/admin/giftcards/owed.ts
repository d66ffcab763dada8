import { isDate } from '../../http/dates.ts';
import { html } from '../../http/html.ts';
import type { PageRequest } from '../../http/page-kit.ts';
import { getGiftCardLiability } from '../../giftcards/routes.ts';
import { textField } from '../components/form.ts';
import { dayOrMonth } from '../components/format.ts';
import { moneyIn } from '../orders/order-view.ts';
import type { AdminPage } from '../page.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { giftCardListStep } from './steps.ts';

const PATH = '/gift-cards/owed';

const SUMS = ['issued', 'redeemed', 'refunded', 'corrected', 'expired', 'revoked', 'owed'] as const;

/** What the shop owed at the end of a day, for the accountant. */
export function owedPage(pages: ShopPages): void {
  pages.get(PATH, 'giftcards_read', showOwed);
}

async function showOwed(visit: ShopVisit, request: PageRequest): Promise<AdminPage> {
  const messages = visit.messages.giftCards;
  const typed = request.query('on') ?? '';
  const { on, items } = await visit.call(getGiftCardLiability, {
    query: isDate(typed) ? { on: typed } : {},
  });
  return {
    title: messages.owedOn({ day: dayOrMonth(on, false, visit.language) }),
    menu: 'marketing',
    breadcrumbs: [giftCardListStep(visit)],
    main: html`<form method="get" class="card prose" action="${adminPath(visit, PATH)}">
        ${textField({ name: 'on', label: messages.day, type: 'date', value: on, hint: messages.dayHint })}
        <button>${messages.show}</button>
      </form>
      ${items.length === 0 && html`<p class="quiet">${messages.noneOwed}</p>`}
      ${items.map(
        (sums) =>
          html`<section class="card prose" aria-labelledby="owed-${sums.currency}">
            <h2 id="owed-${sums.currency}">${sums.currency}</h2>
            <dl class="pairs">
              ${SUMS.map((name) => {
                const amount = moneyIn(visit)(sums[name]);
                return html`<dt>${messages.sums[name]}</dt>
                  <dd>${name === 'owed' ? html`<strong>${amount}</strong>` : amount}</dd>`;
              })}
            </dl>
          </section>`,
      )}`,
  };
}
