import { html, webAddress, type Markup } from '../../http/html.ts';
import { shownAttributes } from '../../catalogue/products/attributes.ts';
import type { ProductRow } from '../../catalogue/products/queries.ts';
import { typeOf } from '../../catalogue/products/render.ts';
import type { Product } from '../../catalogue/products/schema.ts';
import { readableFields } from '../../fields/values.ts';
import { shownFields } from '../../fields/value.ts';
import { dateText } from '../../http/dates.ts';
import { formatMoney, toMinor } from '../../kernel/money.ts';
import type { FieldType } from '../../shops/settings/settings.ts';
import { basePriceText } from '../../catalogue/products/shown-price.ts';
import { amountWithUnit, formatNumber } from '../../http/amount-text.ts';
import { priceText } from '../../http/price-text.ts';
import { messagesIn, type Messages } from '../../kernel/messages.ts';
import type { Visit } from '../visit.ts';
import { languageTag } from '../../http/locale.ts';
import { countryName } from '../../shops/countries/countries.ts';

/** The attributes and measures of a product as a table. */
export function detailsView(visit: Visit, row: ProductRow, product: Product): Markup | false {
  const { locale, settings } = visit;
  const messages = messagesIn(locale).storefront.product;
  const hidden = new Set(
    typeOf(row, settings).attributes.flatMap(({ key, visible }) => (visible ? [] : [key])),
  );
  const attributes = shownAttributes(row, settings, locale).items.flatMap(
    ({ key, displayKey, type, values }) => {
      const chosen = values.filter(({ value }) => value !== null);
      if (hidden.has(key) || chosen.length === 0) return [];
      const shown = chosen.map(({ value, displayValue }) =>
        attributeValue(type, value!, displayValue, messages, locale),
      );
      return [
        { name: displayKey, value: shown.flatMap((one, index) => (index === 0 ? [one] : [', ', one])) },
      ];
    },
  );
  const { deliveryWeight, productLength, productWidth, productHeight } = product;
  const hasSize = productLength !== null && productWidth !== null && productHeight !== null;
  const rows = [
    ...attributes,
    ...(product.manufacturerProductNumber
      ? [{ name: messages.manufacturerNumber, value: [product.manufacturerProductNumber] }]
      : []),
    ...(deliveryWeight
      ? [
          {
            name: messages.weight,
            value: [`${formatNumber(deliveryWeight.amount, locale)} ${deliveryWeight.unit}`],
          },
        ]
      : []),
    ...(hasSize
      ? [
          {
            name: messages.size,
            value: [
              `${[productLength, productWidth, productHeight].map((length) => formatNumber(length, locale)).join(' × ')} mm`,
            ],
          },
        ]
      : []),
    ...fieldRows(visit, row),
    ...legalRows(product, locale),
  ];
  if (rows.length === 0) return false;
  return html`<section>
    <h2>${messages.details}</h2>
    <div class="table">
      <table>
        <tbody>
          ${rows.map(
            ({ name, value }) =>
              html`<tr>
                <th scope="row">${name}</th>
                <td>${value}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
  </section>`;
}

/** What the law wants to be known before the purchase, where it is known. */
function legalRows(
  { legalInfo = {} }: Product,
  locale: string,
): { name: string; value: (Markup | string)[] }[] {
  const messages = messagesIn(locale).storefront.product;
  const { repairability, softwareUpdates, originCountry, productPassport } = legalInfo;
  const passport = webAddress(productPassport);
  return [
    ...(repairability === undefined
      ? []
      : [{ name: messages.repairability, value: [repairabilityText(repairability, messages, locale)] }]),
    ...(softwareUpdates === undefined
      ? []
      : [{ name: messages.softwareUpdates, value: [updatesText(softwareUpdates, messages, locale)] }]),
    ...(originCountry === undefined
      ? []
      : [{ name: messages.originCountry, value: [countryName(originCountry, languageTag(locale))] }]),
    ...(passport === undefined
      ? []
      : [
          {
            name: messages.passport,
            value: [html`<a href="${passport}" rel="noopener">${new URL(passport).hostname}</a>`],
          },
        ]),
  ];
}

function repairabilityText(
  repairability: string,
  messages: Messages['storefront']['product'],
  locale: string,
): string {
  const score = Number(repairability);
  return Number.isNaN(score)
    ? messages.repairabilityClass({ letter: repairability })
    : messages.repairabilityScore({ score: formatNumber(score, locale) });
}

function updatesText(updates: string, messages: Messages['storefront']['product'], locale: string): string {
  if (!updates.includes('-')) return messages.updatesYears({ years: updates });
  const date = new Date(updates).toLocaleDateString(languageTag(locale), {
    dateStyle: 'long',
    timeZone: 'UTC',
  });
  return messages.updatesUntil({ date });
}

/** A claim on the environment always stands beside what backs it up. */
export function environmentView({ locale }: Visit, { legalInfo }: Product): Markup | false {
  const { environmentalClaim } = legalInfo ?? {};
  if (!environmentalClaim) return false;
  const messages = messagesIn(locale).storefront.product;
  const { claim, source } = environmentalClaim;
  const address = webAddress(source);
  const shown = address === undefined ? source : html`<a href="${address}" rel="noopener">${source}</a>`;
  return html`<section>
    <h2>${messages.environment}</h2>
    <p>${claim}</p>
    <p><small>${messages.claimSource.pieces({ source: shown })}</small></p>
  </section>`;
}

/** The public custom fields that a line can show. */
function fieldRows({ locale, settings }: Visit, { kind, fields }: ProductRow) {
  const messages = messagesIn(locale).storefront.product;
  const resource = kind === 'variation' ? 'variation' : 'product';
  const shown = readableFields(settings, resource, 'shopper').filter(({ type }) => SHOWN_TYPES.has(type));
  const { defaultLocale } = settings;
  return shownFields(shown, fields ?? [], { locale, defaultLocale }).map(({ name, type, value, label }) => ({
    name,
    value: [
      label ??
        [value]
          .flat()
          .map((entry) => fieldValue(type, entry, messages, locale))
          .join(', '),
    ],
  }));
}

const SHOWN_TYPES: ReadonlySet<FieldType> = new Set(['text', 'number', 'money', 'boolean', 'date', 'choice']);

function fieldValue(
  type: FieldType,
  value: unknown,
  messages: Messages['storefront']['product'],
  locale: string,
): string {
  if (type === 'boolean') return value === true ? messages.yes : messages.no;
  if (type === 'date') return dateText(new Date(String(value)), locale);
  if (type === 'number') return formatNumber(Number(value), locale);
  if (type !== 'money') return String(value);
  const { amount, currency } = value as { amount: number; currency: string };
  return formatMoney(toMinor(amount, currency)!, currency, locale);
}

function attributeValue(
  type: string,
  value: string,
  label: string,
  messages: Messages['storefront']['product'],
  locale: string,
): Markup | string {
  const language = languageTag(locale);
  switch (type) {
    case 'bool':
      return value === 'true' ? messages.yes : messages.no;
    case 'number':
      return formatNumber(Number(value), locale);
    case 'datetime':
      return new Date(value).toLocaleDateString(language, { dateStyle: 'long', timeZone: 'UTC' });
    case 'url': {
      const address = webAddress(value);
      return address === undefined ? label : html`<a href="${address}" rel="noopener">${label}</a>`;
    }
    default:
      return label;
  }
}

/** Links to the energy label and the data sheet, which the law requires next to the price. */
export function labelLinks({ locale }: Visit, product: Product): Markup | false {
  const messages = messagesIn(locale).storefront.product;
  const { energyLabelsString, energyLabelsMaxEfficiencyString, energyLabelSourceFile } = product;
  const label = webAddress(energyLabelSourceFile);
  const sheet = webAddress(product.productDataSheet);
  const scale =
    energyLabelsMaxEfficiencyString &&
    ` (${messages.energyScale({ best: energyLabelsMaxEfficiencyString })})`;
  const energy =
    energyLabelsString && messages.energy({ classes: energyLabelsString.split(',').join(' – ') });
  const eprel = webAddress(product.legalInfo?.eprelUrl);
  if (!energy && sheet === undefined && eprel === undefined) return false;
  return html`<ul class="labels">
    ${
      energy &&
      html`<li>${label === undefined ? energy : html`<a href="${label}">${energy}</a>`}${scale}</li>`
    }
    ${sheet !== undefined && html`<li><a href="${sheet}">${messages.dataSheet}</a></li>`}
    ${eprel !== undefined && html`<li><a href="${eprel}" rel="noopener">${messages.eprel}</a></li>`}
  </ul>`;
}

const PLAYERS: Readonly<Record<string, string>> = {
  YouTube: 'https://www.youtube.com/watch?v=',
  Vimeo: 'https://vimeo.com/',
};

/** Videos are links, so that no other site learns about a visitor before the click. */
export function videoLinks({ locale }: Visit, { videos }: Product): Markup | false {
  if (videos.length === 0) return false;
  const messages = messagesIn(locale).storefront.product;
  return html`<section>
    <h2>${messages.videos}</h2>
    <ul>
      ${videos.map(({ type, source }, index) => {
        const address = webAddress(source) ?? `${PLAYERS[type]}${encodeURIComponent(source)}`;
        return html`<li>
          <a href="${address}" rel="noopener">${messages.video({ provider: type, number: index + 1 })}</a>
        </li>`;
      })}
    </ul>
  </section>`;
}

export function bulkPrices({ locale }: Visit, { bulkPriceInfo = [] }: Product): Markup | false {
  if (bulkPriceInfo.length === 0) return false;
  const messages = messagesIn(locale).storefront.product;
  const hasBase = bulkPriceInfo.some(({ basePrice }) => basePrice !== null);
  return html`<div class="table">
    <table>
      <caption>
        ${messages.bulkPrices}
      </caption>
      <thead>
        <tr>
          <th scope="col">${messages.fromQuantity}</th>
          <th scope="col" ${hasBase && html`colspan="2"`}>${messages.unitPrice}</th>
        </tr>
      </thead>
      <tbody>
        ${bulkPriceInfo.map(
          ({ quantity, price, basePrice }) =>
            html`<tr>
              <th scope="row">${amountWithUnit(quantity.amount, quantity.unit, locale)}</th>
              <td>${priceText(price, locale)}</td>
              ${hasBase && html`<td><small>${basePrice && basePriceText(basePrice, locale)}</small></td>`}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}
