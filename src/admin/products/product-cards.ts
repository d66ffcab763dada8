import { MAX_LENGTHS } from '../../catalogue/products/request-fields.ts';
import { html, type Markup } from '../../http/html.ts';
import { languageTag, textIn } from '../../http/locale.ts';
import { WITHDRAWAL_EXCLUSIONS } from '../../catalogue/products/facts.ts';
import {
  MAX_WEB_ADDRESS_LENGTH,
  SINGLE_LEGAL_FACTS,
  type SingleLegalFact,
} from '../../catalogue/products/legal-facts.ts';
import type { ProductRow } from '../../catalogue/products/queries.ts';
import { WEIGHT_UNITS } from '../../catalogue/products/units.ts';
import { UNIT_KEYS } from '../../kernel/units.ts';
import { priceIn } from '../../catalogue/products/prices.ts';
import { amountText } from '../components/format.ts';
import { languageName } from '../components/language-name.ts';
import type { Choice } from '../components/form.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import type { ProductFields } from './product-fields.ts';
import {
  GUARANTEE_TEXTS,
  MAX_KEYWORDS_LENGTH,
  MAX_URL_LENGTH,
  PARTIES,
  PARTY_FIELDS,
  VIDEOS,
} from './product-values.ts';

/** In the user's language. */
export function localeName(locale: string, { language, settings }: ShopVisit): string {
  return languageName(locale, language, settings.locales);
}

/** The languages of the shop side by side. */
export function textsCard(visit: ShopVisit, { text, long, rich }: ProductFields): Markup {
  const { settings } = visit;
  const messages = visit.messages.products.fields;
  const sides = (fields: (locale: string, label: (text: string) => string) => Markup) =>
    html`<div class="languages">
      ${settings.locales.map((locale) => {
        const language = localeName(locale, visit);
        // Each label names its language, because a screen reader does not convey the columns.
        const label = (name: string) => (settings.locales.length === 1 ? name : `${name} · ${language}`);
        return html`<div class="stack" lang="${languageTag(locale)}" data-language="${locale}">
          ${fields(locale, label)}
        </div>`;
      })}
    </div>`;
  return html`<section class="card">
    <h2>${messages.texts}</h2>
    ${sides(
      (locale, label) =>
        html`${text(`name.${locale}`, label(messages.name), { maxLength: 1000 })}
        ${rich(`shortDescription.${locale}`, label(messages.shortDescription), { rows: 2, maxLength: MAX_LENGTHS.text })}
        ${rich(`description.${locale}`, label(messages.description), { rows: 8, maxLength: MAX_LENGTHS.text, hint: messages.descriptionHint })}`,
    )}
    <details>
      <summary>${messages.moreTexts}</summary>
      ${sides(
        (locale, label) =>
          html`${long(`essentialFeatures.${locale}`, label(messages.essentialFeatures), { rows: 3, maxLength: MAX_LENGTHS.features, hint: messages.essentialFeaturesHint })}
          ${text(`title.${locale}`, label(messages.title), { maxLength: 1000, hint: messages.titleHint })}
          ${text(`searchKeywords.${locale}`, label(messages.searchKeywords), { maxLength: MAX_KEYWORDS_LENGTH, hint: messages.searchKeywordsHint })}`,
      )}
    </details>
  </section>`;
}

