import { getCustomer } from '../../people/customers/routes.ts';
import { html, type Markup } from '../../http/html.ts';
import { moneyText } from '../../http/price-text.ts';
import { isId } from '../../kernel/ids.ts';
import { toMinor } from '../../kernel/money.ts';
import { discountParts } from '../../pricing/cart-promotions.ts';
import type { Content } from '../../pricing/content.ts';
import { anyText } from '../../catalogue/products/render.ts';
import { ADDRESS, addressFields } from '../components/address-form.ts';
import { optionsOf, showFields } from '../components/declared-form.ts';
import { problemOf } from '../components/form.ts';
import { methodChoices } from '../components/method-choices.ts';
import { languageName } from '../components/language-name.ts';
import type { AdminPage } from '../page.ts';
import type { Draft, ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import {
  chosenLines,
  type ChosenProducts,
  chosenRows,
  loadChosen,
  pressedButton,
  productFinder,
} from './chosen-lines.ts';
import { typedDecimal } from '../components/decimal.ts';
import { NOTE } from './data-actions.ts';
import { LINE } from './line-form.ts';
import { DELIVERY, PAYMENT_METHOD } from './method-form.ts';
import {
  BILLING,
  CART,
  checkTypedNumber,
  isElsewhere,
  knownCheck,
  placeByHand,
  SHIPPING,
} from './place-by-hand.ts';
import type { VatCheck } from '../../shops/vat-numbers/buyer.ts';
import { taxLines } from './order-view.ts';
import { searchCustomers, type FoundCustomer } from './product-queries.ts';
import { type FormRequest, Redirect } from '../../http/page-kit.ts';

/**
 * An order by phone. The form holds all of it until it is placed, so nothing is stored of an abandoned order; then a
 * cart is created, filled and ordered by the same operations as any other.
 */
export function newOrderPages(pages: ShopPages): void {
  pages.form(
    '/orders/new',
    { read: 'carts_price_write', write: 'carts_price_write' },
    {
      show: (visit, _request, draft) => newOrderPage(visit, draft),
      save: async (visit, form) => {
        if (pressedButton(form, visit) === 'compute') await checkTypedNumber(visit, form);
        if (pressedButton(form, visit) !== 'place') return newOrderPage(visit, await draftOf(visit, form));
        const { order, vatCheck } = await placeByHand(visit, form);
        const placed = visit.messages.orders.byHand.placed({ number: order.orderNumber });
        const problem = vatProblem(visit, vatCheck);
        return new Redirect(adminPath(visit, `/orders/${order.orderId}`), {
          text: problem === undefined ? placed : `${placed} ${problem}`,
          isProblem: problem !== undefined,
        });
      },
    },
    optionsOf(ADDRESS, DELIVERY, PAYMENT_METHOD, CART, NOTE, LINE),
  );
}

/** Why VAT is charged although there is a VAT number; undefined: it was confirmed, or there is none to confirm. */
function vatProblem({ messages }: ShopVisit, check: VatCheck | undefined): string | undefined {
  if (!check || check.result === 'valid') return undefined;
  return messages.orders.byHand.vatCharged[check.result];
}

/** The form again. A customer who was just chosen fills in the address. */
async function draftOf(visit: ShopVisit, form: FormRequest): Promise<Draft> {
  const [what, customerId = ''] = pressedButton(form, visit).split(':');
  const isChosen = what === 'customer' && isId(customerId);
  const customer = isChosen ? await visit.call(getCustomer, { params: { customerId } }) : undefined;
  const field = (name: string) => {
    if (customer && name === 'customerId') return customer.customerId;
    if (customer && name === 'customerNumber') return customer.customerNumber;
    if (customer && name === 'customer') return '';
    const address: Readonly<Record<string, string | null>> | null | undefined = customer?.billingAddress;
    if (address && name.startsWith(BILLING)) return address[name.slice(BILLING.length)] ?? '';
    return form.field(name);
  };
  return { field, fieldList: form.fieldList, problem: '' };
}

async function newOrderPage(visit: ShopVisit, draft?: Draft): Promise<AdminPage> {
  const { settings, db, shopId } = visit;
  const messages = visit.messages.orders;
  const text = draft?.field('q') ?? '';
  const customerText = draft?.field('customer') ?? '';
  const methods = methodChoices(visit);
  const currency =
    settings.currencies.find((one) => one === draft?.field('currency')) ?? settings.defaultCurrency;
  const shippingMethodId = draft?.field('shippingMethodId') || methods.shipping[0]?.value || null;
  const shippingPrice =
    toMinor(typedDecimal(draft?.field('shippingPrice') ?? '', visit.language), currency) ?? null;
  const delivery = showFields(DELIVERY, visit, { values: { shippingMethodId }, draft });
  const cart = showFields(CART, visit, { values: { currency, locale: settings.defaultLocale }, draft });
  const vatCheck = draft && knownCheck(visit, draft);
  const [chosen, customers] = await Promise.all([
    loadChosen(visit, draft ? chosenLines(draft, visit) : [], text, {
      currency,
      taxType: settings.taxModel,
      customerGroupId: null,
      billingAddress: {
        country: draft?.field(`${BILLING}country`) || settings.country,
        zipCode: draft?.field(`${BILLING}zipCode`) || null,
      },
      shippingAddress:
        draft && isElsewhere(draft)
          ? {
              country: draft.field(`${SHIPPING}country`) || settings.country,
              zipCode: draft.field(`${SHIPPING}zipCode`) || null,
            }
          : null,
      buyer: vatCheck ? { vatCheck } : null,
      shippingMethodId,
      shippingPrice,
      paymentMethodId: draft?.field('paymentMethodId') || null,
    }),
    customerText === '' ? undefined : searchCustomers(db, shopId, customerText),
  ]);
  return {
    title: messages.byHand.title,
    menu: 'orders',
    breadcrumbs: [{ href: adminPath(visit, '/orders'), text: visit.messages.layout.menuEntries.orders }],
    main: html`<form method="post" action="${adminPath(visit, '/orders/new')}">
      ${draft?.problem !== '' && problemOf(draft)}
      <button name="do" value="compute" class="hidden" tabindex="-1">${messages.byHand.compute}</button>
      <div class="sides">
        <div class="stack">
          ${itemsCard(visit, text, chosen)} ${customerCard(visit, customers, customerText, draft)}
        </div>
        <div class="stack">
          <section class="card">
            <h2>${messages.byHand.delivery}</h2>
            ${delivery('shippingMethodId', { choices: methods.shipping })}
            ${delivery('price', { hint: messages.byHand.priceHint, unit: currency })}
            ${showFields(PAYMENT_METHOD, visit, { draft })('paymentMethodId', { choices: methods.payment })}
            ${
              settings.currencies.length > 1 &&
              cart('currency', { choices: settings.currencies.map((value) => ({ value, text: value })) })
            }
            ${
              settings.locales.length > 1 &&
              cart('locale', {
                choices: settings.locales.map((value) => ({
                  value,
                  text: languageName(value, visit.language, settings.locales),
                })),
              })
            }
            ${showFields(NOTE, visit, { draft })('internalNote', { rows: 2 })}
          </section>
          ${sumsCard(visit, chosen.content, vatCheck)}
        </div>
      </div>
    </form>`,
  };
}

function itemsCard(visit: ShopVisit, text: string, chosen: ChosenProducts): Markup {
  const messages = visit.messages.orders.byHand;
  return html`<section class="card" id="items">
    <h2>${messages.items}</h2>
    ${
      chosen.lines.length === 0
        ? html`<p class="quiet">${messages.noItems}</p>`
        : html`${chosenRows(visit, chosen, { hasHeads: true })}
            <p class="hint">${messages.priceHint}</p>`
    }
    ${productFinder(visit, text, chosen)}
  </section>`;
}

function customerCard(
  visit: ShopVisit,
  customers: readonly FoundCustomer[] | undefined,
  text: string,
  draft: Draft | undefined,
): Markup {
  const messages = visit.messages.orders;
  const customerId = draft?.field('customerId') ?? '';
  const number = draft?.field('customerNumber') ?? '';
  return html`<section class="card">
    <h2>${messages.byHand.customer}</h2>
    ${
      visit.may('customers_read') &&
      html`<div class="field">
          <label for="field-customer">${messages.byHand.findCustomer}</label>
          <span class="finder">
            <input
              type="search"
              name="customer"
              id="field-customer"
              value="${text}"
              maxlength="254"
              autocomplete="off"
            />
            <button name="do" value="findCustomer">${messages.edit.findButton}</button>
          </span>
        </div>
        ${customers?.length === 0 && html`<p class="quiet">${messages.byHand.nobody}</p>`}
        ${
          customers &&
          customers.length > 0 &&
          html`<ul class="chosen">
            ${customers.map(
              (customer) =>
                html`<li>
                  <span class="grow"
                    >${customer.name}
                    <span class="quiet">${customer.email} ${customer.customerNumber}</span></span
                  >
                  <button
                    name="do"
                    value="customer:${customer.customerId}"
                    aria-label="${messages.byHand.choose}: ${customer.name}"
                  >
                    ${messages.byHand.choose}
                  </button>
                </li>`,
            )}
          </ul>`
        }`
    }
    <input type="hidden" name="customerId" value="${customerId}" />
    <input type="hidden" name="customerNumber" value="${number}" />
    ${customerId !== '' && html`<p><strong>${messages.customer({ number })}</strong></p>`}
    ${addressFields(visit, null, draft, { isOfOrder: true, prefix: BILLING })}
    <details ${draft !== undefined && isElsewhere(draft) && html`open`}>
      <summary>${messages.byHand.elsewhere}</summary>
      <div class="stack">${addressFields(visit, null, draft, { isOfOrder: true, prefix: SHIPPING })}</div>
    </details>
  </section>`;
}

function sumsCard(visit: ShopVisit, content: Content, vatCheck: VatCheck | undefined): Markup {
  const messages = visit.messages.orders;
  const money = (minor: number) => moneyText(minor, content.currency, visit.language);
  const textRow = (name: string, text: string, kind = '') =>
    html`<div class="${kind}">
      <dt>${name}</dt>
      <dd>${text}</dd>
    </div>`;
  const row = (name: string, minor: number, kind?: string) => textRow(name, money(minor), kind);
  return html`<section class="card">
    <h2>${messages.byHand.sums}</h2>
    <dl class="totals">
      ${row(messages.totals.subTotal, content.subTotal)}
      ${discountParts(content).map(({ name, amount }) =>
        row(
          name ? anyText(name, visit.locale, visit.settings.defaultLocale)! : messages.totals.discount,
          amount,
        ),
      )}
      ${row(messages.totals.shipping, content.shippingPrice)}
      ${content.payment !== null && content.payment.price !== 0 && row(messages.totals.payment, content.payment.price)}
      ${taxLines(visit, content).map(({ name, amount }) => textRow(name, amount, 'quiet'))}
      ${row(messages.totals.total, content.grandTotal, 'total')}
    </dl>
    ${vatCheck && html`<p class="hint">${vatProblem(visit, vatCheck) ?? messages.business.done.valid}</p>`}
    <div class="actions">
      <button name="do" value="compute">${messages.byHand.compute}</button>
      <button name="do" value="place" class="main">${messages.byHand.place}</button>
    </div>
  </section>`;
}
