import { shownAttributes } from '../../catalogue/products/attributes.ts';
import { inheritedFacts } from '../../catalogue/products/facts.ts';
import { gtinOf } from '../../catalogue/products/gtin.ts';
import { typeOf } from '../../catalogue/products/render.ts';
import type { Product } from '../../catalogue/products/schema.ts';
import { basePriceText, shownPrice } from '../../catalogue/products/shown-price.ts';
import { formatNumber } from '../../http/amount-text.ts';
import { plainText } from '../../http/html.ts';
import {
  markdownDocument,
  markdownLink,
  markdownList,
  markdownParagraphs,
  markdownText,
} from '../../http/markdown.ts';
import { languageTag } from '../../http/locale.ts';
import { moneyText, priceText } from '../../http/price-text.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { countryName } from '../../shops/countries/countries.ts';
import { sellsToEuConsumers } from '../../shops/legal/guarantee-notice.ts';
import { shownDimension } from '../../catalogue/products/dimensions.ts';
import { selectedValue } from '../../catalogue/products/combinations.ts';
import { taxText, type ProductPageModel } from '../product/product-view.ts';
import { productWithdrawalText } from '../product/withdrawal-note.ts';
import { absoluteUrl, productPath, type Visit } from '../visit.ts';

const MAX_TEXT_LENGTH = 20_000;
const MAX_VARIATIONS = 100;
const MAX_DETAILS = 100;
const MAX_PLACES = 50;

/** A product for readers that take text: what its page says, without what only people need. Pure. */
export function productMarkdown(visit: Visit, model: ProductPageModel): string {
  const { locale } = visit;
  const { product, offer, row, delivery, pictures } = model;
  const messages = messagesIn(locale).storefront.product;
  const facts = inheritedFacts(row.facts, row.master?.facts ?? null);
  const texts = [product.shortDescription, product.description].map((text) =>
    markdownParagraphs(plainText(text ?? '', MAX_TEXT_LENGTH)),
  );
  const [short, long] = texts as [string[], string[]];
  const features = markdownParagraphs(product.essentialFeatures ?? '').slice(0, MAX_DETAILS);
  const gtin = gtinOf(model.offerRow === row ? facts : model.offerRow.facts);
  const lines = [
    ...priceLines(visit, offer),
    taxText(visit, offer, facts.isVatInfoVisible ?? true),
    offer.availabilityText
      .split('<br />')
      .map((line) => plainText(line))
      .join(', '),
    !offer.forSale && messages.notForSale,
    offer.forSale && delivery?.text,
    productWithdrawalText(visit, offer),
    product.manufacturer && `${messages.manufacturer}: ${product.manufacturer}`,
    `${messages.productNumber}: ${offer.productNumber}`,
    gtin && `GTIN: ${gtin}`,
    ...guaranteeLines(visit, offer),
  ].flatMap((line) => (line ? [markdownText(line)] : []));
  const details = detailLines(visit, model);
  const variations = variationLines(visit, model);
  const places = offer.forSale ? placeLines(visit, model) : [];
  const section = (title: string, content: readonly string[]) =>
    content.length > 0 && `## ${markdownText(title)}\n\n${content.join('\n\n')}`;
  const list = (items: readonly string[]) => (items.length > 0 ? [markdownList(items)] : []);
  const layout = messagesIn(locale).storefront.layout;
  return markdownDocument([
    `# ${markdownText(product.name)}`,
    short.join('\n\n'),
    markdownList([
      ...lines,
      ...(pictures[0] ? [markdownLink(messages.pictures, visit.pageOrigin + pictures[0].large)] : []),
    ]),
    section(messages.description, long),
    section(messages.features, list(features)),
    section(messagesIn(locale).storefront.markdown.variations, list(variations)),
    section(messages.details, list(details)),
    section(layout.shipping, list(places)),
    markdownLink(
      messagesIn(locale).storefront.markdown.buy,
      absoluteUrl(visit, productPath(offer.productNumber)),
    ),
  ]);
}