export function pricesCard(visit: ShopVisit, row: ProductRow, fields: ProductFields): Markup {
  const { settings } = visit;
  const messages = visit.messages.products.fields;
  const { defaultCurrency, currencies } = settings;
  const others = currencies.filter((currency) => currency !== defaultCurrency);
  const prices = row.prices ?? row.master?.prices;
  const amounts = (currency: string) => {
    const converted = prices?.[currency] === undefined ? priceIn(prices, currency, settings) : null;
    const hint = converted === null ? undefined : amountText(converted, visit, currency);
    return html`<div class="row">
      ${fields.number(`price.${currency}`, messages.price, {
        unit: currency,
        ...(hint !== undefined && { hint: messages.converted({ price: hint }) }),
      })}
      ${fields.number(`manufacturerPrice.${currency}`, messages.listPrice, { unit: currency })}
      ${fields.number(`depositPrice.${currency}`, messages.deposit, { unit: currency })}
    </div>`;
  };
  return html`<section class="card">
    <h2>${messages.prices}</h2>
    ${amounts(defaultCurrency)}
    ${
      others.length > 0 &&
      html`<details ${others.some((currency) => row.prices?.[currency] !== undefined) && html`open`}>
        <summary>${messages.otherCurrencies({ currencies: others.join(', ') })}</summary>
        ${others.map(amounts)}
      </details>`
    }
    <div class="row">
      ${fields.choice('taxClassId', messages.taxClass, taxClassChoices(visit), { empty: defaultTaxClass(visit) })}
      ${fields.number('ecoParticipationPrice', messages.ecoParticipation, { unit: defaultCurrency })}
    </div>
    ${fields.tick('isManufacturerPriceRRP', messages.isRrp)}
    <details>
      <summary>${messages.basePrice}</summary>
      <p class="hint">${messages.basePriceHint}</p>
      <div class="row">
        ${fields.number('reference.content', messages.refContent)}
        ${fields.number('reference.amount', messages.refAmount)}
        ${fields.choice('reference.unit', messages.unit, unitChoices(visit, UNIT_KEYS))}
      </div>
    </details>
    <details ${(row.facts.bulkPrices?.length ?? 0) > 0 && html`open`}>
      <summary>${messages.tiers}</summary>
      ${tierTable(visit, fields, 'tier', false)}
    </details>
    ${settings.customerGroups.map(
      ({ customerGroupId, name }) =>
        html`<details
          ${row.facts.groupPrices?.some((one) => one.customerGroupId === customerGroupId) && html`open`}
        >
          <summary>${messages.groupPrices({ group: name })}</summary>
          ${tierTable(visit, fields, `group.${customerGroupId}`, true)}
        </details>`,
    )}
  </section>`;
}

function tierTable(visit: ShopVisit, fields: ProductFields, start: string, hasDiscount: boolean): Markup {
  const messages = visit.messages.products.fields;
  const { defaultCurrency } = visit.settings;
  const rows: number[] = [];
  while (fields.has(`${start}.${rows.length}.quantity`)) rows.push(rows.length);
  return html`<table class="tiers">
    <thead>
      <tr>
        <th scope="col">${messages.fromQuantity}</th>
        <th scope="col">${messages.unitPrice}</th>
        ${hasDiscount && html`<th scope="col">${messages.discount}</th>`}
      </tr>
    </thead>
    <tbody>
      ${rows.map((index) => {
        const label = (column: string) => `${column} ${index + 1}`;
        return html`<tr>
          <td>${fields.cell(`${start}.${index}.quantity`, label(messages.fromQuantity))}</td>
          <td>${fields.cell(`${start}.${index}.price`, label(messages.unitPrice), defaultCurrency)}</td>
          ${hasDiscount && html`<td>${fields.cell(`${start}.${index}.discount`, label(messages.discount), '%')}</td>`}
        </tr>`;
      })}
    </tbody>
  </table>`;
}

export function stockCard(visit: ShopVisit, row: ProductRow, fields: ProductFields): Markup {
  const messages = visit.messages.products.fields;
  return html`<section class="card">
    <h2>${messages.stockAndNumbers}</h2>
    <div class="row">
      ${fields.text('productNumber', messages.productNumber, { maxLength: 100, isRequired: true })}
      ${fields.text('ean', messages.ean, { inputMode: 'numeric' })}
      ${fields.text('manufacturerProductNumber', messages.manufacturerProductNumber)}
    </div>
    ${
      row.kind === 'master'
        ? html`<p>
            ${messages.stockOfVariations}
            <a href="${adminPath(visit, `/products/${row.productId}/variations`)}"
              >${visit.messages.products.tabs.variations}</a
            >
          </p>`
        : html`<div class="row">
            <input type="hidden" name="stockWas" value="${fields.valueOf('stock')}" />
            ${fields.number('stock', messages.stock, { hint: messages.stockHint })}
            ${fields.number('minStock', messages.minStock, { hint: messages.minStockHint })}
            ${fields.text('deliveryPeriod', messages.deliveryPeriod, { hint: messages.deliveryPeriodHint })}
          </div>`
    }
    <details>
      <summary>${messages.ordering}</summary>
      <div class="row">
        ${fields.choice('order.unit', messages.orderUnit, unitChoices(visit, UNIT_KEYS))}
        ${fields.number('order.priceQuantity', messages.priceQuantity)}
        ${fields.number('order.minimum', messages.minOrder)}
        ${fields.number('order.interval', messages.intervalOrder)}
        ${fields.number('maxOrder', messages.maxOrder)}
      </div>
      <div class="row">
        ${fields.text('upc', messages.upc)} ${fields.text('productCode', messages.productCode)}
      </div>
    </details>
  </section>`;
}

