import { html, type Markup } from '../../http/html.ts';
import { languageTag, textIn } from '../../http/locale.ts';
import { WITHDRAWAL_EXCLUSIONS } from '../../catalogue/products/facts.ts';
import { SINGLE_LEGAL_FACTS } from '../../catalogue/products/legal-facts.ts';
import type { ProductRow } from '../../catalogue/products/queries.ts';
import { WEIGHT_UNITS } from '../../catalogue/products/units.ts';
import { UNIT_KEYS } from '../../kernel/units.ts';
import { priceIn } from '../../catalogue/products/prices.ts';
import { amountText } from '../components/format.ts';
import { languageName } from '../components/language-name.ts';
import type { Choice } from '../components/form.ts';
import { adminPath, type ShopVisit } from '../visit.ts';
import type { ProductFields } from './product-fields.ts';
import { GUARANTEE_TEXTS, PARTIES, PARTY_FIELDS } from './product-values.ts';

/** In the user's language. */
export function localeName(locale: string, { language, settings }: ShopVisit): string {
  return languageName(locale, language, settings.locales);
}

/** The languages of the shop side by side. */
export function textsCard(visit: ShopVisit, { field }: ProductFields): Markup {
  const { settings } = visit;
  const messages = visit.messages.products.fields;
  const sides = (...names: [name: string, label: string][]) =>
    html`<div class="languages">
      ${settings.locales.map((locale) => {
        const language = localeName(locale, visit);
        // Each label names its language, because a screen reader does not convey the columns.
        const label = (name: string) => (settings.locales.length === 1 ? name : `${name} · ${language}`);
        return html`<div class="stack" lang="${languageTag(locale)}" data-language="${locale}">
          ${names.map(([name, text]) => field(`${name}.${locale}`, { label: label(text) }))}
        </div>`;
      })}
    </div>`;
  return html`<section class="card">
    <h2>${messages.texts}</h2>
    ${sides(
      ['name', messages.name],
      ['shortDescription', messages.shortDescription],
      ['description', messages.description],
    )}
    <details>
      <summary>${messages.moreTexts}</summary>
      ${sides(
        ['essentialFeatures', messages.essentialFeatures],
        ['title', messages.title],
        ['searchKeywords', messages.searchKeywords],
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
      ${fields.field(`price.${currency}`, {
        unit: currency,
        ...(hint !== undefined && { hint: messages.converted({ price: hint }) }),
      })}
      ${fields.field(`manufacturerPrice.${currency}`, { unit: currency })}
      ${fields.field(`depositPrice.${currency}`, { unit: currency })}
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
      ${fields.field('taxClassId', { choices: taxClassChoices(visit), empty: defaultTaxClass(visit) })}
      ${fields.field('ecoParticipationPrice', { unit: defaultCurrency })}
    </div>
    ${fields.field('isManufacturerPriceRRP')}
    <details>
      <summary>${messages.basePrice}</summary>
      <p class="hint">${messages.basePriceHint}</p>
      <div class="row">
        ${fields.field('reference.content')} ${fields.field('reference.amount')}
        ${fields.field('reference.unit', { choices: unitChoices(visit, UNIT_KEYS) })}
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
        return html`<tr>
          <td>${fields.cell(`${start}.${index}.quantity`, index + 1)}</td>
          <td>${fields.cell(`${start}.${index}.price`, index + 1, defaultCurrency)}</td>
          ${hasDiscount && html`<td>${fields.cell(`${start}.${index}.discount`, index + 1, '%')}</td>`}
        </tr>`;
      })}
    </tbody>
  </table>`;
}

