import { html, type Markup } from '../../http/html.ts';
import { textIn } from '../../http/locale.ts';
import { parseDecimal, toMinor } from '../../kernel/money.ts';
import type { LineInput } from '../../pricing/input.ts';
import { deliveryPrice } from '../../pricing/delivery.ts';
import { countryName } from '../../shops/countries/countries.ts';
import type { SettingsFile } from '../../shops/settings/file.ts';
import type { SettingsFormat } from '../../shops/settings/format.ts';
import { PRICE_FIELDS, SHIPPING_PRICES } from '../../shops/settings/schema.ts';
import type { Settings } from '../../shops/settings/settings.ts';
import { amountText } from '../components/format.ts';
import { choiceField, textField } from '../components/form.ts';
import type { ShopPages } from '../pages.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import { sectionPage } from './section-page.ts';
import type { PageRequest } from '../../http/page-kit.ts';

export function shipping(pages: ShopPages, format: SettingsFormat): void {
  sectionPage(pages, format, {
    name: 'shipping',
    adjust: withoutOtherPrices,
    beside: async (visit, request) => priceTester(visit, request),
  });
}

/** The form has the prices of all kinds of delivery; those of the other kinds are dropped. */
function withoutOtherPrices(file: SettingsFile): SettingsFile {
  const shippingMethods = file.shippingMethods?.map((method) => {
    const { takes } = SHIPPING_PRICES[method.kind] ?? { takes: PRICE_FIELDS };
    const isKept = (key: string) => !(PRICE_FIELDS as readonly string[]).includes(key) || takes.includes(key);
    return Object.fromEntries(Object.entries(method).filter(([key]) => isKept(key))) as typeof method;
  });
  return { ...file, ...(shippingMethods && { shippingMethods }) };
}

/** The delivery price for an order of this weight and value, computed as for a cart. */
function priceTester(visit: ShopVisit, request: PageRequest): Markup {
  const { settings, language } = visit;
  const messages = visit.messages.settings.shippingTest;
  const weight = decimalIn(request.query('weight'), '1');
  const value = decimalIn(request.query('value'), '50');
  const country =
    settings.countries.find((code) => code === request.query('country')) ?? settings.defaultCountry;
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
      ${choiceField({
        name: 'country',
        label: messages.country,
        value: country,
        choices: settings.countries.map((code) => ({ value: code, text: countryName(code, language) })),
      })}
      <div class="row">
        ${textField({ name: 'weight', label: messages.weight, value: weight, unit: 'kg', inputMode: 'decimal' })}
        ${textField({
          name: 'value',
          label: messages.value,
          value,
          unit: settings.defaultCurrency,
          inputMode: 'decimal',
        })}
      </div>
      <button class="without-script">${messages.submit}</button>
    </form>
    <div id="prices" aria-live="polite">
      ${
        settings.shippingMethods.length === 0
          ? html`<p class="quiet">${messages.none}</p>`
          : html`<dl class="pairs">
              ${settings.shippingMethods.map(
                (method) =>
                  html`<dt>${textIn(method.name, visit.locale, settings.defaultLocale) ?? method.key}</dt>
                    <dd class="number">
                      ${
                        method.kind === 'pickup'
                          ? messages.pickup
                          : amountText(priceOf(method, weight, value, settings), visit)
                      }
                    </dd>`,
              )}
            </dl>`
      }
      <p class="hint">${messages.hint}</p>
    </div>
  </section>`;
}

function decimalIn(text: string | undefined, otherwise: string): string {
  const typed = (text ?? '').replace(',', '.').slice(0, 12);
  return /^\d+(?:\.\d{1,4})?$/.test(typed) && parseDecimal(typed) ? typed : otherwise;
}

/** A cart with one product of this weight; nothing else affects the delivery price. */
function priceOf(
  method: Settings['shippingMethods'][number],
  weight: string,
  value: string,
  settings: Settings,
): number {
  const product = {
    taxClassId: settings.taxClasses.find(({ digital }) => !digital)?.taxClassId ?? null,
    deliveryWeight: { amount: Number(weight), unit: 'kilogram' },
  } as unknown as LineInput['product'];
  const cart = { currency: settings.defaultCurrency, lines: [{ quantity: '1', price: null, product }] };
  return deliveryPrice(method, cart, toMinor(value, settings.defaultCurrency) ?? 0, settings);
}