export function shippingCard(visit: ShopVisit, row: ProductRow, fields: ProductFields): Markup {
  const { settings, locale } = visit;
  const messages = visit.messages.products.fields;
  return html`<section class="card">
    <h2>${messages.shipping}</h2>
    <div class="row">
      ${fields.number('weight.amount', messages.weight)}
      ${fields.choice('weight.unit', messages.unit, unitChoices(visit, WEIGHT_UNITS))}
      ${fields.number('productLength', messages.length, { unit: 'mm' })}
      ${fields.number('productWidth', messages.width, { unit: 'mm' })}
      ${fields.number('productHeight', messages.height, { unit: 'mm' })}
    </div>
    ${fields.number('shippingSurcharge', messages.shippingSurcharge, {
      unit: settings.defaultCurrency,
      hint: messages.shippingSurchargeHint,
    })}
    ${
      settings.shippingMethods.length > 0 &&
      html`<details ${row.facts.shippingMethodIds && html`open`}>
        <summary>${messages.shippingMethods}</summary>
        <p class="hint">${messages.shippingMethodsHint}</p>
        ${settings.shippingMethods.map(({ shippingMethodId, key, name }) =>
          fields.tick(`shipping.${shippingMethodId}`, textIn(name, locale, settings.defaultLocale) ?? key),
        )}
      </details>`
    }
    ${fields.tick('isShippingLinkVisible', messages.isShippingLinkVisible)}
  </section>`;
}

export function detailsCard(visit: ShopVisit, fields: ProductFields): Markup {
  const messages = visit.messages.products.fields;
  const { locales } = visit.settings;
  return html`<section class="card">
    <h2>${messages.details}</h2>
    ${fields.text('manufacturer', messages.manufacturer)}
    <details>
      <summary>${messages.safety}</summary>
      <p class="hint">${messages.safetyHint}</p>
      ${PARTIES.map(
        (party) =>
          html`<fieldset class="stack">
            <legend>${messages.parties[party]}</legend>
            <div class="row">
              ${PARTY_FIELDS.map((field) => fields.text(`safety.${party}.${field}`, messages.party[field]))}
            </div>
          </fieldset>`,
      )}
      ${locales.map((locale) =>
        fields.long(`safetyText.${locale}`, `${messages.safetyText} · ${localeName(locale, visit)}`, {
          rows: 3,
          maxLength: MAX_LENGTHS.features,
          locale,
        }),
      )}
    </details>
    <details>
      <summary>${messages.energyLabel}</summary>
      <div class="row">
        ${fields.text('energy.classes', messages.energyClasses, { hint: messages.energyClassesHint })}
        ${fields.text('energy.best', messages.energyBest)}
        ${fields.text('energy.file', messages.energyFile, { type: 'text' })}
      </div>
    </details>
    ${lawFold(visit, fields)}
    <details>
      <summary>${messages.customText}</summary>
      ${fields.tick('custom.is', messages.customIs)}
      <div class="row">
        ${locales.map((locale) =>
          fields.text(
            `customHeadline.${locale}`,
            `${messages.customHeadline} · ${localeName(locale, visit)}`,
            { locale },
          ),
        )}
      </div>
      <div class="row">
        ${fields.number('custom.length', messages.customLength)}
        ${fields.number('custom.price', messages.customPrice, { unit: visit.settings.defaultCurrency })}
      </div>
      ${fields.tick('custom.required', messages.customRequired)}
      ${fields.tick('custom.withdrawable', messages.customWithdrawable)}
    </details>
    <details>
      <summary>${messages.media}</summary>
      ${fields.long('videos', messages.videos, { rows: 2, maxLength: VIDEOS.characters, hint: messages.videosHint })}
      <div class="row">
        ${fields.text('dataSheet.url', messages.dataSheet, { maxLength: MAX_URL_LENGTH })}
        ${fields.text('dataSheet.fileName', messages.dataSheetName)}
      </div>
    </details>
    ${fields.choice(
      'withdrawalExcluded',
      messages.withdrawal,
      WITHDRAWAL_EXCLUSIONS.map((value) => ({ value, text: messages.withdrawalExclusions[value] })),
      { empty: messages.withdrawalAllowed },
    )}
  </section>`;
}

