import { html, type Markup, type Part } from '../../http/html.ts';
import { textIn } from '../../http/locale.ts';
import { parseDecimal, toMinor } from '../../kernel/money.ts';
import { deliveryOf, deliveryPrice } from '../../pricing/delivery.ts';
import type { CartInput, LineInput } from '../../pricing/input.ts';
import { countryName } from '../../shops/countries/countries.ts';
import type { SettingsFile } from '../../shops/settings/file.ts';
import type { SettingsFormat } from '../../shops/settings/format.ts';
import { isFieldOfMethod } from '../../shops/settings/schema/shipping.ts';
import type { Settings, ShippingMethod } from '../../shops/settings/settings.ts';
import { amountText } from '../components/format.ts';
import { choiceField, textField } from '../components/form.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { sectionPage } from './section-page.ts';
import type { PageRequest } from '../../http/page-kit.ts';

export function shipping(pages: ShopPages, format: SettingsFormat): void {
  sectionPage(pages, format, {
    name: 'shipping',
    adjust: withoutOtherFields,
    beside: async (visit, request) => priceTester(visit, request),
  });
}

/** The form has the fields of all kinds of delivery; those of the other kinds are dropped. */
function withoutOtherFields(file: SettingsFile): SettingsFile {
  const shippingMethods = file.shippingMethods?.map(
    (method) =>
      Object.fromEntries(
        Object.entries(method).filter(([key]) => isFieldOfMethod(key, method)),
      ) as typeof method,
  );
  return { ...file, ...(shippingMethods && { shippingMethods }) };
}

interface Trial {
  country: string;
  postcode: string;
  weight: string;
  value: string;
}

/** The methods that an address, a weight and a value of goods would be offered, computed as for a cart. */
function priceTester(visit: ShopVisit, request: PageRequest): Markup {
  const { settings, language } = visit;
  const messages = visit.messages.settings.shippingTest;
  const trial: Trial = {
    country: settings.countries.find((code) => code === request.query('country')) ?? settings.defaultCountry,
    postcode: (request.query('postcode') ?? '').trim().slice(0, MAX_POSTCODE_LENGTH),
    weight: decimalIn(request.query('weight'), '1'),
    value: decimalIn(request.query('value'), '50'),
  };
  return html`<section class="card" id="price-test">
    <h2>${messages.title}</h2>
    <form
      method="get"
      action="${adminPath(visit, '/settings/shipping')}#price-test"
      class="stack"
      hx-get="${adminPath(visit, '/settings/shipping')}"
      hx-trigger="input delay:200ms, change"
      hx-target="#prices"
      hx-select="#prices"
      hx-swap="outerHTML"
    >
      <div class="row">
        ${choiceField({
          name: 'country',
          label: messages.country,
          value: trial.country,
          choices: settings.countries.map((code) => ({ value: code, text: countryName(code, language) })),
        })}
        ${textField({
          name: 'postcode',
          label: messages.postcode,
          value: trial.postcode,
          maxLength: MAX_POSTCODE_LENGTH,
        })}
      </div>
      <div class="row">
        ${textField({ name: 'weight', label: messages.weight, value: trial.weight, unit: 'kg', inputMode: 'decimal' })}
        ${textField({
          name: 'value',
          label: messages.value,
          value: trial.value,
          unit: settings.defaultCurrency,
          inputMode: 'decimal',
        })}
      </div>
      <button class="without-script">${messages.submit}</button>
    </form>
    <div id="prices" aria-live="polite">
      ${trialResult(visit, trial)}
      <p class="hint">${messages.hint}</p>
    </div>
  </section>`;
}

const MAX_POSTCODE_LENGTH = 32;

function trialResult(visit: ShopVisit, trial: Trial): Markup {
  const { settings } = visit;
  const messages = visit.messages.settings.shippingTest;
  if (settings.shippingMethods.length === 0) return html`<p class="quiet">${messages.none}</p>`;
  const cart = trialCart(trial, settings);
  const { possible, isUndeliverable } = deliveryOf(cart, settings);
  const value = toMinor(trial.value, settings.defaultCurrency) ?? 0;
  const priceOf = (method: ShippingMethod): Part => {
    if (!possible.includes(method)) return html`<span class="quiet">${messages.notOffered}</span>`;
    if (method.kind === 'pickup') return messages.pickup;
    return amountText(deliveryPrice(method, cart, value, settings)!, visit);
  };
  return html`${isUndeliverable && html`<p class="problem">${messages.undeliverable}</p>`}
    <dl class="pairs">
      ${settings.shippingMethods.map(
        (method) =>
          html`<dt>${textIn(method.name, visit.locale, settings.defaultLocale) ?? method.key}</dt>
            <dd class="number">${priceOf(method)}</dd>`,
      )}
    </dl>`;
}

function decimalIn(text: string | undefined, otherwise: string): string {
  const typed = (text ?? '').replace(',', '.').slice(0, 12);
  return /^\d+(?:\.\d{1,4})?$/.test(typed) && parseDecimal(typed) ? typed : otherwise;
}

/** A cart with one product of this weight; nothing else affects the delivery. */
function trialCart({ country, postcode, weight }: Trial, settings: Settings): CartInput {
  const product: LineInput['product'] = {
    productId: '',
    masterId: null,
    prices: null,
    taxClassId: settings.taxClasses.find(({ digital }) => !digital)?.taxClassId ?? null,
    deliveryWeight: { amount: Number(weight), unit: 'kilogram' },
  };
  return {
    currency: settings.defaultCurrency,
    taxType: settings.taxModel,
    country,
    postcode: postcode === '' ? null : postcode,
    vatNumber: null,
    customerGroupId: null,
    lines: [{ quantity: '1', price: null, product }],
    coupon: null,
    shipping: { methodId: null, price: null },
    payment: { methodId: null, price: null },
  };
}
