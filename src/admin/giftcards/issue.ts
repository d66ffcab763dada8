import { conflict } from '../../http/errors.ts';
import { html } from '../../http/html.ts';
import type { CallOperation } from '../../http/internal-call.ts';
import type { FormRequest, PageRequest } from '../../http/page-kit.ts';
import type { Static } from 'typebox';
import { lastDayOfCard } from '../../giftcards/card.ts';
import { issueNewGiftCard, listGiftCards } from '../../giftcards/routes.ts';
import type { IssuedGiftCardAnswer } from '../../giftcards/schema.ts';
import { takeTimeOfCommit } from '../../platform/events/log.ts';
import { declareForm, optionsOf, readFields, showFields } from '../components/declared-form.ts';
import { problemOf } from '../components/form.ts';
import { dayOrMonth } from '../components/format.ts';
import { isUnchanged, versionField } from '../components/version.ts';
import { PRINT_SCRIPT } from '../layout/assets.ts';
import { moneyIn } from '../orders/order-view.ts';
import type { AdminPage } from '../page.ts';
import type { Draft, ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { giftCardListStep } from './steps.ts';

const PATH = '/gift-cards/new';

const NEW_CARD = declareForm(issueNewGiftCard, ({ giftCards: messages }) => ({
  value: { kind: 'decimal', label: messages.value, isRequired: true },
  currency: { kind: 'choice', label: messages.currency },
  expiresOn: { kind: 'date', label: messages.expiresOn, hint: messages.expiresHint },
  note: { label: messages.note, hint: messages.noteHint },
}));

export function issuePages(pages: ShopPages): void {
  pages.form(
    PATH,
    { read: 'giftcards_write', write: 'giftcards_write' },
    { show: showForm, save: issue },
    optionsOf(NEW_CARD),
  );
}

async function showForm(visit: ShopVisit, _request: PageRequest, draft?: Draft): Promise<AdminPage> {
  const { messages, settings, db } = visit;
  const words = messages.giftCards;
  const values = { currency: settings.defaultCurrency, expiresOn: lastDayOfCard(settings.country, db.now) };
  const field = showFields(NEW_CARD, visit, { values, draft });
  const hasOneCurrency = settings.currencies.length === 1;
  return {
    title: words.issue,
    menu: 'marketing',
    breadcrumbs: [giftCardListStep(visit)],
    main: html`<form method="post" class="card prose" action="${adminPath(visit, PATH)}">
      ${problemOf(draft)} ${versionField(await newestCard(visit.call))}
      <p class="hint">${words.issueText}</p>
      <div class="row">
        ${field('value', hasOneCurrency ? { unit: settings.defaultCurrency } : {})}
        ${
          !hasOneCurrency &&
          field('currency', { choices: settings.currencies.map((value) => ({ value, text: value })) })
        }
      </div>
      ${field('expiresOn')} ${field('note')}
      <button class="main">${words.issue}</button>
    </form>`,
  };
}

async function newestCard(call: CallOperation): Promise<string | null> {
  const { items } = await call(listGiftCards, { query: { page: 1, resultsPerPage: 1 } });
  return items[0]?.giftCardId ?? null;
}

/**
 * A form that is sent again, by a reload of the page with the code, is refused: it would make a second card. Under the
 * lock of the counter no two cards are issued at once.
 */
async function issue(visit: ShopVisit, form: FormRequest): Promise<AdminPage> {
  const body = readFields(NEW_CARD, form, visit);
  const issued = await visit.inTransaction(async (call, tx) => {
    await takeTimeOfCommit(tx, visit.shopId);
    if (!isUnchanged(form, await newestCard(call))) {
      throw conflict(visit.messages.giftCards.issuedMeanwhile);
    }
    return call(issueNewGiftCard, { body });
  });
  return codePage(visit, issued);
}

/** The only page that holds the code. */
function codePage(visit: ShopVisit, card: Static<typeof IssuedGiftCardAnswer>): AdminPage {
  const { language } = visit;
  const messages = visit.messages.giftCards;
  const { code, balance, expiresOn } = card;
  return {
    title: messages.issued,
    menu: 'marketing',
    breadcrumbs: [giftCardListStep(visit)],
    actions: html`<button class="with-script" data-print>${messages.print}</button>`,
    scripts: [PRINT_SCRIPT],
    main: html`<p class="problem gift-card-warning" role="status">${messages.codeOnce}</p>
      <section class="card prose">
        <h2>${messages.worth({ amount: moneyIn(visit)(balance) })}</h2>
        <p class="gift-card-code">${code}</p>
        <p>
          ${messages.howToRedeem}
          ${expiresOn !== null && messages.redeemableUntil({ day: dayOrMonth(expiresOn, false, language) })}
        </p>
        <div class="actions">
          <button type="button" data-copy-value="${code}" data-copied="${messages.copied}" hidden>
            ${messages.copy}
          </button>
          <a class="button main" href="${adminPath(visit, `/gift-cards/${card.giftCardId}`)}"
            >${messages.toCard}</a
          >
        </div>
      </section>`,
  };
}