/** What consumer law and customs want to be known of a product. */
function lawFold(visit: ShopVisit, fields: ProductFields): Markup {
  const messages = visit.messages.products.law;
  const { locales } = visit.settings;
  const { single, singleHints } = messages;
  const hints: Readonly<Partial<Record<SingleLegalFact, string>>> = singleHints;
  return html`<details>
    <summary>${messages.title}</summary>
    <fieldset class="stack">
      <legend>${messages.guarantee}</legend>
      <p class="hint">${messages.guaranteeHint}</p>
      <div class="row">
        ${fields.number('guarantee.years', messages.guaranteeFields.years)}
        ${GUARANTEE_TEXTS.map((key) =>
          fields.text(`guarantee.${key}`, messages.guaranteeFields[key], {
            maxLength: key === 'termsUrl' ? MAX_WEB_ADDRESS_LENGTH : 500,
          }),
        )}
      </div>
    </fieldset>
    <fieldset class="stack">
      <legend>${messages.claims}</legend>
      <p class="hint">${messages.claimsHint}</p>
      ${locales.map(
        (locale) =>
          html`<div class="row">
            ${fields.text(`claim.${locale}`, `${messages.claim} · ${localeName(locale, visit)}`, { locale })}
            ${fields.text(`claimSource.${locale}`, `${messages.claimSource} · ${localeName(locale, visit)}`, {
              locale,
            })}
          </div>`,
      )}
    </fieldset>
    <div class="row">
      ${SINGLE_LEGAL_FACTS.map((key) =>
        fields.text(`law.${key}`, single[key], {
          ...(hints[key] !== undefined && { hint: hints[key] }),
          ...(key === 'productPassport' && { maxLength: MAX_WEB_ADDRESS_LENGTH }),
        }),
      )}
    </div>
  </details>`;
}

export function visibilityCard(visit: ShopVisit, row: ProductRow, fields: ProductFields): Markup {
  const { settings, locale } = visit;
  const messages = visit.messages.products.fields;
  return html`<section class="card">
    <h2>${messages.inTheShop}</h2>
    ${fields.tick('visible', messages.visible)} ${fields.tick('specialOffer', messages.specialOffer)}
    ${fields.tick('isNew', messages.isNew)} ${fields.text('newnessDate', messages.newUntil, { type: 'date' })}
    ${fields.tick('isProductNumberVisible', messages.isProductNumberVisible)}
    ${fields.tick('isVATInfoVisible', messages.isVatInfoVisible)}
    <details ${(row.facts.forSaleFrom ?? row.facts.forSaleUntil) !== undefined && html`open`}>
      <summary>${messages.forSale}</summary>
      ${fields.text('forSaleFrom', messages.forSaleFrom, { type: 'datetime-local' })}
      ${fields.text('forSaleUntil', messages.forSaleUntil, { type: 'datetime-local' })}
      <p class="hint">${messages.utc}</p>
    </details>
    ${
      row.kind !== 'variation' &&
      settings.productTypes.length > 1 &&
      fields.choice(
        'productTypeId',
        messages.productType,
        settings.productTypes.map(({ productTypeId, alias, name }) => ({
          value: productTypeId,
          text: textIn(name, locale, settings.defaultLocale) ?? alias,
        })),
        row.productTypeId === null ? { empty: messages.noProductType } : {},
      )
    }
  </section>`;
}

/** The shop's own names come first: its customers see them too. */
function unitChoices(
  { settings, locale, messages }: ShopVisit,
  units: readonly (typeof UNIT_KEYS)[number][],
): Choice[] {
  return units.map((unit) => ({
    value: unit,
    text: settings.units[unit]?.[locale]?.long ?? messages.units[unit],
  }));
}

export function taxClassChoices({ settings, locale }: ShopVisit): Choice[] {
  return settings.taxClasses.map(({ taxClassId, key, name }) => ({
    value: taxClassId,
    text: textIn(name, locale, settings.defaultLocale) ?? key,
  }));
}

function defaultTaxClass({ settings, locale, messages }: ShopVisit): string {
  const standard = settings.taxClasses.find(({ isDefault }) => isDefault);
  const name = standard && (textIn(standard.name, locale, settings.defaultLocale) ?? standard.key);
  return messages.products.fields.standard({ name: name ?? '' });
}
