import type { Static } from 'typebox';
import { conflict, notFound } from '../../http/errors.ts';
import { html, type Markup, type Part } from '../../http/html.ts';
import type { CallOperation } from '../../http/internal-call.ts';
import { Redirect, type FormRequest, type PageRequest } from '../../http/page-kit.ts';
import { isId } from '../../kernel/ids.ts';
import { lockGiftCard } from '../../giftcards/ledger.ts';
import {
  correctGiftCard,
  getGiftCard,
  listGiftCardEntries,
  setGiftCardState,
} from '../../giftcards/routes.ts';
import type { EntryList, GiftCardAnswer } from '../../giftcards/schema.ts';
import { findThingNames, type ThingNames } from '../apps/thing-names.ts';
import {
  declareForm,
  declareHidden,
  declaredButton,
  optionsOf,
  readFields,
  showFields,
} from '../components/declared-form.ts';
import { problemOf } from '../components/form.ts';
import { dayOrMonth, dayText, momentText } from '../components/format.ts';
import { isUnchanged, versionField } from '../components/version.ts';
import { moneyIn } from '../orders/order-view.ts';
import type { AdminPage } from '../page.ts';
import type { Draft, ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { shownState, giftCardChip } from './state.ts';
import { giftCardListStep } from './steps.ts';

const PATH = '/gift-cards/:giftCardId';
const SHOWN_ENTRIES = 50;

type Card = Static<typeof GiftCardAnswer>;
type Ledger = Static<typeof EntryList>;

const CORRECTION = declareForm(correctGiftCard, ({ giftCards: messages }) => ({
  amount: { kind: 'decimal', label: messages.amount, hint: messages.amountHint, isRequired: true },
  reason: { label: messages.reason, hint: messages.reasonHint, isRequired: true },
}));

/** Which button was pressed. */
const STATE = declareHidden({ state: 7 });

/** A card with its ledger. The form corrects its balance. */
export function cardPages(pages: ShopPages): void {
  pages.form(
    PATH,
    { read: 'giftcards_read', write: 'giftcards_write' },
    { show: showCard, save: correct },
    optionsOf(CORRECTION),
  );
  pages.post(`${PATH}/state`, 'giftcards_write', setState, optionsOf(STATE));
}

function idOf({ params }: Pick<PageRequest, 'params'>): string {
  const giftCardId = params['giftCardId']!;
  if (!isId(giftCardId)) throw notFound();
  return giftCardId.toUpperCase();
}

const pathOf = (visit: ShopVisit, { giftCardId }: Pick<Card, 'giftCardId'>, below = '') =>
  adminPath(visit, `/gift-cards/${giftCardId}${below}`);

async function showCard(visit: ShopVisit, request: PageRequest, draft?: Draft): Promise<AdminPage> {
  const messages = visit.messages.giftCards;
  const params = { giftCardId: idOf(request) };
  const page = Number(/^[1-9]\d{0,3}$/.exec(request.query('page') ?? '')?.[0] ?? 1);
  const [card, ledger, newest] = await Promise.all([
    visit.call(getGiftCard, { params }),
    visit.call(listGiftCardEntries, { params, query: { page, resultsPerPage: SHOWN_ENTRIES } }),
    newestEntry(visit.call, params.giftCardId),
  ]);
  const names = await findThingNames(visit, [
    ...(card.customerId === null ? [] : [{ customerId: card.customerId }]),
    ...ledger.items.flatMap(({ orderId }) => (orderId === null ? [] : [{ orderId }])),
  ]);
  const isOpen = visit.may('giftcards_write') && card.state !== 'expired';
  return {
    title: messages.title({ end: card.lastCharacters }),
    menu: 'marketing',
    breadcrumbs: [giftCardListStep(visit)],
    actions: isOpen && stateButton(visit, card),
    main: html`${factsCard(visit, card, names)}
    ${card.state === 'expired' && html`<p class="notice">${messages.closed}</p>`}
    ${ledgerCard(visit, card, { ledger, page, names })}
    ${
      isOpen &&
      html`<form
        method="post"
        class="card"
        action="${pathOf(visit, card)}"
        data-confirm="${messages.correctSure}"
      >
        <h2>${messages.correct}</h2>
        ${problemOf(draft)} ${versionField(newest)} ${correctionFields(visit, card, draft)}
        <button>${messages.correct}</button>
      </form>`
    }`,
  };
}

function correctionFields(visit: ShopVisit, { balance }: Card, draft: Draft | undefined): Markup {
  const field = showFields(CORRECTION, visit, { draft });
  return html`<div class="row">${field('amount', { unit: balance.currency })} ${field('reason')}</div>`;
}

function stateButton(visit: ShopVisit, card: Card): Markup {
  const messages = visit.messages.giftCards;
  const action = pathOf(visit, card, '/state');
  return card.state === 'blocked'
    ? declaredButton(STATE, visit, { state: 'active' }, { action, text: messages.unblock })
    : declaredButton(
        STATE,
        visit,
        { state: 'blocked' },
        { action, text: messages.block, kind: 'danger', confirm: messages.blockSure },
      );
}

function factsCard(visit: ShopVisit, card: Card, names: ThingNames): Markup {
  const { language } = visit;
  const messages = visit.messages.giftCards;
  const { balance, customerId, expiresOn, note } = card;
  const fact = (title: string, value: Part) =>
    html`<div>
      <dt>${title}</dt>
      <dd>${value}</dd>
    </div>`;
  return html`<dl class="card figures">
      ${fact(messages.balance, moneyIn(visit)(balance))}
      ${fact(messages.state, giftCardChip(visit, shownState(card.state, balance.amount)))}
      ${fact(messages.issuedOn, dayText(new Date(card.creationDate), language))}
      ${fact(messages.expiresOn, expiresOn === null ? messages.never : dayOrMonth(expiresOn, false, language))}
      ${
        customerId !== null &&
        fact(
          messages.storeCreditOf,
          visit.may('customers_read')
            ? html`<a href="${adminPath(visit, `/customers/${customerId}`)}"
                >${names.get(customerId) ?? messages.customer}</a
              >`
            : messages.customer,
        )
      }
    </dl>
    ${note !== null && html`<p class="note-text">${note}</p>`}`;
}

function ledgerCard(
  visit: ShopVisit,
  card: Card,
  { ledger, page, names }: { ledger: Ledger; page: number; names: ThingNames },
): Markup {
  const messages = visit.messages.giftCards;
  const link = (other: number, text: string) =>
    html`<a class="button" href="${pathOf(visit, card)}${other > 1 && `?page=${other}`}">${text}</a>`;
  const orderName = (orderId: string) => {
    const name = names.get(orderId) ?? messages.order;
    return visit.may('orders_read')
      ? html`<a href="${adminPath(visit, `/orders/${orderId}`)}">${name}</a>`
      : name;
  };
  return html`<section class="card" aria-labelledby="ledger">
    <h2 id="ledger">${messages.ledger}</h2>
    <div class="list plain">
      <table>
        <thead>
          <tr>
            <th scope="col">${messages.date}</th>
            <th scope="col">${messages.entry}</th>
            <th scope="col">${messages.about}</th>
            <th scope="col" class="number">${messages.amount}</th>
          </tr>
        </thead>
        <tbody>
          ${ledger.items.map(
            ({ recordedOn, kind, orderId, reason, amount }) =>
              html`<tr>
                <td data-title="${messages.date}">${momentText(new Date(recordedOn), visit.language)}</td>
                <td data-title="${messages.entry}">${messages.kinds[kind]}</td>
                <td data-title="${messages.about}">
                  ${orderId === null ? (reason ?? '–') : orderName(orderId)}
                </td>
                <td data-title="${messages.amount}" class="number">${moneyIn(visit)(amount)}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
    ${
      ledger.results > SHOWN_ENTRIES &&
      html`<p class="actions">
        ${page > 1 && link(page - 1, messages.newer)}
        ${page * SHOWN_ENTRIES < ledger.results && link(page + 1, messages.older)}
      </p>`
    }
  </section>`;
}

async function newestEntry(call: CallOperation, giftCardId: string): Promise<string | undefined> {
  const { items } = await call(listGiftCardEntries, {
    params: { giftCardId },
    query: { page: 1, resultsPerPage: 1 },
  });
  return items[0]?.entryId;
}

/** Refuses a correction that is sent twice, or that was typed before the last change of the balance. */
async function correct(visit: ShopVisit, form: FormRequest): Promise<Redirect> {
  const messages = visit.messages.giftCards;
  const giftCardId = idOf(form);
  const body = readFields(CORRECTION, form, visit);
  const { balance } = await visit.inTransaction(async (call, tx) => {
    if (!(await lockGiftCard(tx, visit.shopId, giftCardId))) throw notFound();
    if (!isUnchanged(form, await newestEntry(call, giftCardId))) throw conflict(messages.changedMeanwhile);
    return call(correctGiftCard, { params: { giftCardId }, body });
  });
  return new Redirect(pathOf(visit, { giftCardId }), messages.corrected({ amount: moneyIn(visit)(balance) }));
}

async function setState(visit: ShopVisit, form: FormRequest): Promise<Redirect> {
  const messages = visit.messages.giftCards;
  const giftCardId = idOf(form);
  const { state } = readFields(STATE, form, visit);
  if (state !== 'active' && state !== 'blocked') throw notFound();
  await visit.call(setGiftCardState, { params: { giftCardId }, body: { state } });
  return new Redirect(
    pathOf(visit, { giftCardId }),
    state === 'blocked' ? messages.isBlocked : messages.isUnblocked,
  );
}