/** How the product is sold beyond its stock. */
function backorderFields(visit: ShopVisit, row: ProductRow, fields: ProductFields): Markup {
  const words = visit.messages.products.backorder;
  const { parts, backorder } = row.facts;
  const quantity = row.promised.toLocaleString(visit.language);
  return html`<details ${backorder !== undefined && html`open`}>
    <summary>${words.legend}</summary>
    ${
      parts
        ? html`<p class="hint">${words.bundle}</p>`
        : html`<p class="hint">${words.stockHint} ${row.promised > 0 && words.promised({ quantity })}</p>
            <div class="row">
              ${fields.field('backorder.kind', {
                choices: [
                  { value: 'backorder', text: words.backorder },
                  { value: 'preorder', text: words.preorder },
                ],
              })}
              ${fields.field('backorder.limit')} ${fields.field('backorder.expectedOn')}
            </div>`
    }
  </details>`;
}

export function stockCard(visit: ShopVisit, row: ProductRow, fields: ProductFields): Markup {
  const messages = visit.messages.products.fields;
  return html`<section class="card">
    <h2>${messages.stockAndNumbers}</h2>
    <div class="row">
      ${fields.field('productNumber')} ${fields.field('ean')} ${fields.field('manufacturerProductNumber')}
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
            ${fields.field('stock')} ${fields.field('minStock')} ${fields.field('deliveryPeriod')}
          </div>`
    }
    ${backorderFields(visit, row, fields)}
    <details>
      <summary>${messages.ordering}</summary>
      <div class="row">
        ${fields.field('order.unit', { choices: unitChoices(visit, UNIT_KEYS) })}
        ${fields.field('order.priceQuantity')} ${fields.field('order.minimum')}
        ${fields.field('order.interval')} ${fields.field('maxOrder')}
      </div>
      <div class="row">${fields.field('upc')} ${fields.field('productCode')}</div>
    </details>
  </section>`;
}

export function shippingCard(visit: ShopVisit, row: ProductRow, fields: ProductFields): Markup {
  const { settings, locale } = visit;
  const messages = visit.messages.products.fields;
  return html`<section class="card">
    <h2>${messages.shipping}</h2>
    <div class="row">
      ${fields.field('weight.amount')}
      ${fields.field('weight.unit', { choices: unitChoices(visit, WEIGHT_UNITS) })}
      ${fields.field('productLength', { unit: 'mm' })} ${fields.field('productWidth', { unit: 'mm' })}
      ${fields.field('productHeight', { unit: 'mm' })}
    </div>
    ${fields.field('shippingSurcharge', { unit: settings.defaultCurrency })}
    ${
      settings.shippingMethods.length > 0 &&
      html`<details ${row.facts.shippingMethodIds && html`open`}>
        <summary>${messages.shippingMethods}</summary>
        <p class="hint">${messages.shippingMethodsHint}</p>
        ${settings.shippingMethods.map(({ shippingMethodId, key, name }) =>
          fields.field(`shipping.${shippingMethodId}`, {
            label: textIn(name, locale, settings.defaultLocale) ?? key,
          }),
        )}
      </details>`
    }
    ${fields.field('isShippingLinkVisible')}
  </section>`;
}

export function detailsCard(visit: ShopVisit, fields: ProductFields): Markup {
  const messages = visit.messages.products.fields;
  const { locales } = visit.settings;
  return html`<section class="card">
    <h2>${messages.details}</h2>
    ${fields.field('manufacturer')}
    <details>
      <summary>${messages.safety}</summary>
      <p class="hint">${messages.safetyHint}</p>
      ${PARTIES.map(
        (party) =>
          html`<fieldset class="stack">
            <legend>${messages.parties[party]}</legend>
            <div class="row">${PARTY_FIELDS.map((field) => fields.field(`safety.${party}.${field}`))}</div>
          </fieldset>`,
      )}
      ${locales.map((locale) =>
        fields.field(`safetyText.${locale}`, {
          label: `${messages.safetyText} · ${localeName(locale, visit)}`,
          locale,
        }),
      )}
    </details>
    <details>
      <summary>${messages.energyLabel}</summary>
      <div class="row">
        ${fields.field('energy.classes')} ${fields.field('energy.best')} ${fields.field('energy.file')}
      </div>
    </details>
    ${lawFold(visit, fields)}
    <details>
      <summary>${messages.customText}</summary>
      ${fields.field('custom.is')}
      <div class="row">
        ${locales.map((locale) =>
          fields.field(`customHeadline.${locale}`, {
            label: `${messages.customHeadline} · ${localeName(locale, visit)}`,
            locale,
          }),
        )}
      </div>
      <div class="row">
        ${fields.field('custom.length')}
        ${fields.field('custom.price', { unit: visit.settings.defaultCurrency })}
      </div>
      ${fields.field('custom.required')} ${fields.field('custom.withdrawable')}
    </details>
    <details>
      <summary>${messages.giftCard}</summary>
      <p class="hint">${messages.giftCardHint}</p>
      <div class="row">
        ${fields.field('giftCard.minimum', { unit: visit.settings.defaultCurrency })}
        ${fields.field('giftCard.maximum', { unit: visit.settings.defaultCurrency })}
      </div>
    </details>
    <details>
      <summary>${messages.media}</summary>
      ${fields.field('videos')}
      <div class="row">${fields.field('dataSheet.url')} ${fields.field('dataSheet.fileName')}</div>
    </details>
    ${fields.field('withdrawalExcluded', {
      choices: WITHDRAWAL_EXCLUSIONS.map((value) => ({ value, text: messages.withdrawalExclusions[value] })),
    })}
  </section>`;
}

/** What consumer law and customs want to be known of a product. */
function lawFold(visit: ShopVisit, fields: ProductFields): Markup {
  const messages = visit.messages.products.law;
  const { locales } = visit.settings;
  return html`<details>
    <summary>${messages.title}</summary>
    <fieldset class="stack">
      <legend>${messages.guarantee}</legend>
      <p class="hint">${messages.guaranteeHint}</p>
      <div class="row">
        ${fields.field('guarantee.years')} ${GUARANTEE_TEXTS.map((key) => fields.field(`guarantee.${key}`))}
      </div>
    </fieldset>
    <fieldset class="stack">
      <legend>${messages.claims}</legend>
      <p class="hint">${messages.claimsHint}</p>
      ${locales.map(
        (locale) =>
          html`<div class="row">
            ${fields.field(`claim.${locale}`, {
              label: `${messages.claim} · ${localeName(locale, visit)}`,
              locale,
            })}
            ${fields.field(`claimSource.${locale}`, {
              label: `${messages.claimSource} · ${localeName(locale, visit)}`,
              locale,
            })}
          </div>`,
      )}
    </fieldset>
    <div class="row">${SINGLE_LEGAL_FACTS.map((key) => fields.field(`law.${key}`))}</div>
  </details>`;
}

export function visibilityCard(visit: ShopVisit, row: ProductRow, fields: ProductFields): Markup {
  const { settings, locale } = visit;
  const messages = visit.messages.products.fields;
  return html`<section class="card">
    <h2>${messages.inTheShop}</h2>
    ${fields.field('visible')} ${fields.field('specialOffer')} ${fields.field('isNew')}
    ${fields.field('newnessDate')} ${fields.field('isProductNumberVisible')}
    ${fields.field('isVATInfoVisible')}
    <details ${(row.facts.forSaleFrom ?? row.facts.forSaleUntil) !== undefined && html`open`}>
      <summary>${messages.forSale}</summary>
      ${fields.field('forSaleFrom')} ${fields.field('forSaleUntil')}
      <p class="hint">${messages.utc}</p>
    </details>
    ${
      row.kind !== 'variation' &&
      settings.productTypes.length > 1 &&
      fields.field('productTypeId', {
        choices: settings.productTypes.map(({ productTypeId, alias, name }) => ({
          value: productTypeId,
          text: textIn(name, locale, settings.defaultLocale) ?? alias,
        })),
        ...(row.productTypeId === null && { empty: messages.noProductType }),
      })
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
