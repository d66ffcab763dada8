import { MAX_LENGTHS } from '../../catalogue/products/request-fields.ts';
import { html, type Markup } from '../../http/html.ts';
import { languageTag, textIn } from '../../http/locale.ts';
import { WITHDRAWAL_EXCLUSIONS } from '../../catalogue/products/facts.ts';
import type { ProductRow } from '../../catalogue/products/queries.ts';
import { WEIGHT_UNITS } from '../../catalogue/products/units.ts';
import { UNIT_KEYS } from '../../kernel/units.ts';
import { priceIn } from '../../catalogue/products/prices.ts';
import { amountText } from '../components/format.ts';
import { languageName } from '../components/language-name.ts';
import type { Choice } from '../components/form.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import type { ProductFields } from './product-fields.ts';
import { MAX_KEYWORDS_LENGTH, MAX_URL_LENGTH, PARTIES, PARTY_FIELDS, VIDEOS } from './product-values.ts';

/** In the user's language. */
export function localeName(locale: string, { language, settings }: ShopVisit): string {
  return languageName(locale, language, settings.locales);
}

/** The languages of the shop side by side. */
export function textsCard(visit: ShopVisit, { text, long }: ProductFields): Markup {
  const { settings } = visit;
  const words = visit.words.products.fields;
  const sides = (fields: (locale: string, label: (text: string) => string) => Markup) =>
    html`<div class="languages">
      ${settings.locales.map((locale) => {
        const language = localeName(locale, visit);
        // Each label names its language, because a screen reader does not convey the columns.
        const label = (name: string) => (settings.locales.length === 1 ? name : `${name} · ${language}`);
        return html`<div class="stack" lang="${languageTag(locale)}">${fields(locale, label)}</div>`;
      })}
    </div>`;
  return html`<section class="card">
    <h2>${words.texts}</h2>
    ${sides(
      (locale, label) =>
        html`${text(`name.${locale}`, label(words.name), { maxLength: 1000 })}
        ${long(`shortDescription.${locale}`, label(words.shortDescription), { rows: 2, maxLength: MAX_LENGTHS.text })}
        ${long(`description.${locale}`, label(words.description), { rows: 8, maxLength: MAX_LENGTHS.text, hint: words.descriptionHint })}`,
    )}
    <details>
      <summary>${words.moreTexts}</summary>
      ${sides(
        (locale, label) =>
          html`${long(`essentialFeatures.${locale}`, label(words.essentialFeatures), { rows: 3, maxLength: MAX_LENGTHS.features, hint: words.essentialFeaturesHint })}
          ${text(`title.${locale}`, label(words.title), { maxLength: 1000, hint: words.titleHint })}
          ${text(`searchKeywords.${locale}`, label(words.searchKeywords), { maxLength: MAX_KEYWORDS_LENGTH, hint: words.searchKeywordsHint })}`,
      )}
    </details>
  </section>`;
}

export function pricesCard(visit: ShopVisit, row: ProductRow, fields: ProductFields): Markup {
  const { settings } = visit;
  const words = visit.words.products.fields;
  const { defaultCurrency, currencies } = settings;
  const others = currencies.filter((currency) => currency !== defaultCurrency);
  const prices = row.prices ?? row.master?.prices;
  const amounts = (currency: string) => {
    const converted = prices?.[currency] === undefined ? priceIn(prices, currency, settings) : null;
    const hint = converted === null ? undefined : amountText(converted, visit, currency);
    return html`<div class="row">
      ${fields.number(`price.${currency}`, words.price, {
        unit: currency,
        ...(hint !== undefined && { hint: words.converted({ price: hint }) }),
      })}
      ${fields.number(`manufacturerPrice.${currency}`, words.listPrice, { unit: currency })}
      ${fields.number(`depositPrice.${currency}`, words.deposit, { unit: currency })}
    </div>`;
  };
  return html`<section class="card">
    <h2>${words.prices}</h2>
    ${amounts(defaultCurrency)}
    ${
      others.length > 0 &&
      html`<details ${others.some((currency) => row.prices?.[currency] !== undefined) && html`open`}>
        <summary>${words.otherCurrencies({ currencies: others.join(', ') })}</summary>
        ${others.map(amounts)}
      </details>`
    }
    <div class="row">
      ${fields.choice('taxClassId', words.taxClass, taxClassChoices(visit), { empty: defaultTaxClass(visit) })}
      ${fields.number('ecoParticipationPrice', words.ecoParticipation, { unit: defaultCurrency })}
    </div>
    ${fields.tick('isManufacturerPriceRRP', words.isRrp)}
    <details>
      <summary>${words.basePrice}</summary>
      <p class="hint">${words.basePriceHint}</p>
      <div class="row">
        ${fields.number('reference.content', words.refContent)}
        ${fields.number('reference.amount', words.refAmount)}
        ${fields.choice('reference.unit', words.unit, unitChoices(visit, UNIT_KEYS))}
      </div>
    </details>
    <details ${(row.facts.bulkPrices?.length ?? 0) > 0 && html`open`}>
      <summary>${words.tiers}</summary>
      ${tierTable(visit, fields, 'tier', false)}
    </details>
    ${settings.customerGroups.map(
      ({ customerGroupId, name }) =>
        html`<details
          ${row.facts.groupPrices?.some((one) => one.customerGroupId === customerGroupId) && html`open`}
        >
          <summary>${words.groupPrices({ group: name })}</summary>
          ${tierTable(visit, fields, `group.${customerGroupId}`, true)}
        </details>`,
    )}
  </section>`;
}

