import { inheritedFacts } from '../../catalogue/products/facts.ts';
import { ORDER_UNIT } from '../../catalogue/products/orderable.ts';
import type { ProductRow } from '../../catalogue/products/queries.ts';
import { pricesOf } from '../../catalogue/products/render.ts';
import { html, type Markup } from '../../http/html.ts';
import { languageTag } from '../../http/locale.ts';
import { moneyText } from '../../http/price-text.ts';
import { messagesIn } from '../../kernel/messages.ts';
import { deliveryOffers, type DeliveryOffer, type OfferedGoods } from '../../pricing/delivery-offers.ts';
import {
  type DeliveredProduct,
  type DeliveryDays,
  daySpanText,
  deliveryDays,
  deliverySpan,
} from '../../pricing/delivery-span.ts';
import { askedPrice } from '../../catalogue/products/prices.ts';
import { priceOfQuantity } from '../../pricing/quantity.ts';
import { countryName } from '../../shops/countries/countries.ts';
import type { Settings } from '../../shops/settings/settings.ts';
import type { Visit } from '../visit.ts';

/** A place that the shop delivers a product to; `days` is missing where they are unknown. */
export interface DeliveryPlace extends DeliveryOffer {
  days?: DeliveryDays;
}

/** The smallest order of a product, which costs the least to deliver; undefined: it has no price in this currency. */
export function smallestOrder(
  row: ProductRow,
  currency: string,
  settings: Settings,
): OfferedGoods | undefined {
  const facts = inheritedFacts(row.facts, row.master?.facts ?? null);
  const { orderUnit = ORDER_UNIT } = facts;
  const quantity = String(orderUnit.minimum || orderUnit.interval || 1);
  const { productId, masterId } = row;
  const taxClassId = row.taxClassId ?? row.master?.taxClassId ?? null;
  const product = { ...facts, productId, masterId, prices: pricesOf(row).prices, taxClassId };
  const price = askedPrice(product, quantity, currency, null, settings);
  if (price === null) return undefined;
  return { product, quantity, value: priceOfQuantity(price, quantity, orderUnit.priceQuantity), currency };
}

/** Where the shop delivers a product, for how much, and in how many days. */
export function deliveryPlaces(
  goods: OfferedGoods,
  product: DeliveredProduct,
  settings: Settings,
): DeliveryPlace[] {
  return deliveryOffers(goods, settings).map((offer) => {
    const days = deliveryDays([product], offer.method, offer.zone, settings);
    return { ...offer, ...(days && { days }) };
  });
}

/** One line with two countries, which opens to show all: price and day of delivery of each. */
export function deliveryPlacesView(
  { locale, settings }: Visit,
  places: readonly DeliveryPlace[],
  currency: string,
  now: Date,
): Markup | false {
  const messages = messagesIn(locale).storefront.product.delivery;
  const countries = places.filter(({ postcodes }) => postcodes.length === 0);
  const [first] = countries;
  if (!first) return false;
  const name = ({ country }: DeliveryPlace) => countryName(country, languageTag(locale));
  const cost = ({ price }: DeliveryPlace) =>
    price === 0 ? messages.free : messages.from({ price: moneyText(price, currency, locale) });
  // The second one is rather a country with another price.
  const second = countries.find(({ price }) => price !== first.price) ?? countries[1];
  const shown = second ? [first, second] : [first];
  const more = countries.length - shown.length;
  const named = shown.map((place) => `${name(place)} ${cost(place)}`);
  const rest = more === 1 ? [messages.oneMore] : more > 1 ? [messages.more({ count: more })] : [];
  const summary = messages.places({ list: [...named, ...rest].join(', ') });
  if (places.length === 1) return html`<p class="arrival"><small>${summary}</small></p>`;
  return html`<details class="places">
    <summary><small>${summary}</small></summary>
    <ul>
      ${places.map((place) => {
        const { days, postcodes } = place;
        const where = postcodes.length === 0 ? name(place) : `${name(place)} (${postcodes.join(', ')})`;
        const when = days && deliverySpan(now, settings.deliveryTimes, days.handling, days.transit);
        return html`<li>
          <small>${where}: ${cost(place)}${when && `, ${daySpanText(when, locale)}`}</small>
        </li>`;
      })}
    </ul>
  </details>`;
}