function priceLines({ locale, settings }: Visit, product: Product): (string | null | false)[] {
  const messages = messagesIn(locale).storefront.product;
  const shown = shownPrice(product, settings, locale);
  if (!shown) return [messages.onRequest];
  const { price, isFrom, unit, base } = shown;
  const { manufacturerPrice, lowestPrice30Days, depositPrice, ecoParticipationPrice, priceWithDeposits } =
    product.priceInfo;
  const amount = `${isFrom ? `${messages.from} ` : ''}${priceText(price, locale)}`;
  const former =
    manufacturerPrice && manufacturerPrice.amount > price.amount
      ? ` ${messages.insteadOf} ${product.isManufacturerPriceRRP ? `${messages.recommendedPrice} ` : ''}${priceText(manufacturerPrice, locale)}`
      : '';
  return [
    `${amount}${unit === undefined ? '' : ` ${messages.per({ unit })}`}${former}`,
    (base && basePriceText(base, locale)) || null,
    lowestPrice30Days && messages.lowest30Days({ price: priceText(lowestPrice30Days, locale) }),
    depositPrice && messages.deposit({ price: priceText(depositPrice, locale) }),
    ecoParticipationPrice && messages.ecoParticipation({ price: priceText(ecoParticipationPrice, locale) }),
    (depositPrice || ecoParticipationPrice) && priceWithDeposits
      ? messages.total({ price: priceText(priceWithDeposits, locale) })
      : null,
  ];
}

function guaranteeLines({ locale, settings }: Visit, { legalInfo, energyLabelsString }: Product): string[] {
  const { guarantee, storefront } = messagesIn(locale);
  const given = legalInfo?.durabilityGuarantee;
  return [
    ...(energyLabelsString
      ? [storefront.product.energy({ classes: energyLabelsString.split(',').join(' – ') })]
      : []),
    ...(given && sellsToEuConsumers(settings)
      ? [
          `${guarantee.label}: ${guarantee.years({ amount: formatNumber(given.years, locale) })}, ${given.brand} ${given.model}`,
        ]
      : []),
  ];
}

/** The attributes in the table of the page. */
function detailLines({ locale, settings }: Visit, { row }: ProductPageModel): string[] {
  const hidden = new Set(
    typeOf(row, settings).attributes.flatMap(({ key, visible }) => (visible ? [] : [key])),
  );
  return shownAttributes(row, settings, locale)
    .items.filter(({ type }) => type === 'string' || type === 'number')
    .flatMap(({ key, displayKey, values }) => {
      const shown = values.flatMap(({ value, displayValue }) => (value === null ? [] : [displayValue]));
      return hidden.has(key) || shown.length === 0
        ? []
        : [markdownText(`${displayKey}: ${shown.join(', ')}`)];
    })
    .slice(0, MAX_DETAILS);
}

/** The other variations, each with its address. */
function variationLines(visit: Visit, { row, variations }: ProductPageModel): string[] {
  const { settings, locale } = visit;
  const facts = row.master?.facts ?? row.facts;
  const dimensions = (facts.variationAttributes ?? []).map((dimension) =>
    shownDimension(dimension, typeOf(row, settings), settings, locale),
  );
  return variations.slice(0, MAX_VARIATIONS).map(({ productNumber, selection }) => {
    const chosen = dimensions.flatMap(({ name, values }) => {
      const value = selectedValue(selection, name);
      return values.find((one) => one.value === value)?.displayValue ?? [];
    });
    return markdownLink(
      chosen.join(', ') || productNumber,
      markdownAddress(visit, productPath(productNumber)),
    );
  });
}

function placeLines({ locale }: Visit, { places: { list, currency } }: ProductPageModel): string[] {
  const messages = messagesIn(locale).storefront.product.delivery;
  return list
    .filter(({ postcodes }) => postcodes.length === 0)
    .slice(0, MAX_PLACES)
    .map(({ country, price }) =>
      markdownText(
        `${countryName(country, languageTag(locale))}: ${price === 0 ? messages.free : messages.from({ price: moneyText(price, currency, locale) })}`,
      ),
    );
}

/** The address of the Markdown of a page. */
export function markdownAddress(visit: Pick<Visit, 'home' | 'locale' | 'settings'>, path: string): string {
  return absoluteUrl(visit, `${path}.md`);
}