function tierTable(visit: ShopVisit, fields: ProductFields, start: string, hasDiscount: boolean): Markup {
  const words = visit.words.products.fields;
  const { defaultCurrency } = visit.settings;
  const rows: number[] = [];
  while (fields.has(`${start}.${rows.length}.quantity`)) rows.push(rows.length);
  return html`<table class="tiers">
    <thead>
      <tr>
        <th scope="col">${words.fromQuantity}</th>
        <th scope="col">${words.unitPrice}</th>
        ${hasDiscount && html`<th scope="col">${words.discount}</th>`}
      </tr>
    </thead>
    <tbody>
      ${rows.map((index) => {
        const label = (column: string) => `${column} ${index + 1}`;
        return html`<tr>
          <td>${fields.cell(`${start}.${index}.quantity`, label(words.fromQuantity))}</td>
          <td>${fields.cell(`${start}.${index}.price`, label(words.unitPrice), defaultCurrency)}</td>
          ${hasDiscount && html`<td>${fields.cell(`${start}.${index}.discount`, label(words.discount), '%')}</td>`}
        </tr>`;
      })}
    </tbody>
  </table>`;
}

export function stockCard(visit: ShopVisit, row: ProductRow, fields: ProductFields): Markup {
  const words = visit.words.products.fields;
  return html`<section class="card">
    <h2>${words.stockAndNumbers}</h2>
    <div class="row">
      ${fields.text('productNumber', words.productNumber, { maxLength: 100, isRequired: true })}
      ${fields.text('ean', words.ean, { inputMode: 'numeric' })}
      ${fields.text('manufacturerProductNumber', words.manufacturerProductNumber)}
    </div>
    ${
      row.kind === 'master'
        ? html`<p>
            ${words.stockOfVariations}
            <a href="${adminPath(visit, `/products/${row.productId}/variations`)}"
              >${visit.words.products.tabs.variations}</a
            >
          </p>`
        : html`<div class="row">
            <input type="hidden" name="stockWas" value="${fields.valueOf('stock')}" />
            ${fields.number('stock', words.stock, { hint: words.stockHint })}
            ${fields.number('minStock', words.minStock, { hint: words.minStockHint })}
            ${fields.text('deliveryPeriod', words.deliveryPeriod, { hint: words.deliveryPeriodHint })}
          </div>`
    }
    <details>
      <summary>${words.ordering}</summary>
      <div class="row">
        ${fields.choice('order.unit', words.orderUnit, unitChoices(visit, UNIT_KEYS))}
        ${fields.number('order.priceQuantity', words.priceQuantity)}
        ${fields.number('order.minimum', words.minOrder)}
        ${fields.number('order.interval', words.intervalOrder)} ${fields.number('maxOrder', words.maxOrder)}
      </div>
      <div class="row">${fields.text('upc', words.upc)} ${fields.text('productCode', words.productCode)}</div>
    </details>
  </section>`;
}

export function shippingCard(visit: ShopVisit, row: ProductRow, fields: ProductFields): Markup {
  const { settings, locale } = visit;
  const words = visit.words.products.fields;
  return html`<section class="card">
    <h2>${words.shipping}</h2>
    <div class="row">
      ${fields.number('weight.amount', words.weight)}
      ${fields.choice('weight.unit', words.unit, unitChoices(visit, WEIGHT_UNITS))}
      ${fields.number('productLength', words.length, { unit: 'mm' })}
      ${fields.number('productWidth', words.width, { unit: 'mm' })}
      ${fields.number('productHeight', words.height, { unit: 'mm' })}
    </div>
    ${
      settings.shippingMethods.length > 0 &&
      html`<details ${row.facts.shippingMethodIds && html`open`}>
        <summary>${words.shippingMethods}</summary>
        <p class="hint">${words.shippingMethodsHint}</p>
        ${settings.shippingMethods.map(({ shippingMethodId, key, name }) =>
          fields.tick(`shipping.${shippingMethodId}`, textIn(name, locale, settings.defaultLocale) ?? key),
        )}
      </details>`
    }
    ${fields.tick('isShippingLinkVisible', words.isShippingLinkVisible)}
  </section>`;
}

export function detailsCard(visit: ShopVisit, fields: ProductFields): Markup {
  const words = visit.words.products.fields;
  const { locales } = visit.settings;
  return html`<section class="card">
    <h2>${words.details}</h2>
    ${fields.text('manufacturer', words.manufacturer)}
    <details>
      <summary>${words.safety}</summary>
      <p class="hint">${words.safetyHint}</p>
      ${PARTIES.map(
        (party) =>
          html`<fieldset class="stack">
            <legend>${words.parties[party]}</legend>
            <div class="row">
              ${PARTY_FIELDS.map((field) => fields.text(`safety.${party}.${field}`, words.party[field]))}
            </div>
          </fieldset>`,
      )}
      ${locales.map((locale) =>
        fields.long(`safetyText.${locale}`, `${words.safetyText} · ${localeName(locale, visit)}`, {
          rows: 3,
          maxLength: MAX_LENGTHS.features,
        }),
      )}
    </details>
    <details>
      <summary>${words.energyLabel}</summary>
      <div class="row">
        ${fields.text('energy.classes', words.energyClasses, { hint: words.energyClassesHint })}
        ${fields.text('energy.best', words.energyBest)}
        ${fields.text('energy.file', words.energyFile, { type: 'text' })}
      </div>
    </details>
    <details>
      <summary>${words.customText}</summary>
      ${fields.tick('custom.is', words.customIs)}
      <div class="row">
        ${locales.map((locale) =>
          fields.text(`customHeadline.${locale}`, `${words.customHeadline} · ${localeName(locale, visit)}`),
        )}
      </div>
      <div class="row">
        ${fields.number('custom.length', words.customLength)}
        ${fields.number('custom.price', words.customPrice, { unit: visit.settings.defaultCurrency })}
      </div>
      ${fields.tick('custom.required', words.customRequired)}
    </details>
    <details>
      <summary>${words.media}</summary>
      ${fields.long('videos', words.videos, { rows: 2, maxLength: VIDEOS.characters, hint: words.videosHint })}
      <div class="row">
        ${fields.text('dataSheet.url', words.dataSheet, { maxLength: MAX_URL_LENGTH })}
        ${fields.text('dataSheet.fileName', words.dataSheetName)}
      </div>
    </details>
    ${fields.choice(
      'withdrawalExcluded',
      words.withdrawal,
      WITHDRAWAL_EXCLUSIONS.map((value) => ({ value, text: words.withdrawalExclusions[value] })),
      { empty: words.withdrawalAllowed },
    )}
  </section>`;
}

export function visibilityCard(visit: ShopVisit, row: ProductRow, fields: ProductFields): Markup {
  const { settings, locale } = visit;
  const words = visit.words.products.fields;
  return html`<section class="card">
    <h2>${words.inTheShop}</h2>
    ${fields.tick('visible', words.visible)} ${fields.tick('specialOffer', words.specialOffer)}
    ${fields.tick('isNew', words.isNew)} ${fields.text('newnessDate', words.newUntil, { type: 'date' })}
    ${fields.tick('isProductNumberVisible', words.isProductNumberVisible)}
    ${fields.tick('isVATInfoVisible', words.isVatInfoVisible)}
    <details ${(row.facts.forSaleFrom ?? row.facts.forSaleUntil) !== undefined && html`open`}>
      <summary>${words.forSale}</summary>
      ${fields.text('forSaleFrom', words.forSaleFrom, { type: 'datetime-local' })}
      ${fields.text('forSaleUntil', words.forSaleUntil, { type: 'datetime-local' })}
      <p class="hint">${words.utc}</p>
    </details>
    ${
      row.kind !== 'variation' &&
      settings.productTypes.length > 1 &&
      fields.choice(
        'productTypeId',
        words.productType,
        settings.productTypes.map(({ productTypeId, alias, name }) => ({
          value: productTypeId,
          text: textIn(name, locale, settings.defaultLocale) ?? alias,
        })),
        row.productTypeId === null ? { empty: words.noProductType } : {},
      )
    }
  </section>`;
}

/** The shop's own names come first: its customers see them too. */
function unitChoices(
  { settings, locale, words }: ShopVisit,
  units: readonly (typeof UNIT_KEYS)[number][],
): Choice[] {
  return units.map((unit) => ({
    value: unit,
    text: settings.units[unit]?.[locale]?.long ?? words.units[unit],
  }));
}

export function taxClassChoices({ settings, locale }: ShopVisit): Choice[] {
  return settings.taxClasses.map(({ taxClassId, key, name }) => ({
    value: taxClassId,
    text: textIn(name, locale, settings.defaultLocale) ?? key,
  }));
}

function defaultTaxClass({ settings, locale, words }: ShopVisit): string {
  const standard = settings.taxClasses.find(({ isDefault }) => isDefault);
  const name = standard && (textIn(standard.name, locale, settings.defaultLocale) ?? standard.key);
  return words.products.fields.standard({ name: name ?? '' });
}
